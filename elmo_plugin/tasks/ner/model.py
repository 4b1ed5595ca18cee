"""The named entity tagger of Peters et al. (2018), biLSTM layers and a CRF, and its predictor."""

import copy
import re
from collections.abc import Collection, Sequence
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
from elmo_plugin.tasks.ner.tags import parse_tags
from elmo_plugin.tasks.predictor import SentencePredictor, typed_places
from elmo_plugin.tasks.spans import Span, describe_spans, parse_tag, spans_to_tags, tags_to_spans
from elmo_plugin.tasks.task_model import TaskModel, grown, with_labels
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
        self.contextual_encoder = contextual_encoder
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), len(labels))
        self.has_entities = self._tag_encoding != "plain"
        self.crf = self._make_crf()
        self.metric = NerF1(has_entities=self.has_entities)
        self.initialize()

    def _make_crf(self) -> ConditionalRandomField:
        labels = self.vocab.get_index_to_token_vocabulary("labels")
        transitions = allowed_transitions(self._tag_encoding, labels) if self.has_entities else None
        return ConditionalRandomField(len(labels), transitions)

    @overrides
    def extend_vocab(self, vocab: Vocabulary, *_: Any, **__: Any) -> None:
        labels = vocab.get_token_to_index_vocabulary("labels")
        _find_tag_encoding(self._tag_encoding, labels)
        if self._tag_encoding == "BIOUL":
            kinds = {letter: {tag[1:] for tag in labels if tag[0] == letter} for letter in "BL"}
            if unfinished := sorted(kinds["B"] - kinds["L"]):
                raise ConfigurationError(
                    "ner_bilstm_crf: expected tags in BIOUL, as in training, but "
                    f"B{unfinished[0]} has no L{unfinished[0]}: the dataset reader's tag_encoding "
                    "is another"
                )
        if (count := self.crf.num_tags) < len(labels):
            self.tag_projection = with_labels(self.tag_projection, vocab)
            self.crf = grown(self._make_crf(), self.crf, count)

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> CrfLogits:
        """
        Returns the logits of tags and of their transitions, for sentences of shape (batch, time).
        """
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        return CrfLogits(self.tag_projection(encoded), mask, self.crf)

    @staticmethod
    def average_logits(logits: Sequence[CrfLogits]) -> CrfLogits:
        """
        Returns the mean of the logits for a tag, two tags in a row, the first and the last tag.
        """
        emissions, masks, crfs = zip(*logits, strict=True)
        crf = copy.deepcopy(crfs[0])
        states = [member.state_dict() for member in crfs]
        crf.load_state_dict(
            {name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]}
        )
        return CrfLogits(torch.stack(emissions).mean(dim=0), masks[0], crf)

    def decode(
        self,
        logits: CrfLogits,
        words: list[list[str]],
        tags: LongTensor | None = None,
        gold_tags: list[list[str]] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """
        Returns the `words` of each sentence, the best `tags` and the `logits`, except in training,
        and, if the batch has the indices of the correct tags, of shape (batch, time), `loss`. A
        sentence with a tag outside the vocabulary is left out of the loss. The metric counts the
        `gold_tags`, as strings, which are also returned.
        """
        emissions, mask, crf = logits
        output: dict[str, Any] = {"words": words}
        if not self.training:
            labels = self.vocab.get_index_to_token_vocabulary("labels")
            transitions = _constrained_transitions(crf)
            paths = viterbi(emissions, mask, *transitions)
            output["tags"] = [[labels[index] for index in path] for path in paths]
            output["logits"] = [emissions, *transitions]
        if tags is not None:
            # Shape: (sentences,)
            known = self.known_tags(tags, gold_tags).all(dim=1).nonzero().squeeze(1)
            output["loss"] = -crf(emissions[known], tags[known], mask[known])
            if not self.training and gold_tags is not None:
                output["gold_tags"] = gold_tags
                self.metric(output["tags"], gold_tags)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `entities`, each with its `type`, its `text`, the index `start` of its first word and
        `end` of the word after its last, and the `probability` of such an entity among all legal
        tags. In training, without tags, and for plain tags nothing is added.
        `logits` is removed: it is large, and nobody reads it.
        """
        logits = output_dict.pop("logits", None)
        if "tags" not in output_dict or not self.has_entities:
            return output_dict
        output_dict["entities"] = []
        for row, (words, tags) in enumerate(
            zip(output_dict["words"], output_dict["tags"], strict=True)
        ):
            spans = tags_to_spans(tags)
            emissions, *transitions = logits
            probabilities = self._probabilities(
                tags, spans, emissions[row, : len(tags)], *transitions
            )
            entities = zip(describe_spans(spans, words, "type"), probabilities, strict=True)
            output_dict["entities"].append(
                [entity | {"probability": part} for entity, part in entities]
            )
        return output_dict

    def _probabilities(
        self, tags: Sequence[str], spans: Sequence[Span], emissions: Tensor, *logits: Tensor
    ) -> list[float]:
        """
        Returns the part of each entity of a sentence in the sum of all legal sequences of tags.
        """
        indices = self.vocab.get_token_to_index_vocabulary("labels")
        transitions, first_tag, end = (each.double() for each in logits)
        # Shape: (1 + entities, time, tags), of all sequences and of those that have each entity.
        allowed = emissions.double().repeat(1 + len(spans), 1, 1)
        for row, (start, stop, kind) in enumerate(spans, start=1):
            allowed[row, start:stop] = -torch.inf
            path = [indices[tag] for tag in tags[start:stop]]
            allowed[row, range(start, stop), path] = allowed[0, range(start, stop), path]
            inner = indices.get(f"I-{kind}" if kind else "I")
            # BIO has no letter for the last word, so the entity may continue.
            if inner is not None and stop < len(tags):
                allowed[row, stop, inner] = -torch.inf
        sums = first_tag + allowed[:, 0]
        for word in allowed.unbind(dim=1)[1:]:
            sums = (sums.unsqueeze(2) + transitions).logsumexp(dim=1) + word
        totals = (sums + end).logsumexp(dim=1)
        return list((totals[1:] - totals[0]).exp().tolist())


def _constrained_transitions(crf: ConditionalRandomField) -> tuple[Tensor, Tensor, Tensor]:
    """
    Returns the logits of two tags in a row, of the first and of the last tag, with its constraints.
    """
    # The constraint mask has a row and a column for the start and the end of a sentence.
    start, end = crf.num_tags, crf.num_tags + 1
    illegal = crf._constraint_mask == 0
    return (
        crf.transitions.masked_fill(illegal[:start, :start], ILLEGAL),
        crf.start_transitions.masked_fill(illegal[start, :start], ILLEGAL),
        crf.end_transitions.masked_fill(illegal[:start, end], ILLEGAL),
    )


def _find_tag_encoding(tag_encoding: str | None, labels: Collection[str]) -> str:
    """Returns the encoding of a vocabulary's tags. Raises `ConfigurationError` if it is another."""
    if tag_encoding is not None:
        check_choice("tag_encoding", tag_encoding, ("BIO", "BIOUL", "plain"), ConfigurationError)
    tags = parse_tags(set(labels))
    if tag_encoding == "plain" or (tag_encoding is None and tags is None):
        return "plain"
    if tags is None:
        plain = next(label for label in labels if parse_tag(label) is None)
        raise ConfigurationError(
            f"ner_bilstm_crf: expected tags of entities, got {plain!r}; metric='+accuracy' trains "
            "on tags of any kind (tag_encoding: 'plain')"
        )
    letters = {tag.letter for tag in tags.values()} - {"O"}
    encoding = "BIOUL" if letters & {"L", "U"} else "BIO"  # in BIOUL every entity has an L or a U
    if letters and tag_encoding not in (encoding, None):
        raise ConfigurationError(
            f"ner_bilstm_crf: tag_encoding is {tag_encoding}, but the dataset reader's is "
            f"{encoding}"
        )
    return encoding if letters else tag_encoding or "plain"


_SPACES = re.compile(r"[ \t\n\r\f\v]+")


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
                       "start": 0, "end": 1, "probability": 0.97}, …]}

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
        instance.add_field(
            "text", MetadataField(None if "words" in json_dict else json_dict["sentence"])
        )
        return instance

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return list(map(self._as_read, instances, super().predict_batch_instance(instances)))

    def _as_read(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """Returns tags in the encoding of the training data, and entities with their characters."""
        if "entities" not in outputs:
            return outputs
        vocab = self._model.vocab
        known = vocab.get_namespaces() & {ENCODING_TAGS}
        encoding = (
            next(iter(vocab.get_token_to_index_vocabulary(ENCODING_TAGS)), "BIO")
            if known
            else "BIO"
        )
        for name in {"tags", "gold_tags"} & outputs.keys():
            tags = outputs[name]
            outputs[name] = spans_to_tags(tags_to_spans(tags), len(tags), encoding)
        text, places = typed_places(instance)
        for entity in outputs["entities"]:
            start, end = places[entity["start"]][0], places[entity["end"] - 1][1]
            entity |= {"start_char": start, "end_char": end, "characters": [start, end]}
            entity["text"] = text[start:end]
        return outputs

    @overrides
    def dump_line(self, outputs: JsonDict) -> str:
        if self._output_format == "json":
            return super().dump_line(outputs)
        return "\n".join([*self.format_lines(outputs), ""])

    def format_lines(self, outputs: JsonDict) -> list[str]:
        """Returns the columns of a prediction."""
        columns = [outputs["words"]]
        for tags in (outputs.get("gold_tags"), outputs["tags"]):
            if tags and "entities" in outputs:
                with_letters = [tag if parse_tag(tag) else f"I-{tag}" for tag in tags]
                tags = spans_to_tags(tags_to_spans(with_letters), len(tags), "BIO")
            columns += [tags] if tags else []
        lines = [
            " ".join(_SPACES.sub("_", field) for field in row) for row in zip(*columns, strict=True)
        ]
        return [*lines, ""]
