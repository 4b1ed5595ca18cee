"""How AllenNLP's modules, and models trained with them, lay out the weights of a biLM.

A highway layer stacks its two matrices, and its gate weighs the input where ours weighs the transformed
input, so the signs differ. An LSTM orders its gates as input, forget, new, output (here input, new, forget,
output), and its bias includes the 1 that is added to the forget gate here at run time.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm_cell import FORGET_BIAS
from elmo_plugin.bilm.options import LstmOptions


class TensorMapping(NamedTuple):
    """
    theirs: name of a tensor of AllenNLP
    ours: names in `BiLm.state_dict()` of the tensors that it holds
    shape: of theirs, if readers have to check it
    to_ours, to_theirs: convert one tensor to as many as `ours` has names, and back
    """

    theirs: str
    ours: tuple[str, ...]
    shape: tuple[int, ...] = ()
    to_ours: Callable[[Tensor], Any] = lambda tensor: tensor
    to_theirs: Callable[..., Tensor] = lambda tensor: tensor

    def converted(self, values: Tensor) -> dict[str, Tensor]:
        """Returns our tensors, by name."""
        ours = self.to_ours(values)
        return dict(zip(self.ours, ours if len(self.ours) > 1 else (ours,), strict=True))


def highway_mappings(prefix: str, n_highway: int, dim: int) -> Iterator[TensorMapping]:
    """Yields the highway layers of a token encoder; `prefix` begins their names."""
    for k in range(n_highway):
        for kind, shape in (("weight", (2 * dim, dim)), ("bias", (2 * dim,))):
            ours = tuple(f"token_encoder.highways.{k}.{part}.{kind}" for part in ("transform", "carry"))
            yield TensorMapping(f"{prefix}.{k}.{kind}", ours, shape, split_highway, join_highway)


def lstm_mappings(prefix: str, sizes: LstmOptions) -> Iterator[TensorMapping]:
    """Yields the LSTMs of both directions; `prefix` begins their names."""
    gates = (4 * sizes.dim, sizes.projection_dim)
    projection = (sizes.projection_dim, sizes.dim)
    for direction in ("forward", "backward"):
        for n in range(sizes.n_layers):
            theirs, ours = f"{prefix}{direction}_layer_{n}", f"{direction}_lm.layers.{n}"
            for name, weight, shape, *conversions in (
                ("input_linearity.weight", "input_weight", gates, swap_gates, swap_gates),
                ("state_linearity.weight", "recurrent_weight", gates, swap_gates, swap_gates),
                ("state_linearity.bias", "bias", gates[:1], bias_from_allennlp, bias_to_allennlp),
                ("state_projection.weight", "projection_weight", projection),
            ):
                yield TensorMapping(f"{theirs}.{name}", (f"{ours}.{weight}",), shape, *conversions)


def split_highway(joined: Tensor) -> tuple[Tensor, Tensor]:
    """Splits AllenNLP's weight or bias into transform and carry."""
    transform, carry = joined.chunk(2)
    return transform, -carry


def join_highway(transform: Tensor, carry: Tensor) -> Tensor:
    """Undoes `split_highway`."""
    return torch.cat([transform, -carry])


def swap_gates(gates: Tensor) -> Tensor:
    """Reorders the rows of a weight, from AllenNLP's order to ours or back."""
    first, second, third, last = gates.chunk(4)
    return torch.cat([first, third, second, last])


def bias_from_allennlp(bias: Tensor) -> Tensor:
    """Reorders an LSTM's bias, and subtracts the forget gate's 1."""
    first, forget, new, last = bias.chunk(4)
    return torch.cat([first, new, forget - FORGET_BIAS, last])


def bias_to_allennlp(bias: Tensor) -> Tensor:
    """Undoes `bias_from_allennlp`."""
    first, new, forget, last = bias.chunk(4)
    return torch.cat([first, forget + FORGET_BIAS, new, last])
