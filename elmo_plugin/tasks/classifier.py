"""What the classifiers share: from the logits of labels to loss, accuracy and predictions in words."""

from typing import Any

from allennlp.data import Vocabulary
from allennlp.training.metrics import CategoricalAccuracy
from overrides import overrides
from torch import LongTensor, Tensor
from torch.nn import functional

from elmo_plugin.tasks.ensemble import average_probabilities
from elmo_plugin.tasks.task_model import TaskModel


class Classifier(TaskModel):
    """
    The base of models that choose one label for each instance, from the namespace "labels" of the vocabulary.
    A subclass has `compute_logits`.
    """

    average_logits = staticmethod(average_probabilities)

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        self._accuracy = CategoricalAccuracy()

    def decode(
        self, logits: Tensor, label: LongTensor | None = None, words: list[list[str]] | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        logits : `Tensor`
            Of the labels, shape (batch, labels).
        label : `LongTensor | None`, optional (default = `None`)
            The index of the right label, shape (batch,).
        words : `list[list[str]] | None`, optional (default = `None`)
            The words of each instance, for the output.

        # Returns

        `dict[str, Any]`
            `logits` and `probs`, both of shape (batch, labels), `words` if they are given, and `loss`, the
            mean cross entropy, if the right labels are given.
        """
        output: dict[str, Any] = {} if words is None else {"words": words}
        output |= {"logits": logits, "probs": logits.softmax(dim=-1)}
        if label is not None:
            output["loss"] = functional.cross_entropy(logits, label)
            self._accuracy(logits, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `label`, the most probable one, and `probabilities`, by the names of the labels."""
        labels = self.vocab.get_index_to_token_vocabulary("labels")
        output_dict["probabilities"] = [
            {labels[index]: probability for index, probability in enumerate(row)}
            for row in output_dict["probs"].tolist()
        ]
        output_dict["label"] = [max(row, key=row.__getitem__) for row in output_dict["probabilities"]]
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy since the last reset."""
        return {"accuracy": self._accuracy.get_metric(reset)}
