"""Tables between the tensors of `BiLm.state_dict()` and those of other implementations, read in
both directions.

AllenNLP, and models trained with it: a highway layer stacks its two matrices, and its gate weighs
the input where ours weighs the transformed input, so the signs differ. An LSTM orders its gates as
input, forget, new, output (here input, new, forget, output), and its bias includes the 1 that is
added to the forget gate here at run time.

bilm-tf writes the only layer of an LSTM as RNN_0/RNN/LSTMCell/W_0, B and W_P_0.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.lstm_cell import FORGET_BIAS
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LexiconCnnOptions, LstmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.torch_files import check_all_finite


def _same(tensor: Tensor) -> Tensor:
    """Returns the tensor: both implementations arrange its values in the same way."""
    return tensor


class TensorMapping(NamedTuple):
    """
    One tensor of another implementation, and the tensors of `BiLm.state_dict()` that it contains.

    theirs: the name of the other implementation's tensor
    ours: the names of the tensors in `BiLm.state_dict()`
    shape: the shape of the other implementation's tensor, if readers have to check it
    to_ours: converts that tensor to one tensor, or a tuple, if `ours` has several names
    to_theirs: converts our tensors, one argument for each of `ours`, back
    """

    theirs: str
    ours: tuple[str, ...]
    shape: tuple[int, ...] = ()
    to_ours: Callable[[Tensor], Any] = _same
    to_theirs: Callable[..., Tensor] = _same

    @property
    def is_same_tensor(self) -> bool:
        """Whether both implementations arrange the values in the same way."""
        return self.to_ours is _same

    def converted(self, values: Tensor) -> dict[str, Tensor]:
        """Returns our tensors, by name."""
        tensors = self.to_ours(values)
        if len(self.ours) == 1:
            tensors = (tensors,)
        return dict(zip(self.ours, tensors, strict=True))


def convert(
    state: Mapping[str, Any], mappings: Iterable[TensorMapping], name: str
) -> dict[str, Tensor]:
    """
    Converts the tensors of another implementation to ours, in float32. Raises `BiLmError`,
    beginning with `name`, unless `state` has exactly the tensors of `mappings`, in the right
    shapes, without NaN or infinite numbers.
    """
    ours: dict[str, Tensor] = {}
    expected = set()
    for mapping in mappings:
        theirs = mapping.theirs
        expected.add(theirs)
        values = state.get(theirs)
        if not isinstance(values, Tensor):
            raise BiLmError(f"{name}: the tensor {theirs} is missing, but required by the options")
        if values.shape != mapping.shape:
            shape = tuple(values.shape)
            raise BiLmError(
                f"{name}: the tensor {theirs} has the shape {shape}, expected {mapping.shape}"
            )
        ours |= mapping.converted(values.float())
    for theirs in state:
        if theirs not in expected:
            raise BiLmError(f"{name}: unexpected tensor {theirs}")
    check_all_finite(ours.items(), name)
    return ours


def highway_mappings(prefix: str, n_highway: int, dim: int) -> Iterator[TensorMapping]:
    """
    Yields the mappings of the highway layers in AllenNLP's token encoder; `prefix` begins the names
    of their tensors.
    """
    for number in range(n_highway):
        ours = f"token_encoder.highways.{number}"
        shapes: dict[str, tuple[int, ...]] = {"weight": (2 * dim, dim), "bias": (2 * dim,)}
        for kind, shape in shapes.items():
            yield TensorMapping(
                f"{prefix}.{number}.{kind}",
                (f"{ours}.transform.{kind}", f"{ours}.carry.{kind}"),
                shape,
                split_highway,
                join_highway,
            )


def lstm_mappings(prefix: str, sizes: LstmOptions) -> Iterator[TensorMapping]:
    """
    Yields the mappings of AllenNLP's LSTMs of both directions; `prefix` begins the names of their
    tensors.
    """
    weight_shape = (4 * sizes.dim, sizes.projection_dim)
    bias_shape = (4 * sizes.dim,)
    for direction in ("forward", "backward"):
        for number in range(sizes.n_layers):
            theirs = f"{prefix}{direction}_layer_{number}"
            ours = f"{direction}_lm.layers.{number}"
            our_weights = {"input_linearity": "input_weight", "state_linearity": "recurrent_weight"}
            for linear, our_weight in our_weights.items():
                yield TensorMapping(
                    f"{theirs}.{linear}.weight",
                    (f"{ours}.{our_weight}",),
                    weight_shape,
                    swap_gates,
                    swap_gates,
                )
            yield TensorMapping(
                f"{theirs}.state_linearity.bias",
                (f"{ours}.bias",),
                bias_shape,
                bias_from_allennlp,
                bias_to_allennlp,
            )
            yield TensorMapping(
                f"{theirs}.state_projection.weight",
                (f"{ours}.projection_weight",),
                (sizes.projection_dim, sizes.dim),
            )


def split_highway(joined: Tensor) -> tuple[Tensor, Tensor]:
    """
    Splits AllenNLP's weight or bias into transform and carry. AllenNLP's gate weighs the inputs of
    the layer, and ours the transformed inputs: that is 1 - sigmoid(x) = sigmoid(-x).
    """
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
    """Yields the mappings of all datasets in a published file of a biLM of these sizes."""
    cnn = options.char_cnn
    lstm = options.lstm
    if isinstance(cnn, LexiconCnnOptions):
        raise BiLmError("the published layout cannot hold the lexicons of ELMoForManyLangs")
    yield from _hdf5_char_cnn_mappings(cnn)
    sizes = (cnn.n_filters, lstm.projection_dim)
    # Its datasets are called CNN_proj/W_proj and CNN_proj/b_proj.
    yield from _linear("CNN_proj", "proj", "token_encoder.projection", sizes)
    yield from _hdf5_lstm_mappings(lstm)


def _hdf5_char_cnn_mappings(cnn: CharCnnOptions) -> Iterator[TensorMapping]:
    """Yields the mappings of a character CNN and its highway layers."""
    yield TensorMapping(
        "char_embed",
        ("token_encoder.character_embedding.weight",),
        (NUM_CHARACTERS - 1, cnn.embedding_dim),  # without a row for the padding
        _add_padding_row,
        _remove_padding_row,
    )
    for number, (width, n_filters) in enumerate(cnn.filters):
        ours = f"token_encoder.convolutions.{number}"
        yield TensorMapping(
            f"CNN/W_cnn_{number}",
            (f"{ours}.weight",),
            (1, width, cnn.embedding_dim, n_filters),
            _filters_from_hdf5,
            _filters_to_hdf5,
        )
        yield TensorMapping(f"CNN/b_cnn_{number}", (f"{ours}.bias",), (n_filters,))
    square = (cnn.n_filters, cnn.n_filters)
    for number in range(cnn.n_highway):
        theirs = f"CNN_high_{number}"
        ours = f"token_encoder.highways.{number}"
        yield from _linear(theirs, "transform", f"{ours}.transform", square)
        yield from _linear(theirs, "carry", f"{ours}.carry", square)


def _hdf5_lstm_mappings(lstm: LstmOptions) -> Iterator[TensorMapping]:
    """Yields the mappings of the LSTMs of both directions."""
    for direction, name in enumerate(("forward_lm", "backward_lm")):
        for number in range(lstm.n_layers):
            theirs = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            ours = f"{name}.layers.{number}"
            yield TensorMapping(
                f"{theirs}/W_0",
                (f"{ours}.input_weight", f"{ours}.recurrent_weight"),
                (2 * lstm.projection_dim, 4 * lstm.dim),
                _split_gates,
                _join_gates,
            )
            yield TensorMapping(f"{theirs}/B", (f"{ours}.bias",), (4 * lstm.dim,))
            yield TensorMapping(
                f"{theirs}/W_P_0",
                (f"{ours}.projection_weight",),
                (lstm.dim, lstm.projection_dim),
                torch.t,
                torch.t,
            )


def single_layer_name(name: str) -> str:
    """
    Returns the name that bilm-tf gives a dataset if each direction is a single LSTM layer. The
    names of datasets outside of the LSTMs stay the same.
    """
    return name.replace("/MultiRNNCell/Cell0/", "/")


def is_lstm_bias(name: str) -> bool:
    """Returns whether this dataset of a published file is the bias of an LSTM layer."""
    return name.endswith("/LSTMCell/B")


def default_projection(name: str, options: BiLmOptions) -> np.ndarray | None:
    """
    Returns the values of a dataset that bilm-tf leaves out: a projection that does not change the
    size is the identity, and its bias is zeros. Returns `None` for any other dataset.
    """
    output_size = options.lstm.projection_dim
    if name.endswith("W_P_0"):  # the projection in an LSTM
        input_size = options.lstm.dim
    elif name.endswith(("W_proj", "b_proj")):  # the projection of the token encoder
        input_size = options.char_cnn.n_filters
    else:
        return None
    if input_size != output_size:
        return None
    if name.endswith("b_proj"):
        return np.zeros(output_size, np.float32)
    return np.eye(output_size, dtype=np.float32)


def _linear(group: str, name: str, ours: str, sizes: tuple[int, int]) -> Iterator[TensorMapping]:
    """
    Yields the mappings of the weight and the bias of a linear layer. `sizes` are (inputs, outputs).
    """
    _, outputs = sizes
    yield TensorMapping(f"{group}/W_{name}", (f"{ours}.weight",), sizes, torch.t, torch.t)
    yield TensorMapping(f"{group}/b_{name}", (f"{ours}.bias",), (outputs,))


def _add_padding_row(rows: Tensor) -> Tensor:
    """Puts a row of zeros, for the padding, before the rows of the characters."""
    return torch.cat([rows.new_zeros(1, rows.size(1)), rows])


def _remove_padding_row(rows: Tensor) -> Tensor:
    """Undoes `_add_padding_row`."""
    return rows[1:]


def _filters_from_hdf5(filters: Tensor) -> Tensor:
    """Turns filters of shape (1, width, dim, filters) into shape (filters, dim, width)."""
    return filters[0].permute(2, 1, 0)


def _filters_to_hdf5(filters: Tensor) -> Tensor:
    """Undoes `_filters_from_hdf5`."""
    return filters.permute(2, 1, 0)[None]


def _split_gates(gates: Tensor) -> tuple[Tensor, ...]:
    """Splits a weight for [inputs ; hidden states] into the one for each."""
    return gates.t().chunk(2, dim=1)


def _join_gates(inputs: Tensor, recurrent: Tensor) -> Tensor:
    """Undoes `_split_gates`."""
    return torch.cat([inputs, recurrent], dim=1).t()
