"""The published HDF5 layout of a biLM's weights: read and written here and nowhere else.

The names on the left are ours (of `BiLm.state_dict()`), those on the right the file's:

    token_encoder.character_embedding.weight      char_embed, without the row of "no token here"
    token_encoder.convolutions.{i}.weight, .bias  CNN/W_cnn_{i}, CNN/b_cnn_{i}
    token_encoder.highways.{k}.transform, .carry  CNN_high_{k}/W_transform, b_transform, W_carry, b_carry
    token_encoder.projection.weight, .bias        CNN_proj/W_proj, b_proj
    {forward,backward}_lm.layers.{l}.*            RNN_{0,1}/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0

To these this package adds the softmax that the biLM was trained with, where it is known: `softmax/W`
(words, dim) and `softmax/b` (words,), as bilm-tf's checkpoints call them, and `softmax/words` (words,), UTF-8
strings: word i is the one that row i predicts. All numbers of AllenNLP's vocabulary are in it, the padding's
and the unknown word's too, so that the numbering comes back as it was. Other implementations look datasets up
by name and never see the group.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import replace_when_written

DTYPES = ("float32", "float16")

StateDict = dict[str, Tensor]


class SoftmaxWeights(NamedTuple):
    """
    weight: (words, projection_dim)
    bias: (words,)
    words: what each row predicts, in the numbering of the vocabulary
    """

    weight: Tensor
    bias: Tensor
    words: list[str]


class _Dataset(NamedTuple):
    """A dataset of the file: its name and shape, and the model's tensors, all of one size, side by side."""

    name: str
    shape: tuple[int, ...]
    tensors: tuple[str, ...]


def read_weights(path: str | Path, options: BiLmOptions) -> Iterator[tuple[str, Tensor]]:
    """
    Reads all weights of a biLM as float32, one dataset in memory at a time.

    # Parameters

    path : `str | Path`
        An HDF5 file in the published layout, of any floating point type.
    options : `BiLmOptions`
        The sizes that the file must have.

    # Returns

    `Iterator[tuple[str, Tensor]]`
        The names of `BiLm.state_dict()`, and what belongs there.

    Raises `BiLmError` where the file is missing, truncated, or lacks a dataset of the right shape.
    """
    with _opened(path) as file:
        if "char_embed" not in file and "embedding" in file:
            raise BiLmError(
                f"weight file {path}: its biLM reads whole words (dataset embedding), "
                "but only biLMs that read characters can be used"
            )
        for dataset in _datasets(options):
            values = torch.from_numpy(_read_dataset(file, dataset, options, path))
            yield from zip(dataset.tensors, _to_tensors(dataset, values), strict=True)


def read_softmax(path: str | Path, options: BiLmOptions) -> SoftmaxWeights | None:
    """
    The softmax, as float32, that `write_weights` put next to the biLM; `None` where there is none, or where
    it is not said which words it predicts.

    Raises `BiLmError` where the file is missing or truncated, or where the softmax's parts do not fit.
    """
    with _opened(path) as file:
        parts = [file.get(f"softmax/{name}") for name in ("W", "b", "words")]
        if not all(isinstance(part, h5py.Dataset) for part in parts):
            return None
        weight, bias, words = parts
        expected = (len(words), options.lstm.projection_dim)
        if (weight.shape, bias.shape) != (expected, expected[:1]):
            raise BiLmError(
                f"weight file {path}: softmax/W and softmax/b have the shapes {weight.shape} and "
                f"{bias.shape}, but the words and the options ask for {expected} and {expected[:1]}"
            )
        w, b = (torch.from_numpy(part[()].astype(np.float32, copy=False)) for part in (weight, bias))
        return SoftmaxWeights(w, b, words.asstr()[()].tolist())


def read_dtype(path: str | Path) -> str:
    """In which of `DTYPES` the numbers of the file are; `float32` if in neither."""
    with _opened(path) as file:
        characters = file.get("char_embed")
        is_half = isinstance(characters, h5py.Dataset) and characters.dtype == np.float16
        return "float16" if is_half else "float32"


def write_weights(
    path: str | Path,
    state: StateDict,
    options: BiLmOptions,
    dtype: str = "float32",
    softmax: SoftmaxWeights | None = None,
) -> None:
    """
    Writes the weights of a biLM, so that every ELMo implementation can read them.

    # Parameters

    path : `str | Path`
        The file to make. It is there whole or not at all.
    state : `dict[str, Tensor]`
        What `BiLm.state_dict()` gives.
    options : `BiLmOptions`
        The model's sizes.
    dtype : `str`
        `float32`, or `float16` for half the size; compressed without loss in the latter case.
    softmax : `SoftmaxWeights`, optional
        Written next to the biLM, for `read_softmax`.

    Raises `BiLmError` where a value or a word cannot be written.
    """
    of_half = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
    compression = of_half if dtype == "float16" else {}
    with replace_when_written(path) as temporary, h5py.File(temporary, "w") as file:

        def write(name: str, tensor: Tensor) -> None:
            values = tensor.detach().contiguous().cpu().numpy()
            if np.abs(values).max(initial=0.0) > np.finfo(dtype).max:
                raise BiLmError(f"weight file {path}: the dataset {name} has values beyond {dtype}")
            file.create_dataset(name, data=values.astype(dtype, copy=False), **compression)

        for dataset in _datasets(options):
            write(dataset.name, _from_tensors(dataset, state))
        if softmax is not None:
            write("softmax/W", softmax.weight)
            write("softmax/b", softmax.bias)
            if any("\0" in word for word in softmax.words):
                raise BiLmError(
                    f"weight file {path}: HDF5 cannot hold a word with the character NUL; export no softmax"
                )
            file.create_dataset("softmax/words", data=softmax.words, dtype=h5py.string_dtype("utf-8"))


