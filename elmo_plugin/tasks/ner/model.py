"""
The named entity tagger of Peters et al. (2018), biLSTM layers and a CRF, and its predictor.

The CRF gives each sequence of tags a logit: the sum of the logits of its tags (`emissions`) and of
its transitions. The weight of a sequence is the exponential of its logit. The probability of an
entity is the weight of all legal sequences that have it, divided by the weight of all legal
sequences. For `Ada lives`, with the tags of persons in BIO and the entity "Ada":

    all legal sequences    O O,  O B-PER,  B-PER O,  B-PER B-PER,  B-PER I-PER
    those with "Ada"                       B-PER O,  B-PER B-PER
"""

import copy
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import torch
from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Vocabulary
from allennlp.data.fields import MetadataField, TextField
from allennlp.models import Model
from allennlp.modules.conditional_random_field import ConditionalRandomField, allowed_transitions
from allennlp.predictors import Predictor
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn

from elmo_plugin.common.errors import check_choice
from elmo_plugin.encoders import ContextualEncoder, viterbi
from elmo_plugin.tasks.labels import ENCODING_TAGS
from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.ner.tags import check_all_types_have_l, find_tag_encoding
from elmo_plugin.tasks.predictor import SentencePredictor, join_words
from elmo_plugin.tasks.spans import (
    Span,
    describe_spans,
    parse_tag,
    spans_to_tags,
    tags_to_spans,
)
from elmo_plugin.tasks.tagger import Tagger
from elmo_plugin.tasks.task_model import copy_old_labels, extend_output_layer
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, text_as_typed

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
        num_tags = crf.num_tags
        illegal = crf._constraint_mask == 0  # Shape: (tags + 2, tags + 2)
        # In the mask, the start and the end of a sentence are two more tags behind the others.
        start = num_tags
        end = num_tags + 1
        return cls(
            between=crf.transitions.masked_fill(illegal[:num_tags, :num_tags], ILLEGAL),
            to_first=crf.start_transitions.masked_fill(illegal[start, :num_tags], ILLEGAL),
            from_last=crf.end_transitions.masked_fill(illegal[:num_tags, end], ILLEGAL),
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
        # For each tag: the sum over the sequences of the words so far that end in this tag.
        log_sums = self.to_first.double() + first  # Shape: (rows, tags)
        for emission in others:
            log_sums = (log_sums.unsqueeze(2) + between).logsumexp(dim=1) + emission
        return (log_sums + self.from_last.double()).logsumexp(dim=1)


@Model.register("ner_bilstm_crf")
class NerBiLstmCrf(Tagger):
    """
    Tags words in three steps. A contextual encoder reads the words, their characters and ELMo; a
    linear layer computes a logit for each tag; a CRF (Lample et al., 2016) finds the best legal
    sequence of tags. Plain tags, such as parts of speech, may follow one another in any order; only
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
        self._tag_encoding = find_tag_encoding(tag_encoding, labels.values())
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
        find_tag_encoding(self._tag_encoding, labels)  # raises for most tags in another encoding
        if self._tag_encoding == "BIOUL":
            check_all_types_have_l(labels)
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
        # The state of a CRF also contains its mask of allowed transitions. All members have the
        # same mask, so averaging does not change it.
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
        Returns the `words` of each sentence. Except in training, it also returns the best `tags`,
        and as `logits` what `make_output_human_readable` needs for probabilities.

        If the correct tags are given, as the indices `tags` of shape (batch, time), it also returns
        the `loss`. A sentence with a tag that is not in the vocabulary is left out of the loss. If
        they are given as the strings `gold_tags` as well, then, except in training, the metric
        compares the predicted tags with them, and the output contains them.
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
            rows = has_known_tags.nonzero().squeeze(1)  # Shape: (sentences with known tags,)
            log_likelihood = crf(emissions[rows], tags[rows], mask[rows])
            output["loss"] = -log_likelihood
            if not self.training and gold_tags is not None:
                output["gold_tags"] = gold_tags
                self.metric(output["tags"], gold_tags)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds the `entities` of each sentence. An entity has its `type`, its `text`, the index
        `start_word` of its first word, the index `end_word` of the word after its last, and its
        `probability` (see the top of this file). Nothing is added for plain tags, or in training,
        when no tags are predicted. `logits` is removed: it is large, and nobody else reads it.
        """
        logits = output_dict.pop("logits", None)
        is_training = "tags" not in output_dict
        if is_training or not self.has_entities:
            return output_dict
        emissions, transitions = logits
        output_dict["entities"] = []
        for words, tags, emissions_of_sentence in zip(
            output_dict["words"], output_dict["tags"], emissions, strict=True
        ):
            spans = tags_to_spans(tags)
            entities = describe_spans(spans, words, "type")
            without_padding = emissions_of_sentence[: len(tags)]
            probabilities = self._entity_probabilities(tags, spans, without_padding, transitions)
            for entity, probability in zip(entities, probabilities, strict=True):
                entity["probability"] = probability
            output_dict["entities"].append(entities)
        return output_dict

    def _entity_probabilities(
        self,
        tags: Sequence[str],
        spans: Sequence[Span],
        emissions: Tensor,
        transitions: Transitions,
    ) -> list[float]:
        """
        Returns the probability of each entity of a sentence: the weight of all sequences of tags
        that have it, divided by the weight of all sequences. `emissions` has the shape (time,
        tags).
        """
        # The first row is for all sequences. Each other row is for the sequences with one entity.
        rows = emissions.double().repeat(1 + len(spans), 1, 1)  # Shape: (rows, time, tags)
        rows_of_entities = rows[1:]
        for row, span in zip(rows_of_entities, spans, strict=True):
            self._forbid_other_tags(row, span, tags)
        log_sums = transitions.log_sum(rows)  # Shape: (rows,)
        log_sum_of_all = log_sums[0]
        log_sums_with_entity = log_sums[1:]
        probabilities: list[float] = (log_sums_with_entity - log_sum_of_all).exp().tolist()
        return probabilities

    def _forbid_other_tags(self, emissions: Tensor, span: Span, tags: Sequence[str]) -> None:
        """
        Changes `emissions`, shape (time, tags), so that a sequence of tags without this entity is
        impossible: other tags get a logit of minus infinity. `tags` are the predicted ones.
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


_SPACES = re.compile(r"[ \t\n\r\f\v]+")  # between which scorers split a line


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for
    English, or of a list of `"words"`.

    A prediction has the `words`, their `tags` and, for a file with tags (`--use-dataset-reader`),
    their `gold_tags`. Both are in the encoding of the training data. If the tags are not plain, it
    also has the `entities`. Their characters are counted in the sentence as typed or, for a list of
    words, in the words joined by spaces:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["B-PER", "O", "O", "B-LOC", "O"],
         "entities": [{"type": "PER", "text": "Ada", "start_char": 0, "end_char": 3,
                       "start_word": 0, "end_word": 1, "probability": 0.97}, …]}

    Registered as a `Predictor` with name "elmo_ner".

    # Parameters

    output_format : `str`, optional (default = `"json"`)
        The output of `allennlp predict`: "json" or "columns". Columns have a line for each word,
        with its gold tag, if there is one (`--use-dataset-reader`), and its predicted tag, in BIO.
        `elmo score ner` and conlleval.pl read them. As spaces separate them, spaces inside a word
        become "_".
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
        sentence = None  # the sentence as typed is unknown for a list of words
        if "words" not in json_dict:
            sentence = json_dict["sentence"]
        instance.add_field("text", MetadataField(sentence))
        return instance

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        predictions = super().predict_batch_instance(instances)
        for instance, outputs in zip(instances, predictions, strict=True):
            if "entities" in outputs:  # not for plain tags
                self._use_encoding_of_training(outputs)
                _add_places_in_text(outputs["entities"], instance)
        return predictions

    def _use_encoding_of_training(self, outputs: JsonDict) -> None:
        """Converts the tags of a prediction to the encoding of the training data, if known."""
        vocab = self._model.vocab
        encoding = "BIO"  # for readers of other packages: they add no encoding to the vocabulary
        if ENCODING_TAGS in vocab.get_namespaces():
            encodings = list(vocab.get_token_to_index_vocabulary(ENCODING_TAGS))
            if encodings:
                # If training and validation data differ, the more frequent encoding comes first.
                encoding = encodings[0]
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
        Returns a line for each word of a prediction, and a blank line at the end. A line has the
        word, its gold tag, if there is one, and its predicted tag. Tags of entities become BIO, as
        scorers expect.
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
    Adds to each entity its first character and the one after its last, and replaces its text by the
    characters between them. They are counted in the text as typed or, if it is not known, in the
    words joined by spaces.
    """
    text, places = _text_and_places(instance)
    for entity in entities:
        start, _ = places[entity["start_word"]]
        _, end = places[entity["end_word"] - 1]
        entity["start_char"] = start
        entity["end_char"] = end
        entity["characters"] = [start, end]  # the same as a pair, as in other tasks' outputs
        entity["text"] = text[start:end]


def _text_and_places(instance: Instance) -> tuple[str, list[tuple[int, int]]]:
    """
    Returns the text of an instance as typed, and the place of each word in it: its first character
    and the one after its last. If the text or a place is not known, as for a list of words, the
    text is all words joined by spaces.
    """
    tokens = cast(TextField, instance["tokens"]).tokens
    text = None
    if "text" in instance.fields:
        text = cast(MetadataField, instance["text"]).metadata
    places = []
    for token in tokens:
        if token.idx is not None and token.idx_end is not None:
            places.append((token.idx, token.idx_end))
    if text is None or len(places) < len(tokens):
        return join_words([text_as_typed(token) for token in tokens])
    return text, places


def _in_bio(tags: Sequence[str]) -> list[str]:
    """Returns the tags of entities in BIO, from any encoding."""
    with_letters = []
    for tag in tags:
        if parse_tag(tag) is None:
            # A type without a letter: models that early versions trained on "IO" predict such tags.
            tag = f"I-{tag}"
        with_letters.append(tag)
    return spans_to_tags(tags_to_spans(with_letters), len(tags), "BIO")
