"""The role labeller of He et al. (2017) and its predictor."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from allennlp.common import JsonDict, Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Vocabulary
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.nn.util import get_text_field_mask
from allennlp.predictors import Predictor
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import split_by_tokens
from elmo_plugin.encoders import ContextualEncoder, bio_transitions, viterbi
from elmo_plugin.tasks.labels import UNKNOWN_LABEL
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.spans import describe_spans, tags_to_spans
from elmo_plugin.tasks.srl.metrics import SrlF1
from elmo_plugin.tasks.tagger import Tagger
from elmo_plugin.tasks.task_model import average_probabilities, extend_output_layer
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, text_as_typed


class TagLogits(NamedTuple):
    """The logits of each tag for each word."""

    logits: Tensor  # Shape: (batch, time, tags)
    mask: BoolTensor  # Shape: (batch, time)


def average_tag_logits(logits: Sequence[TagLogits]) -> TagLogits:
    """
    Averages the probabilities that several models give to the tags of one batch, and returns their
    logarithms. All models have the same mask.
    """
    average = average_probabilities([member.logits for member in logits])
    return TagLogits(average, logits[0].mask)


@Model.register("srl_highway_lstm")
class SrlHighwayLstm(Tagger):
    """
    Tags the arguments of one predicate at a time. The encoder sees the vector of each word next to
    a learned vector that marks the predicate, and a linear layer computes a logit for each tag. A
    prediction is the best sequence of BIO tags in which each `I-X` follows a `B-X` or an `I-X`.

    The loss is the cross entropy of the tags, the mean over the words of each sentence and then
    over sentences, as in AllenNLP's `srl`. The metric counts like srl-eval.pl, without perl.

    Registered as a `Model` with name "srl_highway_lstm".

    # Parameters

    vocab : `Vocabulary`
        With the tags in the namespace "labels".
    contextual_encoder : `Lazy[ContextualEncoder]`
        Encodes each word, next to the vector that marks the predicate, in its context. In the
        paper, its encoder is a `highway_lstm`.
    predicate_dim : `int`, optional (default = `100`)
        The size of the vector that marks the predicate.
    """

    default_predictor = "elmo_srl"
    progress_figures = ("-overall",)
    average_logits = staticmethod(average_tag_logits)

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: Lazy[ContextualEncoder],
        predicate_dim: int = 100,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self._tags = list(vocab.get_index_to_token_vocabulary("labels").values())
        # The vector at index 1 marks the predicate, and the one at index 0 all other words.
        self.predicate_embedding = nn.Embedding(2, predicate_dim)
        self.contextual_encoder = contextual_encoder.construct(feature_dim=predicate_dim)
        self.tag_projection = nn.Linear(self.contextual_encoder.get_output_dim(), len(self._tags))
        # Declared for type checkers: `register_buffer` sets both.
        self._transition_scores: Tensor
        self._first_tag_scores: Tensor
        transition_scores, first_tag_scores = bio_transitions(self._tags)
        # They follow from the tags, so they are not saved with the weights.
        self.register_buffer("_transition_scores", transition_scores, persistent=False)
        self.register_buffer("_first_tag_scores", first_tag_scores, persistent=False)
        self.metric = SrlF1()
        self.initialize()

    @overrides
    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        self._tags = list(vocab.get_index_to_token_vocabulary("labels").values())
        self.tag_projection = extend_output_layer(self.tag_projection, vocab)
        transition_scores, first_tag_scores = bio_transitions(self._tags)
        self._transition_scores = transition_scores.to(self._transition_scores.device)
        self._first_tag_scores = first_tag_scores.to(self._first_tag_scores.device)

    def compute_logits(
        self, tokens: TextFieldTensors, predicate: LongTensor, **_: Any
    ) -> TagLogits:
        """
        Returns the logits of the tags. `predicate`, of shape (batch, 1), has the index of the
        predicate in each sentence.
        """
        num_words = get_text_field_mask(tokens).size(1)
        word_indices = torch.arange(num_words, device=predicate.device)
        is_predicate = word_indices == predicate  # Shape: (batch, time)
        # Shape of marks: (batch, time, predicate_dim); of encoded: (batch, time, dim)
        marks = self.predicate_embedding(is_predicate.long())
        encoded, mask = self.contextual_encoder(tokens, marks)
        logits = self.tag_projection(encoded)  # Shape: (batch, time, tags)
        return TagLogits(logits, mask)

    def decode(
        self,
        logits: TagLogits,
        words: list[list[str]],
        predicate: LongTensor,
        lemma: list[str],
        tags: LongTensor | None = None,
        gold_tags: list[list[str]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns `words`, `predicate` (the index of the word) and `lemma`. Except in training, also
        returns the best `tags`. If the batch has the correct tags, as the indices `tags` of shape
        (batch, time), also returns `loss`. A tag that is not in the vocabulary does not add to it.
        If it has them as the strings `gold_tags` as well, the metric compares them, except in
        training.
        """
        output: dict[str, Any] = {
            "words": words,
            "predicate": predicate.squeeze(1).tolist(),
            "lemma": lemma,
        }
        if not self.training:
            paths = viterbi(
                logits.logits, logits.mask, self._transition_scores, self._first_tag_scores
            )
            output["tags"] = [[self._tags[index] for index in path] for path in paths]
        if tags is not None:
            known = logits.mask & self.known_tags(tags, gold_tags)
            output["loss"] = _mean_cross_entropy(logits.logits, tags, known)
            if not self.training and gold_tags is not None:
                self.metric(predicted=output["tags"], gold=gold_tags)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `roles`, each with its `role`, its `text`, the index `start_word` of its first word and
        `end_word` of the word after its last; and `description`, the sentence with its arguments in
        brackets. In training, without tags, nothing is added.
        """
        if "tags" not in output_dict:
            return output_dict
        output_dict["roles"] = []
        output_dict["description"] = []
        for words, tags in zip(output_dict["words"], output_dict["tags"], strict=True):
            roles = describe_spans(tags_to_spans(tags), words, label_key="role")
            output_dict["roles"].append(roles)
            output_dict["description"].append(mark_arguments(words, tags))
        return output_dict


def mark_arguments(words: Sequence[str], tags: Sequence[str]) -> str:
    """
    Returns the words with their arguments in brackets, such as `[ARG0: The judge] [V: ordered] it`.
    """
    parts: list[str] = []
    next_word = 0  # the first one that is not in `parts`
    for start, end, role in tags_to_spans(tags):
        parts.extend(words[next_word:start])
        parts.append(f"[{role}: {' '.join(words[start:end])}]")
        next_word = end
    parts.extend(words[next_word:])
    return " ".join(parts)


def _mean_cross_entropy(logits: Tensor, tags: LongTensor, known: Tensor) -> Tensor:
    """
    Returns the cross entropy of the known tags: first the mean over the known tags of each
    sentence, and then the mean over sentences. `known`, of shape (batch, time), is false at padding
    and at tags that are not in the vocabulary.
    """
    known_tags = tags.masked_fill(~known, UNKNOWN_LABEL)
    # The loss of an ignored tag is 0. Shape of losses: (batch, time)
    losses = functional.cross_entropy(
        logits.transpose(1, 2), known_tags, ignore_index=UNKNOWN_LABEL, reduction="none"
    )
    num_known = known.sum(dim=1).clamp(min=1)  # without known tags, the mean is 0
    means = losses.sum(dim=1) / num_known  # Shape: (batch,)
    return means.mean()


# The most words in a batch of frames. A frame has all words of its sentence, so a sentence with
# three predicates counts three times.
MAX_BATCH_WORDS = 20_000


@Predictor.register("elmo_srl")
class SrlPredictor(SentencePredictor):
    """
    Finds the arguments of each predicate of `{"sentence": "The judge ordered a new trial."}`, or of
    a list of `"words"`. The input has the indices of the predicates, `"predicates": [2]`, or a
    tagger finds them. A prediction has the `words` and a frame for each predicate:

        {"words": ["The", "judge", "ordered", "a", "new", "trial", "."], "frames": [{"predicate":
         "ordered", "index": 2, "lemma": "ordered", "tags": ["B-ARG0", "I-ARG0", …],
                     "roles": [{"role": "ARG0", "start_word": 0, "end_word": 2,
                                "text": "The judge"}, …],
                     "description": "[ARG0: The judge] [V: ordered] [ARG1: a new trial] ."}]}

    Frames of a batch of sentences are predicted together, up to 20,000 words at a time.

    Registered as a `Predictor` with name "elmo_srl".

    # Parameters

    predicates : `str | Predictor`, optional (default = `None`)
        The archive of a model of predicates, such as `srl_predicates`, or its predictor.
    **kwargs
        Options of `SentencePredictor`.
    """

    name = "elmo_srl"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        *,
        predicates: str | Predictor | None = None,
        max_words: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, max_words=max_words, **kwargs)
        if isinstance(predicates, str):  # the path of an archive
            options: dict[str, Any] = {}
            if max_words is not None:  # the tagger reads the same sentences
                options["max_words"] = max_words
            predicates = Predictor.from_path(predicates, **options)
        self._tagger: Predictor | None = predicates

    @overrides
    def predict_json(self, inputs: JsonDict) -> JsonDict:
        (prediction,) = self.predict_batch_json([inputs])
        return prediction

    @overrides
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        for json_dict in inputs:
            self.check_input(json_dict)
        sentences = [self.words_in(json_dict) for json_dict in inputs]
        predicates = self._indices_of_predicates(inputs, sentences)
        frames = self._predict_frames(sentences, predicates)
        predictions = []
        for tokens, indices in zip(sentences, predicates, strict=True):
            words = [text_as_typed(token) for token in tokens]
            frames_of_sentence = list(islice(frames, len(indices)))  # the next ones
            predictions.append({"words": words, "frames": frames_of_sentence})
        return predictions

    def _predict_frames(
        self, sentences: Sequence[list[Token]], predicates: Sequence[list[int]]
    ) -> Iterator[JsonDict]:
        """
        Yields a frame for each predicate, sentence by sentence. `predicates` has the indices of the
        predicates in each sentence. The frames are predicted in batches of `MAX_BATCH_WORDS`.
        """
        instances: list[Instance] = []
        for tokens, indices in zip(sentences, predicates, strict=True):
            for index in indices:
                instances.append(self._dataset_reader.text_to_instance(tokens, index))
        lengths = [len(instance["tokens"]) for instance in instances]
        for run in split_by_tokens(lengths, MAX_BATCH_WORDS):
            batch = instances[run]
            for output in self.predict_batch_instance(batch):
                yield _frame(output)

    def _indices_of_predicates(
        self, inputs: Sequence[JsonDict], sentences: Sequence[list[Token]]
    ) -> list[list[int]]:
        """
        Returns the indices of the predicates in each sentence. They come from the input if it has
        them, and else from the tagger.
        """
        to_tag = []
        for json_dict, tokens in zip(inputs, sentences, strict=True):
            if "predicates" not in json_dict:
                to_tag.append({"words": [token.text for token in tokens]})
        # The tagger is called once, for all of these inputs together.
        tagged = iter(self._find_predicates(to_tag))
        predicates = []
        for json_dict, tokens in zip(inputs, sentences, strict=True):
            if "predicates" in json_dict:
                predicates.append(self._checked_predicates(json_dict, len(tokens)))
            else:
                predicates.append(next(tagged))
        return predicates

    def _find_predicates(self, inputs: list[JsonDict]) -> list[list[int]]:
        """
        Returns the indices of the predicates that the tagger finds in each input. Raises
        `ConfigurationError` if no tagger was given although there are inputs for it, or if the
        tagger is a predictor of another task.
        """
        if not inputs:
            return []
        if self._tagger is None:
            raise ConfigurationError(
                f'{self.name}: expected "predicates", the indices of words, in the input; or give '
                "the predictor a tagger by predicates (--predicates), an archive such as "
                "srl_predicates"
            )
        found = []
        for prediction in self._tagger.predict_batch_json(inputs):
            if "predicates" not in prediction:
                raise ConfigurationError(
                    f"{self.name}: predicates: expected a tagger of predicates, such as "
                    f"srl_predicates, got one that predicts {', '.join(prediction)}"
                )
            found.append(prediction["predicates"])
        return found

    def _checked_predicates(self, json_dict: JsonDict, num_words: int) -> list[int]:
        """
        Returns the predicates that an input has. Raises `ConfigurationError` if they are not
        indices of different words, in a sentence of `num_words` words.
        """
        indices: Any = json_dict["predicates"]
        if not _are_indices(indices, num_words) or len(set(indices)) < len(indices):
            raise ConfigurationError(
                f'{self.name}: "predicates": expected a list of indices of different words, from '
                f"0 to {num_words - 1}, got {indices!r}"
            )
        return list(indices)


def _are_indices(values: Any, length: int) -> bool:
    """Returns whether `values` is a list of indices for a sequence of this length."""
    if not isinstance(values, list):
        return False
    # `isinstance` would also accept `True`.
    return all(type(value) is int and 0 <= value < length for value in values)


def _frame(output: JsonDict) -> JsonDict:
    """Returns the frame of one predicate, from the output of the model for it."""
    index = output["predicate"]
    return {
        "predicate": output["words"][index],
        "index": index,
        "lemma": output["lemma"],
        "tags": output["tags"],
        "roles": output["roles"],
        "description": output["description"],
    }
