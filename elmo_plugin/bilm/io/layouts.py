"""Tables between the tensors of `BiLm.state_dict()` and those of other implementations.

AllenNLP, and models trained with it: a highway layer stacks its two matrices, and its gate weighs
the input where ours weighs the transformed input, so the signs differ. An LSTM orders its gates as
input, forget, new, output (here input, new, forget, output), and its bias includes the 1 that is
added to the forget gate here at run time.

The published HDF5 files:

token_encoder.character_embedding.weight      char_embed, without the row of the padding
token_encoder.convolutions.{i}.weight, .bias  CNN/W_cnn_{i}, CNN/b_cnn_{i}
token_encoder.highways.{k}.transform          CNN_high_{k}/W_transform, b_transform
token_encoder.highways.{k}.carry              CNN_high_{k}/W_carry, b_carry
token_encoder.projection.weight, .bias        CNN_proj/W_proj, b_proj
forward_lm.layers.{l}.*                       RNN_0/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0
backward_lm.layers.{l}.*                      RNN_1/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0

bilm-tf writes the only layer of an LSTM as RNN_0/RNN/LSTMCell/W_0, B and W_P_0.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.lstm_cell import FORGET_BIAS
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions, LstmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.torch_files import check_all_finite


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


def convert(
    state: Mapping[str, Any], mappings: Iterable[TensorMapping], name: str
) -> dict[str, Tensor]:
    """
    Returns our tensors, as float32. Raises `BiLmError`, beginning with `name`, unless the state has
    theirs, of the right shapes, without NaN or infinite numbers, and no others.
    """
    ours: dict[str, Tensor] = {}
    expected = set()
    for mapping in mappings:
        expected.add(tensor := mapping.theirs)
        values = state.get(tensor)
        if not isinstance(values, Tensor):
            raise BiLmError(f"{name}: the tensor {tensor} is missing, but required by the options")
        if values.shape != mapping.shape:
            found = tuple(values.shape)
            raise BiLmError(
                f"{name}: the tensor {tensor} has the shape {found}, expected {mapping.shape}"
            )
        ours |= mapping.converted(values.float())
    for tensor in state:
        if tensor not in expected:
            raise BiLmError(f"{name}: unexpected tensor {tensor}")
    check_all_finite(ours.items(), name)
    return ours


def highway_mappings(prefix: str, n_highway: int, dim: int) -> Iterator[TensorMapping]:
    """Yields the highway layers of a token encoder; `prefix` begins their names."""
    for k in range(n_highway):
        for kind, shape in (("weight", (2 * dim, dim)), ("bias", (2 * dim,))):
            ours = tuple(
                f"token_encoder.highways.{k}.{part}.{kind}" for part in ("transform", "carry")
            )
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


def hdf5_mappings(options: BiLmOptions) -> Iterator[TensorMapping]:
    """Yields all datasets of a biLM of these sizes."""
    cnn, lstm = options.char_cnn, options.lstm
    if isinstance(cnn, LexiconCnnOptions):
        raise BiLmError("the published layout cannot hold the lexicons of ELMoForManyLangs")
    encoder = "token_encoder"
    embedding = (f"{encoder}.character_embedding.weight",)
    rows = (NUM_CHARACTERS - 1, cnn.embedding_dim)
    yield TensorMapping("char_embed", embedding, rows, _add_padding, lambda rows: rows[1:])
    for i, (width, n) in enumerate(cnn.filters):
        filters, bias = (
            (f"{encoder}.convolutions.{i}.weight",),
            (f"{encoder}.convolutions.{i}.bias",),
        )
        windows = (1, width, cnn.embedding_dim, n)
        # Ours: (filters, dim, width)
        to_ours, to_theirs = lambda w: w[0].permute(2, 1, 0), lambda w: w.permute(2, 1, 0)[None]
        yield TensorMapping(f"CNN/W_cnn_{i}", filters, windows, to_ours, to_theirs)
        yield TensorMapping(f"CNN/b_cnn_{i}", bias, (n,))
    for k in range(cnn.n_highway):
        for part in ("transform", "carry"):
            ours, sizes = f"{encoder}.highways.{k}.{part}", (cnn.n_filters, cnn.n_filters)
            yield from _linear(f"CNN_high_{k}", part, ours, sizes)
    yield from _linear(
        "CNN_proj", "proj", f"{encoder}.projection", (cnn.n_filters, lstm.projection_dim)
    )
    for direction, lm in enumerate(("forward_lm", "backward_lm")):
        for number in range(lstm.n_layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            layer = f"{lm}.layers.{number}"
            gates = (f"{layer}.input_weight", f"{layer}.recurrent_weight")
            shape = (2 * lstm.projection_dim, 4 * lstm.dim)
            yield TensorMapping(f"{cell}/W_0", gates, shape, _split_gates, _join_gates)
            yield TensorMapping(f"{cell}/B", (f"{layer}.bias",), shape[1:])
            shape = (lstm.dim, lstm.projection_dim)
            yield TensorMapping(
                f"{cell}/W_P_0", (f"{layer}.projection_weight",), shape, torch.t, torch.t
            )


def only_layer_name(name: str) -> str:
    """
    Returns what bilm-tf calls a dataset if the LSTM is the only layer of its direction. Names of
    other datasets stay the same.
    """
    return name.replace("/MultiRNNCell/Cell0/", "/")


def is_lstm_bias(name: str) -> bool:
    """Returns whether this dataset of a published file is the bias of an LSTM layer."""
    return name.endswith("/LSTMCell/B")


def default_projection(name: str, options: BiLmOptions) -> np.ndarray | None:
    """
    Returns the identity for a projection that bilm-tf leaves out because it does not change the
    size.
    """
    size = options.lstm.projection_dim
    input_size = options.lstm.dim if name.endswith("W_P_0") else options.char_cnn.n_filters
    if input_size != size or not name.endswith(("W_P_0", "W_proj", "b_proj")):
        return None
    return np.zeros(size, np.float32) if name.endswith("b_proj") else np.eye(size, dtype=np.float32)


def _linear(group: str, name: str, ours: str, sizes: tuple[int, int]) -> Iterator[TensorMapping]:
    yield TensorMapping(f"{group}/W_{name}", (f"{ours}.weight",), sizes, torch.t, torch.t)
    yield TensorMapping(f"{group}/b_{name}", (f"{ours}.bias",), sizes[1:])


def _add_padding(rows: Tensor) -> Tensor:
    return torch.cat([rows.new_zeros(1, rows.size(1)), rows])


def _split_gates(gates: Tensor) -> tuple[Tensor, ...]:
    return gates.t().chunk(2, dim=1)


def _join_gates(inputs: Tensor, recurrent: Tensor) -> Tensor:
    return torch.cat([inputs, recurrent], dim=1).t()
