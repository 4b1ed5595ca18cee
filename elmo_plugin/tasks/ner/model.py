"""
The named entity tagger of Peters et al. (2018), biLSTM layers and a CRF, and its predictor.

The CRF gives each sequence of tags a logit: the sum of the logits of its tags (`emissions`) and of
its transitions. The probability of an entity is the share of the sequences that have it, in the sum
over all legal sequences. For `Ada lives`, with the tags of persons in BIO and the entity "Ada":

    all legal sequences    O O,  O B-PER,  B-PER O,  B-PER B-PER,  B-PER I-PER
    those with "Ada"                       B-PER O,  B-PER B-PER
"""

import copy
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Vocabulary
from allennlp.data.fields import MetadataField
from allennlp.models import Model
from allennlp.modules.conditional_random_field import ConditionalRandomField, allowed_transitions
from allennlp.predictors import Predictor
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn

from elmo_plugin.common.errors import check_choice
from elmo_plugin.encoders import ContextualEncoder, viterbi
from elmo_plugin.tasks.dataset_reader import ENCODING_TAGS
from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.ner.tags import ENCODINGS, parse_tags
from elmo_plugin.tasks.predictor import SentencePredictor, text_and_places
from elmo_plugin.tasks.spans import (
    OUTSIDE,
    Span,
    describe_spans,
    parse_tag,
    spans_to_tags,
    tags_to_spans,
)
from elmo_plugin.tasks.task_model import TaskModel, copy_old_labels, extend_output_layer
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

# AllenNLP's logit of an illegal transition: finite, as there may be no legal one.
ILLEGAL = -10_000.0


class CrfLogits(NamedTuple):
    """
    The logits of each tag for each word, and a CRF with the logits of tags that follow one another.
    """

    emissions: Tensor  # Shape: (batch, time, tags)
    mask: BoolTensor  # Shape: (batch, time)
    crf: ConditionalRandomField


class Transitions(NamedTuple):
    """
    The logits of two tags in a row, of the first tag and of the last tag of a sentence. An illegal
    tag has the logit `ILLEGAL`.
    """

    between: Tensor  # Shape: (tags, tags), from the first of the two to the second
    to_first: Tensor  # Shape: (tags,)
    from_last: Tensor  # Shape: (tags,)

    @classmethod
    def of_crf(cls, crf: ConditionalRandomField) -> "Transitions":
        """Returns the transitions of a CRF, with those that it forbids made illegal."""
        illegal = crf._constraint_mask == 0  # Shape: (tags + 2, tags + 2)
        start = crf.num_tags  # the row of the mask for the first tag
        end = crf.num_tags + 1  # the column for the last tag
        return cls(
            between=crf.transitions.masked_fill(illegal[:start, :start], ILLEGAL),
            to_first=crf.start_transitions.masked_fill(illegal[start, :start], ILLEGAL),
            from_last=crf.end_transitions.masked_fill(illegal[:start, end], ILLEGAL),
        )

    def log_sum(self, emissions: Tensor) -> Tensor:
        """
        Returns the logarithm of the sum of the exponentiated logits of all sequences of tags (the
        forward algorithm), shape (rows,). `emissions` has the shape (rows, time, tags), and each
        row is a sentence; all have the same length.
        """
        # In double precision, because probabilities are differences of such logarithms.
        between = self.between.double()
        first, *others = emissions.double().unbind(dim=1)
        # Over the sequences up to a word, by the tag in which they end. Shape: (rows, tags)
        log_sums = self.to_first.double() + first
        for emission in others:
            log_sums = (log_sums.unsqueeze(2) + between).logsumexp(dim=1) + emission
        return (log_sums + self.from_last.double()).logsumexp(dim=1)


