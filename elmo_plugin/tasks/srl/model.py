"""The role labeller of He et al. (2017), a tagger of predicates, and the predictors of both."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch
from allennlp.common import JsonDict, Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, TextFieldTensors, Vocabulary
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.nn.util import get_text_field_mask
from allennlp.predictors import Predictor
from allennlp.training.metrics import CategoricalAccuracy, F1Measure
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import split_by_tokens
from elmo_plugin.encoders import ContextualEncoder, bio_transitions, viterbi
from elmo_plugin.tasks.dataset_reader import UNKNOWN_TAG
from elmo_plugin.tasks.predictor import SentencePredictor, words_from_json
from elmo_plugin.tasks.spans import describe_spans, tags_to_spans
from elmo_plugin.tasks.srl.metrics import SrlF1
from elmo_plugin.tasks.task_model import TaskModel, average_probabilities, with_labels
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, as_typed

PREDICATE = 1  # the index of the tag of a predicate; other words have 0


class TagLogits(NamedTuple):
    """The logits of each tag for each word."""

    logits: Tensor  # Shape: (batch, time, tags)
    mask: BoolTensor  # Shape: (batch, time)


def average_tag_logits(logits: Sequence[TagLogits]) -> TagLogits:
    """Returns logits of the mean of the models' probabilities."""
    return TagLogits(average_probabilities([member.logits for member in logits]), logits[0].mask)


