"""The published HDF5 files of a biLM's weights: read and written here and nowhere else.

To what `hdf5_layout` lists this package adds the softmax that the biLM was trained with, where it is known:
`softmax/W` (words, dim) and `softmax/b` (words,), as bilm-tf's checkpoints call them, and `softmax/words`,
the UTF-8 bytes of words with a zero after each: word i is the one that row i predicts. All numbers of
AllenNLP's vocabulary are in it, the padding's and the unknown word's too, so that the numbering comes back as
it was. Other implementations look datasets up by name and never see the group.

What is written here has checksums, in the attribute `crc32` of each dataset, and the options, as JSON in the
attribute `options` of the file: so damage is noticed, and options that are not those of the weights.
"""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN
from elmo_plugin.bilm.io.hdf5_layout import (
    Dataset,
    StateDict,
    datasets,
    from_tensors,
    projection_left_out,
    to_tensors,
)
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.hdf5_files import (
    find_numbers,
    find_strings,
    new_hdf5,
    open_hdf5,
    read_numbers,
    read_strings,
    write_dataset,
    write_strings,
)
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.torch_files import check_finite

DTYPES = ("float32", "float16")  # in which numbers are stored, in any file
_OPTIONS = "options"  # an attribute of the file
_OF_BILM = re.compile(r"/*(char_embed|CNN|CNN_high_\d+|CNN_proj|RNN_\d+)(/|$)")

_LONGEST_WORD = 100  # bytes for each number of a softmax, far more than words take
UNKNOWN_WORDS = ("@@UNKNOWN@@", "<UNK>")  # of AllenNLP's vocabularies, and of published ones

logger = logging.getLogger(__name__)


