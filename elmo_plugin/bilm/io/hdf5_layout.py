"""The published HDF5 layout of a biLM's weights: its datasets, and how ours lie in them.

The names on the left are ours (of `BiLm.state_dict()`), those on the right the file's:

    token_encoder.character_embedding.weight      char_embed, without the row of "no token here"
    token_encoder.convolutions.{i}.weight, .bias  CNN/W_cnn_{i}, CNN/b_cnn_{i}
    token_encoder.highways.{k}.transform, .carry  CNN_high_{k}/W_transform, b_transform, W_carry, b_carry
    token_encoder.projection.weight, .bias        CNN_proj/W_proj, b_proj
    {forward,backward}_lm.layers.{l}.*            RNN_{0,1}/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError

StateDict = dict[str, Tensor]


class Dataset(NamedTuple):
    """A dataset of the file: its name and shape, and the model's tensors, all of one size, side by side."""

    name: str
    shape: tuple[int, ...]
    tensors: tuple[str, ...]


def datasets(options: BiLmOptions) -> Iterator[Dataset]:
    """Yields all datasets of a model of these sizes."""
    char_cnn, lstm = options.char_cnn, options.lstm
    if isinstance(char_cnn, LexiconCnnOptions):
        raise BiLmError("the published layout has no place for the lexicons of a model of ELMoForManyLangs")
    encoder = "token_encoder"
    characters = f"{encoder}.character_embedding.weight"
    yield Dataset("char_embed", (NUM_CHARACTERS - 1, char_cnn.embedding_dim), (characters,))
    for i, (width, number) in enumerate(char_cnn.filters):
        shape = (1, width, char_cnn.embedding_dim, number)
        yield Dataset(f"CNN/W_cnn_{i}", shape, (f"{encoder}.convolutions.{i}.weight",))
        yield Dataset(f"CNN/b_cnn_{i}", (number,), (f"{encoder}.convolutions.{i}.bias",))
    square = (char_cnn.n_filters, char_cnn.n_filters)
    for k in range(char_cnn.n_highway):
        for part in ("transform", "carry"):
            tensor = f"{encoder}.highways.{k}.{part}"
            yield Dataset(f"CNN_high_{k}/W_{part}", square, (f"{tensor}.weight",))
            yield Dataset(f"CNN_high_{k}/b_{part}", square[:1], (f"{tensor}.bias",))
    projection = (char_cnn.n_filters, lstm.projection_dim)
    yield Dataset("CNN_proj/W_proj", projection, (f"{encoder}.projection.weight",))
    yield Dataset("CNN_proj/b_proj", projection[1:], (f"{encoder}.projection.bias",))
    for direction, lm in enumerate(("forward_lm", "backward_lm")):
        for number in range(lstm.n_layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            layer = f"{lm}.layers.{number}"
            weights = (f"{layer}.input_weight", f"{layer}.recurrent_weight")
            yield Dataset(f"{cell}/W_0", (2 * lstm.projection_dim, 4 * lstm.dim), weights)
            yield Dataset(f"{cell}/B", (4 * lstm.dim,), (f"{layer}.bias",))
            yield Dataset(f"{cell}/W_P_0", (lstm.dim, lstm.projection_dim), (f"{layer}.projection_weight",))


def projection_left_out(dataset: Dataset, options: BiLmOptions) -> np.ndarray | None:
    """Returns the identity for a projection that bilm-tf leaves out, as it would not change the size."""
    size = options.lstm.projection_dim
    if dataset.name == "CNN_proj/b_proj" and options.char_cnn.n_filters == size:
        return np.zeros(size, dtype=np.float32)
    if dataset.name.endswith(("W_proj", "W_P_0")) and dataset.shape == (size, size):
        return np.eye(size, dtype=np.float32)
    return None


def to_tensors(dataset: Dataset, values: Tensor) -> Sequence[Tensor]:
    """Converts a dataset to the model's tensors."""
    if dataset.name == "char_embed":
        values = torch.cat([values.new_zeros(1, values.size(1)), values])
    elif values.dim() == 4:
        values = values.squeeze(0).permute(2, 1, 0)
    elif values.dim() == 2:
        values = values.t()
    return values.chunk(len(dataset.tensors), dim=-1)


def from_tensors(dataset: Dataset, state: StateDict) -> Tensor:
    """Undoes `to_tensors`."""
    values = torch.cat([state[name].detach() for name in dataset.tensors], dim=-1)
    if dataset.name == "char_embed":
        return values[1:]
    if values.dim() == 3:
        return values.permute(2, 1, 0).unsqueeze(0)
    return values.t() if values.dim() == 2 else values
