"""A tagger that finds the predicates of a sentence, and its predictor."""

from typing import Any

from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor
from allennlp.training.metrics import CategoricalAccuracy, F1Measure
from overrides import overrides
from torch import LongTensor, nn
from torch.nn import functional

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.srl.model import TagLogits, average_tag_logits
from elmo_plugin.tasks.task_model import TaskModel
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

PREDICATE = 1  # the class of a word that is a predicate; other words have the class 0


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
        # Class 1 (`PREDICATE`) is a predicate, and class 0 is any other word.
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), 2)
        self._accuracy = CategoricalAccuracy()
        self._f1 = F1Measure(positive_label=PREDICATE)
        self.initialize()

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> TagLogits:
        """Returns the two logits of each word."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        return TagLogits(self.tag_projection(encoded), mask)  # Shape: (batch, time, 2)

    def decode(
        self, logits: TagLogits, words: list[list[str]], tags: LongTensor | None = None, **_: Any
    ) -> dict[str, Any]:
        """
        Returns `words`, the `probabilities` that they are predicates, of shape (batch, time), and
        their `mask`. If the batch has the correct `tags`, of the same shape, also returns `loss`.
        """
        mask = logits.mask
        probabilities = logits.logits.softmax(dim=-1)  # Shape: (batch, time, 2)
        output: dict[str, Any] = {
            "words": words,
            "probabilities": probabilities[..., PREDICATE],
            "mask": mask,
        }
        if tags is not None:
            output["loss"] = functional.cross_entropy(logits.logits[mask], tags[mask])
            self._accuracy(logits.logits, tags, mask)
            self._f1(logits.logits, tags, mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds `predicates`, the indices of words that are more probably predicates than not. Takes
        the padding out of `probabilities`, and drops the `mask`, which only marked the padding.
        """
        predicates = []
        probabilities = []
        for row, mask in zip(output_dict["probabilities"], output_dict.pop("mask"), strict=True):
            is_predicate = (row > 0.5) & mask  # Shape: (time,)
            predicates.append(is_predicate.nonzero().flatten().tolist())
            probabilities.append(row[mask].tolist())
        output_dict["predicates"] = predicates
        output_dict["probabilities"] = probabilities
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy over words, and precision, recall and F1 of predicates."""
        f1 = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
        if self._accuracy.total_count > 0:  # without any words, AllenNLP's F1 raises an error
            f1 = self._f1.get_metric(reset)
        return {"accuracy": self._accuracy.get_metric(reset), **f1}


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
