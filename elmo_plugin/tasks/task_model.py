"""What all task models share: how they are called, initialized and loaded."""

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import torch
from allennlp.models import Model
from allennlp.nn import InitializerApplicator
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import check_all_finite

Logits = TypeVar("Logits")


class TaskModel(Model):
    """
    The base of the task models. Its `forward` is `decode(compute_logits(…), …)`, where each of the two takes
    those fields of a batch that its parameters are named after. An `Ensemble` averages between the two.

    A subclass has these three, and ends its constructor with `self.initialize(initializer)`:

    compute_logits: returns all that an ensemble averages, in whatever form
    average_logits: returns one such form from those of several models; often `average_probabilities`
    decode: returns the output for logits, and updates the metrics where the right answers are given
    """

    compute_logits: Callable[..., Any]
    average_logits: Callable[..., Any]
    decode: Callable[..., dict[str, Any]]

    def forward(self, **fields: Any) -> dict[str, Any]:  # type: ignore[override]
        """Returns the output of `decode` for the fields of a batch."""
        return self.decode(self.logits_of_batch(fields), **accepted_by(self.decode, fields))

    def logits_of_batch(self, fields: Mapping[str, Any]) -> Any:
        """Returns what `compute_logits` returns for the fields of a batch, see `in_float32`."""
        return in_float32(self.compute_logits(**accepted_by(self.compute_logits, fields)))

    def initialize(self, initializer: InitializerApplicator | None) -> None:
        """
        Gives initial values to the parameters whose names match a regex of `initializer`, such as
        "contextual_encoder.encoder.*weight_hh" or "output_logits.weight". `named_parameters()` has the names.

        The parameters of a biLM keep their values, whatever matches them, and so does all that is frozen,
        such as word vectors with `trainable: false`.
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
    Returns logits in float32, those in float64 as they are: a tensor, the tensors of a named tuple, or those
    of a list. Under autocast a layer computes them in 16 bits, which are too few for what losses and decoders
    add up, and numpy has no bfloat16.
    """
    if isinstance(logits, list):
        return cast(Logits, [in_float32(each) for each in logits])
    if isinstance(logits, tuple):
        fields = cast(Any, logits)._asdict()
        tensors = {name: in_float32(value) for name, value in fields.items() if isinstance(value, Tensor)}
        return cast(Any, logits)._replace(**tensors)
    if isinstance(logits, Tensor) and logits.is_floating_point():
        return cast(Logits, logits.to(torch.promote_types(logits.dtype, torch.float)))
    return logits


def accepted_by(function: Callable[..., Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those fields that `function` has a parameter for."""
    return {name: fields[name] for name in inspect.signature(function).parameters if name in fields}