@Model.register("ner_bilstm_crf")
class NerBiLstmCrf(TaskModel):
    """
    Tags words by a contextual encoder of words, their characters and ELMo, one linear layer to a
    logit for each tag, and a CRF over the tags (Lample et al., 2016) that never predicts an illegal
    sequence of them. Plain tags, such as parts of speech, may follow one another in any order; only
    their accuracy is measured.

    The loss is the negative log-likelihood of the tags, summed over the sentences of the batch as
    in AllenNLP's `crf_tagger`. The paper's λ of ELMo's mixing weights is relative to this sum.

    Registered as a `Model` with name "ner_bilstm_crf".

    # Parameters

    vocab : `Vocabulary`
        With the tags in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The encoding of the tags: "BIO" or "BIOUL", as in the dataset reader; "plain" for tags of
        any kind, or `None` to find it from `vocab`.

    Raises `ConfigurationError` if the tags in `vocab` are in another encoding, or are plain.
    """

    default_predictor = "elmo_ner"
    progress_figures = ("accuracy", "-overall")

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        tag_encoding: str | None = "BIOUL",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        labels = vocab.get_index_to_token_vocabulary("labels")
        self._tag_encoding = _find_tag_encoding(tag_encoding, labels.values())
        self.has_entities = self._tag_encoding != "plain"
        self.contextual_encoder = contextual_encoder
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), len(labels))
        self.crf = self._make_crf(vocab)
        self.metric = NerF1(has_entities=self.has_entities)
        self.initialize()

    def _make_crf(self, vocab: Vocabulary) -> ConditionalRandomField:
        """Returns a new CRF for the tags of a vocabulary."""
        labels = vocab.get_index_to_token_vocabulary("labels")
        transitions = None  # plain tags may follow one another in any order
        if self.has_entities:
            transitions = allowed_transitions(self._tag_encoding, labels)
        return ConditionalRandomField(len(labels), transitions)

    @overrides
    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        """
        Adds the new tags of `vocab` to the last layer and to the CRF. Raises `ConfigurationError`
        if they are in another encoding than the tags in training.
        """
        labels = vocab.get_token_to_index_vocabulary("labels")
        _find_tag_encoding(self._tag_encoding, labels)  # raises for most tags in another encoding
        if self._tag_encoding == "BIOUL":
            # New tags in BIO beside the old ones in BIOUL have a B without an L of their type.
            begun = {tag[1:] for tag in labels if tag[0] == "B"}
            ended = {tag[1:] for tag in labels if tag[0] == "L"}
            unfinished_types = begun - ended
            if unfinished_types:
                unfinished = min(unfinished_types)  # such as "-PER"
                raise ConfigurationError(
                    "ner_bilstm_crf: expected tags in BIOUL, as in training, but "
                    f"B{unfinished} has no L{unfinished}: the dataset reader's tag_encoding "
                    "is another"
                )
        num_known = self.crf.num_tags
        if num_known < len(labels):
            self.tag_projection = extend_output_layer(self.tag_projection, vocab)
            self.crf = copy_old_labels(self._make_crf(vocab), self.crf, num_known)

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> CrfLogits:
        """
        Returns the logits of tags and of their transitions, for sentences of shape (batch, time).
        """
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        emissions = self.tag_projection(encoded)  # Shape: (batch, time, tags)
        return CrfLogits(emissions, mask, self.crf)

    @staticmethod
    def average_logits(logits: Sequence[CrfLogits]) -> CrfLogits:
        """
        Averages the members' emissions, and the transition, start and end scores of their CRFs.
        """
        emissions = torch.stack([member.emissions for member in logits]).mean(dim=0)
        # Among the tensors of a CRF is the mask of allowed transitions. It is the same in all
        # members, so the mean of these masks is that mask.
        states = [member.crf.state_dict() for member in logits]
        mean_state = {}
        for name in states[0]:
            mean_state[name] = torch.stack([state[name] for state in states]).mean(dim=0)
        crf = copy.deepcopy(logits[0].crf)
        crf.load_state_dict(mean_state)
        return CrfLogits(emissions, logits[0].mask, crf)

    def decode(
        self,
        logits: CrfLogits,
        words: list[list[str]],
        tags: LongTensor | None = None,
        gold_tags: list[list[str]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns the `words` of each sentence and, except in training, the best `tags` and the
        `logits` of `make_output_human_readable`. If the indices `tags` of the correct ones are
        given, shape (batch, time), it also returns the `loss`, in which a sentence with a tag that
        is not in the vocabulary is left out. Then, except in training, the metric also compares the
        predicted tags with the strings `gold_tags`, and these are returned.
        """
        emissions, mask, crf = logits
        output: dict[str, Any] = {"words": words}
        if not self.training:
            labels = self.vocab.get_index_to_token_vocabulary("labels")
            transitions = Transitions.of_crf(crf)
            paths = viterbi(
                emissions, mask, transitions.between, transitions.to_first, transitions.from_last
            )
            output["tags"] = [[labels[index] for index in path] for path in paths]
            output["logits"] = (emissions, transitions)
        if tags is not None:
            has_known_tags = self.known_tags(tags, gold_tags).all(dim=1)  # Shape: (batch,)
            known = has_known_tags.nonzero().squeeze(1)  # Shape: (sentences with known tags,)
            log_likelihood = crf(emissions[known], tags[known], mask[known])
            output["loss"] = -log_likelihood
            if not self.training and gold_tags is not None:
                output["gold_tags"] = gold_tags
                self.metric(output["tags"], gold_tags)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `entities`, each with its `type`, its `text`, the index `start_word` of its first word
        and `end_word` of the word after its last, and the `probability` of such an entity among all
        legal tags. Nothing is added for plain tags, and in training, when no tags are predicted.
        `logits` is removed: it is large, and nobody else reads it.
        """
        logits = output_dict.pop("logits", None)
        if "tags" not in output_dict or not self.has_entities:
            return output_dict
        emissions, transitions = logits
        output_dict["entities"] = []
        for words, tags, emissions_of_sentence in zip(
            output_dict["words"], output_dict["tags"], emissions, strict=True
        ):
            spans = tags_to_spans(tags)
            entities = describe_spans(spans, words, "type")
            without_padding = emissions_of_sentence[: len(tags)]
            probabilities = self._probabilities(tags, spans, without_padding, transitions)
            for entity, probability in zip(entities, probabilities, strict=True):
                entity["probability"] = probability
            output_dict["entities"].append(entities)
        return output_dict

    def _probabilities(
        self,
        tags: Sequence[str],
        spans: Sequence[Span],
        emissions: Tensor,
        transitions: Transitions,
    ) -> list[float]:
        """
        Returns the probability of each entity of a sentence: the sum over the sequences of tags
        that have it, divided by the sum over all. `emissions` has the shape (time, tags).
        """
        # Row 0 is for all sequences, and each other row for those with one of the entities.
        rows = emissions.double().repeat(1 + len(spans), 1, 1)  # Shape: (rows, time, tags)
        for row, span in zip(rows[1:], spans, strict=True):
            self._forbid_other_tags(row, span, tags)
        log_sums = transitions.log_sum(rows)  # Shape: (rows,)
        log_sum_of_all = log_sums[0]
        log_sums_with_entity = log_sums[1:]
        probabilities: list[float] = (log_sums_with_entity - log_sum_of_all).exp().tolist()
        return probabilities

    def _forbid_other_tags(self, emissions: Tensor, span: Span, tags: Sequence[str]) -> None:
        """
        Sets the logits of all tags that a sequence with this entity cannot have to minus infinity.
        `emissions`, shape (time, tags), is changed; `tags` has the tag of each word.
        """
        indices = self.vocab.get_token_to_index_vocabulary("labels")
        words = range(span.start, span.end)
        tags_of_entity = [indices[tags[word]] for word in words]
        logits_of_entity = emissions[words, tags_of_entity]  # a copy, shape (words,)
        emissions[span.start : span.end] = -torch.inf
        emissions[words, tags_of_entity] = logits_of_entity
        inner_tag = "I"
        if span.label:
            inner_tag = f"I-{span.label}"
        if inner_tag in indices and span.end < len(tags):
            # In BIO, an inner tag after the entity would make it longer, and so another entity.
            emissions[span.end, indices[inner_tag]] = -torch.inf


def _find_tag_encoding(tag_encoding: str | None, labels: Collection[str]) -> str:
    """
    Returns the encoding of a vocabulary's tags: "BIO", "BIOUL" or "plain". Raises
    `ConfigurationError` if `tag_encoding` is given and is another one.
    """
    if tag_encoding is not None:
        check_choice("tag_encoding", tag_encoding, ("BIO", "BIOUL", "plain"), ConfigurationError)
    tags = parse_tags(set(labels))  # `None` if they are not tags of entities
    if tag_encoding == "plain" or (tag_encoding is None and tags is None):
        return "plain"
    if tags is None:
        raise ConfigurationError(
            f"ner_bilstm_crf: expected tags of entities, got {_plain_label(labels)!r}; "
            "metric='+accuracy' trains on tags of any kind (tag_encoding: 'plain')"
        )
    letters = {tag.letter for tag in tags.values()}
    if letters <= {"O"}:  # no entities, so every encoding has the same tags
        return tag_encoding or "plain"
    encoding = "BIO"
    if "L" in letters or "U" in letters:  # in BIOUL every entity has one of them
        encoding = "BIOUL"
    if tag_encoding is not None and tag_encoding != encoding:
        raise ConfigurationError(
            f"ner_bilstm_crf: tag_encoding is {tag_encoding}, but the dataset reader's is "
            f"{encoding}"
        )
    other_letters = letters - {"O", *ENCODINGS[encoding]}
    if other_letters:  # such as S and E of BIOES: a CRF in BIO forbids them
        first, *_ = [label for label, tag in tags.items() if tag.letter in other_letters]
        raise ConfigurationError(
            "ner_bilstm_crf: expected tags in BIO or BIOUL from the dataset reader, got "
            f"{first!r}; metric='+accuracy' trains on tags of any kind (tag_encoding: 'plain')"
        )
    return encoding


def _plain_label(labels: Collection[str]) -> str:
    """
    Returns a label that keeps labels from being tags of entities: the first one that cannot be such
    a tag, or else the first one without a type beside those with a type.
    """
    no_tags = [label for label in labels if parse_tag(label) is None]
    if no_tags:
        return no_tags[0]
    without_type = []
    for label in labels:
        tag = parse_tag(label)
        if tag is not None and tag != OUTSIDE and not tag.kind:
            without_type.append(label)
    return without_type[0]


_SPACES = re.compile(r"[ \t\n\r\f\v]+")  # between which scorers split a line


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for
    English, or of a list of `"words"`. A prediction has the `words`, their `tags`, the `gold_tags`
    of a file (`--use-dataset-reader`), both in the encoding of the training data, and, if the tags
    are not plain, the `entities`, with their places in the sentence as typed, or in the words
    joined by spaces:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["B-PER", "O", "O", "B-LOC", "O"],
         "entities": [{"type": "PER", "text": "Ada", "start_char": 0, "end_char": 3,
                       "start_word": 0, "end_word": 1, "probability": 0.97}, …]}

    Registered as a `Predictor` with name "elmo_ner".

    # Parameters

    output_format : `str`, optional (default = `"json"`)
        The output of `allennlp predict`: "json", or "columns": a line for each word with its gold
        tag, if there is one (`--use-dataset-reader`), and its predicted tag, in BIO, between
        spaces, as `elmo score ner` and conlleval.pl read them. Spaces inside a word become "_".
    **kwargs
        Options of `SentencePredictor`.
    """

    name = "elmo_ner"
    default_tokenizer = SpacyRulesTokenizer

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        *,
        output_format: str = "json",
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        check_choice(
            f"{self.name}: output_format", output_format, ("json", "columns"), ConfigurationError
        )
        self._output_format = output_format

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        instance = super().to_instance(json_dict)
        sentence = None  # a list of words comes without the sentence as typed
        if "words" not in json_dict:
            sentence = json_dict["sentence"]
        instance.add_field("text", MetadataField(sentence))
        return instance

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        predictions = super().predict_batch_instance(instances)
        for instance, outputs in zip(instances, predictions, strict=True):
            if "entities" in outputs:  # plain tags have no encoding, and no places
                self._use_encoding_of_training(outputs)
                _add_places_in_text(outputs["entities"], instance)
        return predictions

    def _use_encoding_of_training(self, outputs: JsonDict) -> None:
        """Converts the tags of a prediction to the encoding of the training data, if known."""
        vocab = self._model.vocab
        encoding = "BIO"  # where another reader has read the training data
        if ENCODING_TAGS in vocab.get_namespaces():
            encodings = list(vocab.get_token_to_index_vocabulary(ENCODING_TAGS))
            if encodings:
                encoding = encodings[0]  # the most frequent one
        for name in ("tags", "gold_tags"):
            if name in outputs:
                tags = outputs[name]
                outputs[name] = spans_to_tags(tags_to_spans(tags), len(tags), encoding)

    @overrides
    def dump_line(self, outputs: JsonDict) -> str:
        if self._output_format == "json":
            return super().dump_line(outputs)
        return "".join(f"{line}\n" for line in self.format_lines(outputs))

    def format_lines(self, outputs: JsonDict) -> list[str]:
        """
        Returns a line for each word of a prediction, with its gold tag, if there is one, and its
        predicted tag, and a blank line. Tags of entities become BIO, as scorers expect.
        """
        columns = [outputs["words"]]
        for name in ("gold_tags", "tags"):
            tags = outputs.get(name)
            if not tags:
                continue
            if "entities" in outputs:
                tags = _in_bio(tags)
            columns.append(tags)
        lines = []
        for fields in zip(*columns, strict=True):
            without_spaces = [_SPACES.sub("_", field) for field in fields]
            lines.append(" ".join(without_spaces))
        lines.append("")  # a blank line ends the sentence
        return lines


def _add_places_in_text(entities: Iterable[JsonDict], instance: Instance) -> None:
    """
    Adds to each entity where it begins and ends in the text as typed, or in the words joined by
    spaces, and replaces its text by the text there.
    """
    text, places = text_and_places(instance)
    for entity in entities:
        start, _ = places[entity["start_word"]]
        _, end = places[entity["end_word"] - 1]
        entity["start_char"] = start
        entity["end_char"] = end
        entity["characters"] = [start, end]  # the same as a pair, as in other tasks' outputs
        entity["text"] = text[start:end]


def _in_bio(tags: Sequence[str]) -> list[str]:
    """Returns the tags of entities in BIO, from any encoding."""
    with_letters = []
    for tag in tags:
        if parse_tag(tag) is None:  # only a type: models of early versions may predict IO
            tag = f"I-{tag}"
        with_letters.append(tag)
    return spans_to_tags(tags_to_spans(with_letters), len(tags), "BIO")
