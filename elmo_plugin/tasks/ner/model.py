"""The named entity tagger of Peters et al. (2018): biLSTM layers and a CRF."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules.conditional_random_field import ConditionalRandomField, allowed_transitions
from allennlp.training.metrics import CategoricalAccuracy, SpanBasedF1Measure
from overrides import overrides
from torch import BoolTensor, LongTensor, Tensor, nn

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.ner.tags import tags_to_spans


class TagScores(NamedTuple):
    """
    emissions: of each tag for each word, shape (batch, time, tags)
    mask: (batch, time), true at the words
    crf: has the scores of tags that follow one another
    """

    emissions: Tensor
    mask: BoolTensor
    crf: ConditionalRandomField


@Model.register("ner_bilstm_crf")
class NerBiLstmCrf(Model):
    """
    Words, their characters and ELMo, in a contextual encoder; one linear layer to a score for each tag; a
    CRF over the tags (Lample et al., 2016), which never predicts an illegal sequence of them.

    Registered as a `Model` with name "ner_bilstm_crf".

    # Parameters

    vocab : `Vocabulary`
        With the tags in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The encoding of the tags, "BIO" or "BIOUL": the same as in the dataset reader.
    """

    default_predictor = "elmo_ner"

    def __init__(
        self,
        vocab: Vocabulary,
        contextual_encoder: ContextualEncoder,
        tag_encoding: str = "BIOUL",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        labels = vocab.get_index_to_token_vocabulary("labels")
        _check_tag_encoding(tag_encoding, labels.values())
        self.contextual_encoder = contextual_encoder
        self.tag_scores = nn.Linear(contextual_encoder.get_output_dim(), len(labels))
        self.crf = ConditionalRandomField(len(labels), allowed_transitions(tag_encoding, labels))
        self._tag_encoding = tag_encoding
        self._accuracy = CategoricalAccuracy()
        self._span_f1 = SpanBasedF1Measure(vocab, "labels", label_encoding=tag_encoding)

    def forward(
        self, tokens: TextFieldTensors, words: list[list[str]], tags: LongTensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            The sentences, of shape (batch, time).
        words : `list[list[str]]`
            Their words.
        tags : `LongTensor | None`, optional (default = `None`)
            The number of the right tag of each word, shape (batch, time).

        # Returns

        `dict[str, Any]`
            `words`, `tags` (per sentence the numbers of the tags that the CRF finds best) and, where the
            right tags are given, `loss` (the negative log-likelihood of a sentence, on average).
        """
        return self.decode(self.scores(tokens), words, tags)

    def scores(self, tokens: TextFieldTensors) -> TagScores:
        """All that the tags are found by."""
        encoded, mask = self.contextual_encoder(tokens)
        return TagScores(self.tag_scores(encoded), mask, self.crf)

    @staticmethod
    def average_scores(scores: Sequence[TagScores]) -> TagScores:
        """The mean of all potentials: of a tag, of two tags in a row, of the first and of the last tag."""
        first = scores[0]
        emissions = torch.stack([each.emissions for each in scores]).mean(dim=0)
        crf = copy.deepcopy(first.crf)
        states = [each.crf.state_dict() for each in scores]
        crf.load_state_dict({name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]})
        return TagScores(emissions, first.mask, crf)

    def decode(
        self, scores: TagScores, words: list[list[str]], tags: LongTensor | None = None
    ) -> dict[str, Any]:
        """What `forward` returns, from scores. It also measures."""
        emissions, mask, crf = scores
        best_paths = cast(list[tuple[list[int], float]], crf.viterbi_tags(emissions, mask))
        predicted = [path for path, _ in best_paths]
        output: dict[str, Any] = {"words": words, "tags": predicted}
        if tags is not None:
            output["loss"] = -crf(emissions, tags, mask) / len(words)
            one_hot = _one_hot(predicted, emissions)
            self._accuracy(one_hot, tags, mask)
            self._span_f1(one_hot, tags, mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Turns the numbers of the tags into tags, and adds `entities`: for each its `type`, its `text`, its
        first word `start` and the word behind its last `end`.
        """
        tags = [
            [self.vocab.get_token_from_index(number, "labels") for number in numbers]
            for numbers in output_dict["tags"]
        ]
        output_dict["tags"] = tags
        output_dict["entities"] = [
            [
                {"type": kind, "start": first, "end": last + 1, "text": " ".join(words[first : last + 1])}
                for kind, (first, last) in tags_to_spans(sentence_tags, self._tag_encoding)
            ]
            for words, sentence_tags in zip(output_dict["words"], tags, strict=True)
        ]
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Accuracy over words; precision, recall and F1 of whole entities as conlleval counts them, overall and
        for each type. The latter's names begin with `_`, which keeps them out of the progress bar.
        """
        spans = self._span_f1.get_metric(reset)
        return {"accuracy": self._accuracy.get_metric(reset)} | {
            name if name.endswith("-overall") else f"_{name}": value for name, value in spans.items()
        }


def _check_tag_encoding(tag_encoding: str, labels: Iterable[str]) -> None:
    if tag_encoding not in ("BIO", "BIOUL"):
        raise ConfigurationError(f"ner_bilstm_crf: tag_encoding is BIO or BIOUL, not {tag_encoding!r}")
    prefixes = {label[0] for label in labels if label != "O"}
    found = "BIOUL" if prefixes & {"L", "U"} else "BIO"  # in BIOUL every entity has an L or a U
    if prefixes and found != tag_encoding:
        raise ConfigurationError(
            f"ner_bilstm_crf: tag_encoding is {tag_encoding}, but the dataset reader's is {found}"
        )


def _one_hot(paths: list[list[int]], emissions: Tensor) -> Tensor:
    """Shape (batch, time, tags), like `emissions`, with ones at the tags of `paths`: what metrics read."""
    one_hot = torch.zeros_like(emissions)
    for row, path in enumerate(paths):
        one_hot[row, range(len(path)), path] = 1.0
    return one_hot
