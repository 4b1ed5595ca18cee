"""A tagger of the predicates of a sentence, trained on the same files as the role labeller."""

from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.nn import InitializerApplicator
from allennlp.predictors import Predictor
from allennlp.training.metrics import CategoricalAccuracy, F1Measure
from overrides import overrides
from torch import LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.encoders import ContextualEncoder
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.srl.model import TagLogits, average_tag_logits
from elmo_plugin.tasks.task_model import TaskModel
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

PREDICATE = 1  # the index of the tag of a predicate; other words have 0


@Model.register("srl_predicates")
class SrlPredicates(TaskModel):
    """
    Decides for each word, from its vector in context, whether it is a predicate. The loss is the cross
    entropy, the mean over all words of a batch.

    Registered as a `Model` with name "srl_predicates".

    # Parameters

    vocab : `Vocabulary`
        The vocabulary of the words.
    contextual_encoder : `ContextualEncoder`
        From the words to vectors in context.
    initializer : `InitializerApplicator`, optional (default = `None`)
        Initial values of parameters.
    """

    default_predictor = "elmo_srl_predicates"
    average_logits = staticmethod(average_tag_logits)

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        contextual_encoder: ContextualEncoder,
        initializer: InitializerApplicator = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.contextual_encoder = contextual_encoder
        self.tag_projection = nn.Linear(contextual_encoder.get_output_dim(), 2)
        self._accuracy = CategoricalAccuracy()
        self._f1 = F1Measure(positive_label=PREDICATE)
        self.initialize(initializer)

    def compute_logits(self, tokens: TextFieldTensors, **_: Any) -> TagLogits:
        """Returns the two logits of each word."""
        encoded, mask = self.contextual_encoder(tokens)  # Shape: (batch, time, dim)
        return TagLogits(self.tag_projection(encoded), mask)

    def decode(
        self, logits: TagLogits, words: list[list[str]], tags: LongTensor | None = None, **_: Any
    ) -> dict[str, Any]:
        """
        Returns `words`, the `probabilities` of each to be a predicate, of shape (batch, time), `mask` and, if
        the batch has the correct tags, of the same shape, `loss`.
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
        mask, probabilities = output_dict.pop("mask"), output_dict["probabilities"]
        output_dict["predicates"] = [torch.where(row)[0].tolist() for row in (probabilities > 0.5) & mask]
        output_dict["probabilities"] = [
            row[known].tolist() for row, known in zip(probabilities, mask, strict=True)
        ]
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy over words, and precision, recall and F1 of predicates."""
        counted = self._accuracy.total_count > 0  # else AllenNLP's F1 raises an error
        f1 = self._f1.get_metric(reset) if counted else dict.fromkeys(("precision", "recall", "f1"), 0.0)
        return {"accuracy": self._accuracy.get_metric(reset), **f1}


@Predictor.register("elmo_srl_predicates")
class SrlPredicatesPredictor(SentencePredictor):
    """
    Finds the predicates of `{"sentence": "She wants to leave."}`, or of a list of words as `"words"`. A
    prediction has the `words`, the indices of the `predicates`, and the `probabilities` of all words to be
    one.

    Registered as a `Predictor` with name "elmo_srl_predicates".
    """

    name = "elmo_srl_predicates"
    default_tokenizer = SpacyRulesTokenizer
