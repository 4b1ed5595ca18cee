"""The base of all task models: running, metrics, initialization and loading."""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar, cast

import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn import InitializerApplicator
from allennlp.training.metrics import CategoricalAccuracy
from torch import LongTensor, Tensor, nn
from torch.nn import functional

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import check_all_finite

Logits = TypeVar("Logits")


class TaskModel(Model):
    """
    The base of the task models. Its `forward` is `decode(compute_logits(…), …)`. Both get all fields of a
    batch by name and take the rest as `**_`. An `Ensemble` averages between the two.

    A subclass has these three, and ends its constructor with `self.initialize(initializer)`:

    compute_logits: returns all that an ensemble averages, in any form
    average_logits: returns one such form from the forms of several models; often `average_probabilities`
    decode: returns the output for logits, and updates `self.metric` if the batch has the correct answers

    If nothing is predicted in training, metrics are left out. The progress bar shows only the figures whose
    names end in one of `progress_figures`; the names of the others begin with `_`.
    """

    compute_logits: Callable[..., Any]
    average_logits: Callable[..., Any]
    decode: Callable[..., dict[str, Any]]
    metric: Any  # of training and evaluation, a `Metric`
    progress_figures: ClassVar[tuple[str, ...]] = ("",)

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """Returns the output of `decode` for the fields of a batch."""
        return self.decode(in_float32(self.compute_logits(**fields)), **fields)

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the figures since the last reset; none in training."""
        if self.training:
            return {}
        return {
            name if name.endswith(self.progress_figures) else f"_{name}": figure
            for name, figure in self.metric.get_metric(reset).items()
        }

    def initialize(self, initializer: InitializerApplicator | None) -> None:
        """
        Initializes the parameters whose names match a regex of `initializer`, such as
        "contextual_encoder.encoder.*weight_hh" or "output_logits.weight". `named_parameters()` has the names.

        The parameters of a biLM and frozen parameters, such as word vectors with `trainable: false`, keep
        their values.
        """
        if initializer is None:
            return
        bilms = [module for module in self.modules() if isinstance(module, BiLm)]
        pretrained = {id(parameter) for bilm in bilms for parameter in bilm.parameters()}
        parameters = [
            (name, parameter)
            for name, parameter in self.named_parameters()
            if parameter.requires_grad and id(parameter) not in pretrained
        ]
        # The initializer uses only the `named_parameters` of a module.
        initializer(cast(nn.Module, SimpleNamespace(named_parameters=lambda: parameters)))

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any) -> None:
        with as_configuration_error():
            check_all_finite(item for item in state_dict.items() if item[0].startswith(prefix))
        super()._load_from_state_dict(state_dict, prefix, *args)


def in_float32(logits: Logits) -> Logits:
    """
    Converts 16-bit logits: a tensor, a named tuple with tensors, or a list. Under autocast, layers compute
    them in 16 bits. Losses and decoders need more for their sums, and numpy lacks bfloat16.
    """
    if isinstance(logits, list):
        return cast(Logits, [in_float32(item) for item in logits])
    if isinstance(logits, tuple):
        fields = cast(Any, logits)._asdict()
        tensors = {name: in_float32(value) for name, value in fields.items() if isinstance(value, Tensor)}
        return cast(Any, logits)._replace(**tensors)
    if isinstance(logits, Tensor) and logits.is_floating_point():
        return cast(Logits, logits.to(torch.promote_types(logits.dtype, torch.float)))
    return logits


def average_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """Returns the logarithm of the mean of the models' probabilities, each a softmax over the last dim."""
    return torch.stack(list(logits)).log_softmax(dim=-1).logsumexp(dim=0) - math.log(len(logits))


class Classifier(TaskModel):
    """
    The base of models that choose one label for each instance, from the namespace "labels" of the vocabulary.
    A subclass has `compute_logits`; it returns a tensor of shape (batch, labels).
    """

    average_logits = staticmethod(average_probabilities)

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        self.metric = CategoricalAccuracy()

    def decode(
        self, logits: Tensor, label: LongTensor | None = None, words: list[list[str]] | None = None, **_: Any
    ) -> dict[str, Any]:
        """
        Returns `logits` and `probs`, both of shape (batch, labels), the `words` of the batch if it has them,
        and `loss`, the mean cross entropy, if it has the correct labels, of shape (batch,).
        """
        output: dict[str, Any] = {} if words is None else {"words": words}
        output |= {"logits": logits, "probs": logits.softmax(dim=-1)}
        if label is not None:
            output["loss"] = functional.cross_entropy(logits, label)
            self.metric(logits, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `label`, the most probable one, and `probabilities` by the names of labels, for `probs`."""
        labels = self.vocab.get_index_to_token_vocabulary("labels")
        output_dict["probabilities"] = [
            {labels[index]: probability for index, probability in enumerate(row)}
            for row in output_dict.pop("probs").tolist()
        ]
        output_dict["label"] = [max(row, key=row.__getitem__) for row in output_dict["probabilities"]]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy since the last reset."""
        return {"accuracy": self.metric.get_metric(reset)}
