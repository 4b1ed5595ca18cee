"""The named entity tagger of Peters et al. (2018): biLSTM layers and a CRF; and its predictor."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules.conditional_random_field import ConditionalRandomField, allowed_transitions
from allennlp.nn import InitializerApplicator
from allennlp.predictors import Predictor
from torch import BoolTensor, LongTensor, Tensor, nn

from elmo_plugin.encoders import ContextualEncoder, viterbi
from elmo_plugin.tasks.dataset_reader import UNKNOWN_TAG
from elmo_plugin.tasks.ner.metrics import NerF1
from elmo_plugin.tasks.ner.tags import tags_to_spans
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.task_model import TaskModel
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

ILLEGAL = -10_000.0  # AllenNLP's logit of an illegal transition: finite, as there may be no legal one


class CrfLogits(NamedTuple):
    """The logits of each tag for each word, and a CRF with the logits of tags that follow one another."""

    emissions: Tensor  # Shape: (batch, time, tags)
    mask: BoolTensor  # Shape: (batch, time)
    crf: ConditionalRandomField


@Model.register("ner_bilstm_crf")
class NerBiLstmCrf(TaskModel):
    """
    Tags words by a contextual encoder of words, their characters and ELMo, one linear layer to a logit for
    each tag, and a CRF over the tags (Lample et al., 2016) that never predicts an illegal sequence of them.

    The loss is the negative log-likelihood of the tags, summed over the sentences of the batch as in
    AllenNLP's `crf_tagger`. The paper's λ of ELMo's mixing weights is relative to this sum.

    Registered as a `Model` with name "ner_bilstm_crf".

    # Parameters

    vocab : `Vocabulary`
        With the tags in the namespace "labels".
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The encoding of the tags, "BIO" or "BIOUL": the same as in the dataset reader.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters, see `TaskModel.initialize`.

    Raises `ConfigurationError` if the tags in `vocab` are in another encoding.
    """

    default_predictor = "elmo_ner"
    progress_figures = ("accuracy", "-overall")

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        tag_encoding: str = "BIOUL",
        initializer: InitializerApplicator = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        labels = vocab.get_index_to_token_vocabulary("labels")
        _check_tag_encoding(tag_encoding, labels.values())
        self.contextual_encoder = contextual_encoder
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), len(labels))
        self.crf = ConditionalRandomField(len(labels), allowed_transitions(tag_encoding, labels))
        self._tag_encoding = tag_encoding
        self.metric = NerF1()
        self.initialize(initializer)

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> CrfLogits:
        """Returns the logits of tags and of their transitions, for sentences of shape (batch, time)."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        return CrfLogits(self.tag_projection(encoded), mask, self.crf)

    @staticmethod
    def average_logits(logits: Sequence[CrfLogits]) -> CrfLogits:
        """Returns the mean of all logits: of a tag, of two tags in a row, of the first and the last tag."""
        emissions, masks, crfs = zip(*logits, strict=True)
        crf = copy.deepcopy(crfs[0])
        states = [member.state_dict() for member in crfs]
        crf.load_state_dict({name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]})
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
        Returns the `words` of each sentence, the best `tags`, except in training, and, if the batch has the
        indices of the correct tags, of shape (batch, time), `loss`. A sentence with a tag that the vocabulary
        lacks is left out of the loss. The metric counts the `gold_tags`, as strings.
        """
        emissions, mask, crf = logits
        output: dict[str, Any] = {"words": words}
        if not self.training:
            labels = self.vocab.get_index_to_token_vocabulary("labels")
            paths = viterbi(emissions, mask, *_constrained_transitions(crf))
            output["tags"] = [[labels[index] for index in path] for path in paths]
        if tags is not None:
            known = (tags != UNKNOWN_TAG).all(dim=1).nonzero().squeeze(1)  # Shape: (sentences,)
            output["loss"] = -crf(emissions[known], tags[known], mask[known])
            if not self.training and gold_tags is not None:
                self.metric(output["tags"], gold_tags)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `entities`, each with its `type`, its `text`, the index `start` of its first word and `end` of
        the word after its last. In training, without tags, nothing is added.
        """
        if "tags" not in output_dict:
            return output_dict
        output_dict["entities"] = [
            [
                {"type": kind, "start": first, "end": last + 1, "text": " ".join(words[first : last + 1])}
                for kind, (first, last) in tags_to_spans(sentence_tags, self._tag_encoding)
            ]
            for words, sentence_tags in zip(output_dict["words"], output_dict["tags"], strict=True)
        ]
        return output_dict


def _constrained_transitions(crf: ConditionalRandomField) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the logits of two tags in a row, of the first and of the last tag, with its constraints."""
    start, end = crf.num_tags, crf.num_tags + 1  # in the mask
    illegal = crf._constraint_mask == 0
    return (
        crf.transitions.masked_fill(illegal[:start, :start], ILLEGAL),
        crf.start_transitions.masked_fill(illegal[start, :start], ILLEGAL),
        crf.end_transitions.masked_fill(illegal[:start, end], ILLEGAL),
    )


def _check_tag_encoding(tag_encoding: str, labels: Iterable[str]) -> None:
    if tag_encoding not in ("BIO", "BIOUL"):
        raise ConfigurationError(f"ner_bilstm_crf: tag_encoding is BIO or BIOUL, not {tag_encoding!r}")
    prefixes = {label[0] for label in labels if label != "O"}
    encoding = "BIOUL" if prefixes & {"L", "U"} else "BIO"  # in BIOUL every entity has an L or a U
    if prefixes and encoding != tag_encoding:
        raise ConfigurationError(
            f"ner_bilstm_crf: tag_encoding is {tag_encoding}, but the dataset reader's is {encoding}"
        )


@Predictor.register("elmo_ner")
class NerPredictor(SentencePredictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, tokenized by spaCy's rules for English,
    or of a list of words, `{"tokens": ["Ada", "lives", "in", "Rome", "."]}`. `SentencePredictor` has the
    details and the parameters. A prediction has the `words`, their `tags`, and the `entities`, each with its
    type, its text, the index of its first word and of the word after its last:

        {"words": ["Ada", "lives", "in", "Rome", "."], "tags": ["U-PER", "O", "O", "U-LOC", "O"],
         "entities": [{"type": "PER", "start": 0, "end": 1, "text": "Ada"}, …]}

    Registered as a `Predictor` with name "elmo_ner".
    """

    name = "elmo_ner"
    default_tokenizer = SpacyRulesTokenizer