class SoftmaxWeights(NamedTuple):
    """
    weight: (words, projection_dim)
    bias: (words,)
    words: what each row predicts, in the numbering of the vocabulary
    """

    weight: Tensor
    bias: Tensor
    words: list[str]

    def vocabulary(self) -> tuple[dict[str, int], int] | None:
        """
        Returns the number of each word, and that of unknown words; `None` if it has no unknown word or lacks
        a sentence boundary, so that text cannot be scored.
        """
        numbers = {word: number for number, word in enumerate(self.words)}
        unknown = next((numbers[word] for word in UNKNOWN_WORDS if word in numbers), None)
        if unknown is None or not {BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN} <= numbers.keys():
            return None
        return numbers, unknown


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

    Raises `BiLmError` where the file is missing or damaged, lacks a dataset of the right shape, or has a
    number that is NaN or infinite.
    """
    name = f"weight file {path}"
    with open_hdf5(path, name) as file:
        for dataset in datasets(options):
            values = torch.from_numpy(_read_dataset(file, dataset, options))
            check_finite(f"the dataset {dataset.name}", values)
            yield from zip(dataset.tensors, to_tensors(dataset, values), strict=True)


def check_weights_file(path: str | Path, options: BiLmOptions) -> None:
    """
    Checks the names and shapes of all datasets, without reading them.

    Raises `BiLmError` where they are not those of the options, or where the file was written with others.
    """
    name = f"weight file {path}"
    with open_hdf5(path, name) as file:
        _check_options(file, options)
        expected = set()
        for dataset in datasets(options):
            _find_dataset(file, dataset, options)
            expected.add(dataset.name)
        found: list[str] = []
        file.visititems(lambda key, each: found.append(key) if isinstance(each, h5py.Dataset) else None)
        for key in found:
            if _OF_BILM.match(key) and key not in expected:
                raise BiLmError(f"has the dataset {key}, which the options do not ask for")
            if key not in expected and not key.startswith("softmax/"):
                logger.warning("%s: the dataset %s is not part of a biLM and is ignored", name, key)


def read_softmax(path: str | Path, options: BiLmOptions) -> SoftmaxWeights | None:
    """
    Reads the softmax, as float32, that `write_weights` put next to the biLM; `None` where the file has none,
    or does not have its words.

    Raises `BiLmError` where the file is missing or damaged, or where the softmax's parts do not fit.
    """
    with open_hdf5(path, f"weight file {path}") as file:
        weight, bias = find_numbers(file, "softmax/W"), find_numbers(file, "softmax/b")
        words = find_strings(file, "softmax/words")
        if weight is None or bias is None or words is None:
            return None
        if words.size > _LONGEST_WORD * weight.size:
            raise BiLmError(f"softmax/words has {words.size:,} bytes, softmax/W only {weight.size:,} numbers")
        in_order = read_strings(words)
        expected = (len(in_order), options.lstm.projection_dim)
        if (weight.shape, bias.shape) != (expected, expected[:1]):
            raise BiLmError(
                f"softmax/W and softmax/b have the shapes {weight.shape} and {bias.shape}, "
                f"but the words and the options ask for {expected} and {expected[:1]}"
            )
        w, b = (
            check_finite(f"the dataset {each.name}", torch.from_numpy(_to_float32(read_numbers(each))))
            for each in (weight, bias)
        )
        return SoftmaxWeights(w, b, in_order)


def read_dtype(path: str | Path) -> str:
    """Returns which of `DTYPES` the numbers of the file have; `float32` for any other."""
    with open_hdf5(path, f"weight file {path}") as file:
        characters = file.get("char_embed")
        is_half = isinstance(characters, h5py.Dataset) and characters.dtype == np.float16
        return "float16" if is_half else "float32"


def write_weights(
    path: Path,
    state: StateDict,
    options: BiLmOptions,
    dtype: str = "float32",
    softmax: SoftmaxWeights | None = None,
) -> None:
    """
    Writes the weights of a biLM, so that every ELMo implementation can read them. After an error the file is
    incomplete: `write_files` writes to a temporary one.

    # Parameters

    path : `Path`
        The file, which `BiLmError`s do not name.
    state : `dict[str, Tensor]`
        The biLM's `state_dict()`.
    options : `BiLmOptions`
        The sizes.
    dtype : `str`
        "float32", or "float16" for half the size, compressed without loss.
    softmax : `SoftmaxWeights`, optional
        Written next to the biLM, for `read_softmax`.

    Raises `BiLmError` if a value or a word cannot be written, and `OSError` if the file cannot.
    """
    of_half = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
    compression = of_half if dtype == "float16" else {}
    with new_hdf5(path) as (file, target):

        def write(name: str, tensor: Tensor) -> None:
            if target.error is not None:
                raise target.error
            tensor = check_finite(f"the dataset {name}", tensor.detach()).contiguous().cpu()
            values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
            if np.abs(values).max(initial=0.0) > np.finfo(dtype).max:
                raise BiLmError(f"the dataset {name} has values beyond {dtype}")
            write_dataset(file, name, values.astype(dtype, copy=False), **compression)

        file.attrs[_OPTIONS] = np.bytes_(json.dumps(options.to_dict()))
        for dataset in datasets(options):
            write(dataset.name, from_tensors(dataset, state))
        if softmax is not None:
            write("softmax/W", softmax.weight)
            write("softmax/b", softmax.bias)
            if any("\0" in word for word in softmax.words):
                raise BiLmError("HDF5 cannot hold a word with the character NUL; leave out the softmax")
            write_strings(file, "softmax/words", softmax.words)


def _check_options(file: h5py.File, options: BiLmOptions) -> None:
    """Raises `BiLmError` where the file says that its weights were written with other options."""
    if _OPTIONS not in file.attrs:
        return
    written = BiLmOptions.from_dict(parse_json(bytes(file.attrs[_OPTIONS]), "its options"), "its options")
    if written != options:
        then, now = (_flat(each.to_dict()) for each in (written, options))
        differences = [f"{key} was {then[key]}, not {now[key]}" for key in then if then[key] != now.get(key)]
        raise BiLmError(
            f"the options next to it are not those that it was written with ({'; '.join(differences)}): "
            "put those back, or export the biLM again"
        )


def _flat(options: dict[str, Any]) -> dict[str, Any]:
    """Returns options by names such as `lstm.dim`."""
    sections = options.items()
    return {f"{section}.{key}": value for section, values in sections for key, value in values.items()}


def _read_dataset(file: h5py.File, dataset: Dataset, options: BiLmOptions) -> np.ndarray:
    found = _find_dataset(file, dataset, options)
    return found if isinstance(found, np.ndarray) else _to_float32(read_numbers(found))


def _to_float32(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # what becomes infinite is refused
        return values.astype(np.float32, copy=False)


def _find_dataset(file: h5py.File, dataset: Dataset, options: BiLmOptions) -> h5py.Dataset | np.ndarray:
    """Returns a dataset of the right shape, or the identity that stands for one."""
    found = find_numbers(file, dataset.name)
    if found is None:
        if dataset.name == "char_embed" and "embedding" in file:
            raise BiLmError(
                "its biLM reads whole words (dataset embedding), "
                "but only biLMs that read characters can be used"
            )
        identity = projection_left_out(dataset, options)
        if identity is not None:
            return identity
        because = "which the options ask for"
        if dataset.name.endswith("W_P_0"):
            because += ": a biLM without projections is one with lstm.dim equal to lstm.projection_dim"
        if dataset.name.startswith("RNN_1"):
            because += ", as a biLM has two directions"
        raise BiLmError(f"the dataset {dataset.name} is missing, {because}")
    if found.shape != dataset.shape:
        raise BiLmError(
            f"the dataset {dataset.name} has the shape {found.shape}, but the options ask for {dataset.shape}"
        )
    return found
