"""The published HDF5 layout of a biLM's weights: the tensors of `BiLm.state_dict()`, and its datasets.

token_encoder.character_embedding.weight      char_embed, without the row of the padding
token_encoder.convolutions.{i}.weight, .bias  CNN/W_cnn_{i}, CNN/b_cnn_{i}
token_encoder.highways.{k}.transform, .carry  CNN_high_{k}/W_transform, b_transform, W_carry, b_carry
token_encoder.projection.weight, .bias        CNN_proj/W_proj, b_proj
{forward,backward}_lm.layers.{l}.*            RNN_{0,1}/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.io.allennlp_layout import TensorMapping
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError


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
        filters, bias = (f"{encoder}.convolutions.{i}.weight",), (f"{encoder}.convolutions.{i}.bias",)
        windows = (1, width, cnn.embedding_dim, n)
        yield TensorMapping(f"CNN/W_cnn_{i}", filters, windows, _filters_to_ours, _filters_to_theirs)
        yield TensorMapping(f"CNN/b_cnn_{i}", bias, (n,))
    for k in range(cnn.n_highway):
        for part in ("transform", "carry"):
            ours, sizes = f"{encoder}.highways.{k}.{part}", (cnn.n_filters, cnn.n_filters)
            yield from _linear(f"CNN_high_{k}", part, ours, sizes)
    yield from _linear("CNN_proj", "proj", f"{encoder}.projection", (cnn.n_filters, lstm.projection_dim))
    for direction, lm in enumerate(("forward_lm", "backward_lm")):
        for number in range(lstm.n_layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            layer = f"{lm}.layers.{number}"
            gates = (f"{layer}.input_weight", f"{layer}.recurrent_weight")
            shape = (2 * lstm.projection_dim, 4 * lstm.dim)
            yield TensorMapping(f"{cell}/W_0", gates, shape, _split_gates, _join_gates)
            yield TensorMapping(f"{cell}/B", (f"{layer}.bias",), shape[1:])
            shape = (lstm.dim, lstm.projection_dim)
            yield TensorMapping(f"{cell}/W_P_0", (f"{layer}.projection_weight",), shape, torch.t, torch.t)


def default_projection(name: str, options: BiLmOptions) -> np.ndarray | None:
    """Returns the identity for a projection that bilm-tf leaves out because it does not change the size."""
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


def _filters_to_ours(filters: Tensor) -> Tensor:
    return filters.squeeze(0).permute(2, 1, 0)  # Shape: (filters, dim, width)


def _filters_to_theirs(filters: Tensor) -> Tensor:
    return filters.permute(2, 1, 0).unsqueeze(0)


def _split_gates(gates: Tensor) -> tuple[Tensor, ...]:
    return gates.t().chunk(2, dim=1)


def _join_gates(inputs: Tensor, recurrent: Tensor) -> Tensor:
    return torch.cat([inputs, recurrent], dim=1).t()
