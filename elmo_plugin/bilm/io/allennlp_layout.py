"""How AllenNLP's modules, and the models that were trained with them, arrange the numbers of a biLM.

A highway layer has its two matrices one above the other, and its gate weighs the input, where ours weighs
the transformed input: the signs differ. The gates of an LSTM lie in the order input, forget, new, output
(here input, new, forget, output), and the forget gate's bias includes the 1 that is added here at run time.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import FORGET_BIAS
from elmo_plugin.bilm.options import LstmOptions


class Entry(NamedTuple):
    """
    A tensor of theirs: its name, the names of ours (of `BiLm.state_dict()`) that it holds, its shape, where
    readers have to check it, and how its values become ours and ours become its.
    """

    theirs: str
    ours: tuple[str, ...]
    shape: tuple[int, ...] = ()
    to_ours: Callable[[Tensor], Any] = lambda tensor: tensor  # as many tensors as `ours` has names
    to_theirs: Callable[..., Tensor] = lambda tensor: tensor

    def converted(self, values: Tensor) -> dict[str, Tensor]:
        """Returns ours, by their names."""
        ours = self.to_ours(values)
        return dict(zip(self.ours, ours if len(self.ours) > 1 else (ours,), strict=True))


def highway_entries(theirs: str, number: int, dim: int) -> Iterator[Entry]:
    """Yields the highway layers of a token encoder, whose names begin with `theirs`, from dim to dim."""
    for k in range(number):
        for kind, shape in (("weight", (2 * dim, dim)), ("bias", (2 * dim,))):
            ours = tuple(f"token_encoder.highways.{k}.{part}.{kind}" for part in ("transform", "carry"))
            yield Entry(f"{theirs}.{k}.{kind}", ours, shape, split_highway, join_highway)


def lstm_entries(theirs: str, sizes: LstmOptions) -> Iterator[Entry]:
    """Yields the LSTMs of both directions; `theirs` is what comes before their names."""
    gates = (4 * sizes.dim, sizes.projection_dim)
    for direction in ("forward", "backward"):
        for number in range(sizes.n_layers):
            there, here = f"{theirs}{direction}_layer_{number}", f"{direction}_lm.layers.{number}"
            for name, ours in (("input", f"{here}.input_weight"), ("state", f"{here}.recurrent_weight")):
                yield Entry(f"{there}.{name}_linearity.weight", (ours,), gates, swap_gates, swap_gates)
            name, ours = f"{there}.state_linearity.bias", f"{here}.bias"
            yield Entry(name, (ours,), gates[:1], bias_from_allennlp, bias_to_allennlp)
            name, ours = f"{there}.state_projection.weight", f"{here}.projection_weight"
            yield Entry(name, (ours,), (sizes.projection_dim, sizes.dim))


def split_highway(joined: Tensor) -> tuple[Tensor, Tensor]:
    """Splits their weight or bias into transform and carry."""
    transform, carry = joined.chunk(2)
    return transform, -carry


def join_highway(transform: Tensor, carry: Tensor) -> Tensor:
    """Undoes `split_highway`."""
    return torch.cat([transform, -carry])


def swap_gates(gates: Tensor) -> Tensor:
    """Reorders the rows of a weight, from theirs to ours or back."""
    first, second, third, last = gates.chunk(4)
    return torch.cat([first, third, second, last])


def bias_from_allennlp(bias: Tensor) -> Tensor:
    """Converts the bias of an LSTM from theirs to ours."""
    first, forget, new, last = bias.chunk(4)
    return torch.cat([first, new, forget - FORGET_BIAS, last])


def bias_to_allennlp(bias: Tensor) -> Tensor:
    """Undoes `bias_from_allennlp`."""
    first, new, forget, last = bias.chunk(4)
    return torch.cat([first, forget + FORGET_BIAS, new, last])