@contextmanager
def _opened(path: str | Path) -> Iterator[h5py.File]:
    """The file, to be read; `BiLmError` where it is missing or cannot be read to the end."""
    if not Path(path).is_file():
        raise BiLmError(f"weight file {path}: there is no such file")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except OSError as error:
        raise BiLmError(f"weight file {path}: not a whole HDF5 file ({error})") from None


def _datasets(options: BiLmOptions) -> Iterator[_Dataset]:
    """All datasets of a model of these sizes."""
    char_cnn, lstm = options.char_cnn, options.lstm
    if isinstance(char_cnn, LexiconCnnOptions):
        raise BiLmError("the published layout has no place for the lexicons of a model of ELMoForManyLangs")
    encoder = "token_encoder"
    characters = f"{encoder}.character_embedding.weight"
    yield _Dataset("char_embed", (NUM_CHARACTERS - 1, char_cnn.embedding_dim), (characters,))
    for i, (width, number) in enumerate(char_cnn.filters):
        shape = (1, width, char_cnn.embedding_dim, number)
        yield _Dataset(f"CNN/W_cnn_{i}", shape, (f"{encoder}.convolutions.{i}.weight",))
        yield _Dataset(f"CNN/b_cnn_{i}", (number,), (f"{encoder}.convolutions.{i}.bias",))
    square = (char_cnn.n_filters, char_cnn.n_filters)
    for k in range(char_cnn.n_highway):
        for part in ("transform", "carry"):
            tensor = f"{encoder}.highways.{k}.{part}"
            yield _Dataset(f"CNN_high_{k}/W_{part}", square, (f"{tensor}.weight",))
            yield _Dataset(f"CNN_high_{k}/b_{part}", square[:1], (f"{tensor}.bias",))
    projection = (char_cnn.n_filters, lstm.projection_dim)
    yield _Dataset("CNN_proj/W_proj", projection, (f"{encoder}.projection.weight",))
    yield _Dataset("CNN_proj/b_proj", projection[1:], (f"{encoder}.projection.bias",))
    for direction, lm in enumerate(("forward_lm", "backward_lm")):
        for number in range(lstm.n_layers):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            layer = f"{lm}.layers.{number}"
            weights = (f"{layer}.input_weight", f"{layer}.recurrent_weight")
            yield _Dataset(f"{cell}/W_0", (2 * lstm.projection_dim, 4 * lstm.dim), weights)
            yield _Dataset(f"{cell}/B", (4 * lstm.dim,), (f"{layer}.bias",))
            yield _Dataset(f"{cell}/W_P_0", (lstm.dim, lstm.projection_dim), (f"{layer}.projection_weight",))


def _read_dataset(file: h5py.File, dataset: _Dataset, options: BiLmOptions, path: str | Path) -> np.ndarray:
    found = file.get(dataset.name)
    if not isinstance(found, h5py.Dataset):
        identity = _projection_left_out(dataset, options)
        if identity is not None:
            return identity
        reason = "which the options ask for"
        if dataset.name.endswith("W_P_0"):
            reason += ": a biLM without projections is one with lstm.dim equal to lstm.projection_dim"
        if dataset.name.startswith("RNN_1"):
            reason += ", as a biLM has two directions"
        raise BiLmError(f"weight file {path}: the dataset {dataset.name} is missing, {reason}")
    if found.shape != dataset.shape:
        raise BiLmError(
            f"weight file {path}: the dataset {dataset.name} has the shape {found.shape}, "
            f"but the options ask for {dataset.shape}"
        )
    return found[()].astype(np.float32, copy=False)


def _projection_left_out(dataset: _Dataset, options: BiLmOptions) -> np.ndarray | None:
    """bilm-tf leaves a projection out where it would not change the size: then it is the identity."""
    size = options.lstm.projection_dim
    if dataset.name == "CNN_proj/b_proj" and options.char_cnn.n_filters == size:
        return np.zeros(size, dtype=np.float32)
    if dataset.name.endswith(("W_proj", "W_P_0")) and dataset.shape == (size, size):
        return np.eye(size, dtype=np.float32)
    return None


def _to_tensors(dataset: _Dataset, values: Tensor) -> Sequence[Tensor]:
    """From the file's arrangement to the model's."""
    if dataset.name == "char_embed":
        values = torch.cat([values.new_zeros(1, values.size(1)), values])
    elif values.dim() == 4:
        values = values.squeeze(0).permute(2, 1, 0)
    elif values.dim() == 2:
        values = values.t()
    return values.chunk(len(dataset.tensors), dim=-1)


def _from_tensors(dataset: _Dataset, state: StateDict) -> Tensor:
    """From the model's arrangement to the file's: `_to_tensors` undone."""
    values = torch.cat([state[name].detach() for name in dataset.tensors], dim=-1)
    if dataset.name == "char_embed":
        return values[1:]
    if values.dim() == 3:
        return values.permute(2, 1, 0).unsqueeze(0)
    return values.t() if values.dim() == 2 else values