@Model.register("srl_highway_lstm")
class SrlHighwayLstm(TaskModel):
    """
    Tags the arguments of one predicate at a time. The encoder sees the vector of each word next to
    a learned vector that marks the predicate, and a linear layer computes a logit for each tag. A
    prediction is the best sequence of BIO tags without an `I-X` that follows no `B-X`.

    The loss is the cross entropy of the tags, the mean over the words of each sentence and then
    over sentences, as in AllenNLP's `srl`. The metric counts like srl-eval.pl, without perl.

    Registered as a `Model` with name "srl_highway_lstm".

    # Parameters

    vocab : `Vocabulary`
        With the tags in the namespace "labels".
    contextual_encoder : `Lazy[ContextualEncoder]`
        From the words, and the vectors of the predicate's indicator, to vectors in context. Its
        encoder is a `highway_lstm` in the paper.
    predicate_dim : `int`, optional (default = `100`)
        The size of the vectors of the predicate's indicator.
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
        self.predicate_embedding = nn.Embedding(2, predicate_dim)
        self.contextual_encoder = contextual_encoder.construct(feature_dim=predicate_dim)
        self.tag_projection = nn.Linear(self.contextual_encoder.get_output_dim(), len(self._tags))
        self._transitions: Tensor
        self._start: Tensor
        for name, values in zip(
            ("_transitions", "_start"), bio_transitions(self._tags), strict=True
        ):
            self.register_buffer(name, values, persistent=False)
        self.metric = SrlF1()
        self.initialize()

    @overrides
    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        self._tags = list(vocab.get_index_to_token_vocabulary("labels").values())
        self.tag_projection = with_labels(self.tag_projection, vocab)
        self._transitions, self._start = (
            each.to(self._start.device) for each in bio_transitions(self._tags)
        )

    def compute_logits(
        self, tokens: TextFieldTensors, predicate: LongTensor, **_: Any
    ) -> TagLogits:
        """Returns the logits of the tags, for predicates of shape (batch, 1)."""
        time = get_text_field_mask(tokens).size(1)
        # Shape: (batch, time)
        is_predicate = torch.arange(time, device=predicate.device) == predicate
        encoded, mask = self.contextual_encoder(
            tokens, self.predicate_embedding(is_predicate.long())
        )
        return TagLogits(self.tag_projection(encoded), mask)

    def decode(
        self,
        logits: TagLogits,
        words: list[list[str]],
        frame: list[dict[str, Any]],
        tags: LongTensor | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns `words`, `predicate` (the index of the word), `lemma`, the best `tags`, except in
        training, and, if the batch has the correct tags, of shape (batch, time), `loss`. `frame` is
        the metadata of `SrlReader.text_to_instance`.
        """
        output: dict[str, Any] = {"words": words}
        output |= {key: [f[key] for f in frame] for key in ("predicate", "lemma")}
        if not self.training:
            paths = viterbi(logits.logits, logits.mask, self._transitions, self._start)
            output["tags"] = [[self._tags[index] for index in path] for path in paths]
        if tags is not None:
            known = logits.mask & self.known_tags(tags, [f["tags"] for f in frame])
            output["loss"] = _mean_cross_entropy(logits.logits, tags, known)
            if not self.training:
                self.metric(output["tags"], [f["tags"] for f in frame])
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `roles`, each with its `role`, its `text`, the index `start` of its first word and
        `end` of the word after its last; and `description`, the sentence with its arguments in
        brackets. In training, without tags, nothing is added.
        """
        if "tags" not in output_dict:
            return output_dict
        frames = list(zip(output_dict["words"], output_dict["tags"], strict=True))
        output_dict["roles"] = [
            describe_spans(tags_to_spans(tags), words, "role") for words, tags in frames
        ]
        output_dict["description"] = [mark_arguments(words, tags) for words, tags in frames]
        return output_dict


def mark_arguments(words: Sequence[str], tags: Sequence[str]) -> str:
    """
    Returns the words with their arguments in brackets, such as `[ARG0: The judge] [V: ordered] it`.
    """
    parts, done = [], 0
    for start, end, role in tags_to_spans(tags):
        parts += [*words[done:start], f"[{role}: {' '.join(words[start:end])}]"]
        done = end
    return " ".join([*parts, *words[done:]])


def _mean_cross_entropy(logits: Tensor, tags: LongTensor, known: Tensor) -> Tensor:
    """Returns the mean over the words of each sentence with known tags, and over sentences."""
    known_tags = tags.masked_fill(~known, UNKNOWN_TAG)  # words with unknown tags have a loss of 0
    losses = functional.cross_entropy(logits.transpose(1, 2), known_tags, reduction="none")
    return (losses.sum(dim=1) / known.sum(dim=1).clamp(min=1)).mean()


@Model.register("srl_predicates")
class SrlPredicates(TaskModel):
    """
    Decides for each word, from its vector in context, whether it is a predicate. The loss is the
    cross entropy, the mean over all words of a batch.

    Registered as a `Model` with name "srl_predicates".

    # Parameters

    vocab : `Vocabulary`
        The vocabulary of the words.
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    """

    default_predictor = "elmo_srl_predicates"
    average_logits = staticmethod(average_tag_logits)

    def __init__(
        self, vocab: Vocabulary, *, contextual_encoder: ContextualEncoder, **kwargs: Any
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.contextual_encoder = contextual_encoder
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), 2)
        self._accuracy = CategoricalAccuracy()
        self._f1 = F1Measure(positive_label=PREDICATE)
        self.initialize()

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> TagLogits:
        """Returns the two logits of each word."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        return TagLogits(self.tag_projection(encoded), mask)

    def decode(
        self, logits: TagLogits, words: list[list[str]], tags: LongTensor | None = None, **_: Any
    ) -> dict[str, Any]:
        """
        Returns `words`, the `probabilities` of each to be a predicate, of shape (batch, time),
        `mask` and, if the batch has the correct tags, of the same shape, `loss`.
        """
        tag_logits, mask = logits
        probabilities: Tensor = tag_logits.softmax(dim=-1)[..., PREDICATE]
        output: dict[str, Any] = {"words": words, "probabilities": probabilities, "mask": mask}
        if tags is not None:
            output["loss"] = functional.cross_entropy(tag_logits[mask], tags[mask])
            self._accuracy(tag_logits, tags, mask)
            self._f1(tag_logits, tags, mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `predicates`, the indices of the words, and removes padding from `probabilities`."""
        mask, probs = output_dict.pop("mask"), output_dict["probabilities"]
        output_dict["predicates"] = [torch.where(row)[0].tolist() for row in (probs > 0.5) & mask]
        output_dict["probabilities"] = [
            row[known].tolist() for row, known in zip(probs, mask, strict=True)
        ]
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy over words, and precision, recall and F1 of predicates."""
        counted = self._accuracy.total_count > 0  # else AllenNLP's F1 raises an error
        f1 = (
            self._f1.get_metric(reset)
            if counted
            else dict.fromkeys(("precision", "recall", "f1"), 0.0)
        )
        return {"accuracy": self._accuracy.get_metric(reset), **f1}


# Frames are predicted in batches of at most so many words; each frame counts all words of its
# sentence.
MAX_BATCH_WORDS = 20_000


@Predictor.register("elmo_srl")
class SrlPredictor(SentencePredictor):
    """
    Finds the arguments of each predicate of `{"sentence": "The judge ordered a new trial."}`, or of
    a list of `"words"`. The input has the indices of the predicates, `"predicates": [2]`, or a
    tagger finds them. A prediction has the `words` and a frame for each predicate:

        {"words": ["The", "judge", "ordered", "a", "new", "trial", "."], "frames": [{"predicate":
         "ordered", "index": 2, "lemma": "ordered", "tags": ["B-ARG0", "I-ARG0", …],
                     "roles": [{"role": "ARG0", "start": 0, "end": 2, "text": "The judge"}, …],
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
        if isinstance(predicates, str):
            options: Any = {} if max_words is None else {"max_words": max_words}
            predicates = Predictor.from_path(predicates, **options)
        self._tagger = predicates

    @overrides
    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    @overrides
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        for each in inputs:
            self.check_input(each)
        sentences = [words_from_json(json_dict, self._tokenizer, self.name) for json_dict in inputs]
        predicates = self._predicates(inputs, sentences)
        instances = [
            self._dataset_reader.text_to_instance(tokens, index)
            for tokens, indices in zip(sentences, predicates, strict=True)
            for index in indices
        ]
        batches = split_by_tokens(
            [len(instance["tokens"]) for instance in instances], MAX_BATCH_WORDS
        )
        frames = chain.from_iterable(
            self.predict_batch_instance(instances[batch]) for batch in batches
        )
        return [
            {
                "words": list(map(as_typed, tokens)),
                "frames": [_frame(next(frames)) for _ in indices],
            }
            for tokens, indices in zip(sentences, predicates, strict=True)
        ]

    def _predicates(
        self, inputs: Sequence[JsonDict], sentences: Sequence[list[Token]]
    ) -> list[list[int]]:
        """Returns the predicates of the inputs, and finds them if the input has none."""
        pairs = list(zip(inputs, sentences, strict=True))
        unknown = [
            {"words": [t.text for t in words]} for each, words in pairs if "predicates" not in each
        ]
        found: Iterator[JsonDict] = iter(())
        if unknown:
            if self._tagger is None:
                raise ConfigurationError(
                    f'{self.name}: expected "predicates", the indices of words, in the input; or '
                    "give the "
                    "predictor a tagger by predicates (--predicates), an archive such as "
                    "srl_predicates"
                )
            found = iter(self._tagger.predict_batch_json(unknown))
        return [
            self._checked(each, len(words)) if "predicates" in each else next(found)["predicates"]
            for each, words in pairs
        ]

    def _checked(self, inputs: JsonDict, length: int) -> list[int]:
        indices: Any = inputs["predicates"]
        if (
            not isinstance(indices, list)
            or not all(type(index) is int and 0 <= index < length for index in indices)
            or len(set(indices)) < len(indices)
        ):
            raise ConfigurationError(
                f'{self.name}: "predicates": expected a list of indices of different words, from '
                "0 to "
                f"{length - 1}, got {indices!r}"
            )
        return list(indices)


def _frame(output: JsonDict) -> JsonDict:
    index = output["predicate"]
    return {
        "predicate": output["words"][index],
        "index": index,
        **{key: output[key] for key in ("lemma", "tags", "roles", "description")},
    }


@Predictor.register("elmo_srl_predicates")
class SrlPredicatesPredictor(SentencePredictor):
    """
    Finds the predicates of `{"sentence": "She wants to leave."}`, or of a list of words as
    `"words"`. A prediction has the `words`, the indices of the `predicates`, and the
    `probabilities` of all words to be one.

    Registered as a `Predictor` with name "elmo_srl_predicates".
    """

    name = "elmo_srl_predicates"
    default_tokenizer = SpacyRulesTokenizer
