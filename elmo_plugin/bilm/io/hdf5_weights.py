"""The published HDF5 files of a biLM's weights: read and written here and nowhere else.

To these datasets (see `layouts`) this package adds the softmax that the biLM was trained with, if
known: `softmax/W` (words, dim) and `softmax/b` (words,), as bilm-tf's checkpoints call them, and
`softmax/words`, the UTF-8 bytes of words with a zero after each, in the numbering of AllenNLP's
vocabulary. Other implementations look datasets up by name and never see the group.

Each dataset has its checksum in the attribute `crc32`, and the file has the options, as JSON, in
the attribute `options`. So damage is noticed, and options that do not belong to the weights.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.io.layouts import (
    TensorMapping,
    default_projection,
    hdf5_mappings,
    is_lstm_bias,
    single_layer_name,
)
from elmo_plugin.bilm.io.softmax_weights import SoftmaxWeights
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.archives import AnyPath
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
from elmo_plugin.common.logs import get_logger

DTYPES = ("float32", "float16")  # the types in which any file may store numbers
_OPTIONS = "options"  # an attribute of the file
_BILM_DATASET = re.compile(r"/*(char_embed|CNN|CNN_high_\d+|CNN_proj|RNN_\d+)(/|$)")
# A softmax has at most this many bytes of words for each of its numbers: far more than real words
# take.
_MAX_WORD_BYTES_PER_NUMBER = 100

logger = get_logger(__name__)


def read_weights(path: str | AnyPath, options: BiLmOptions) -> Iterator[tuple[str, Tensor]]:
    """
    Yields the items of `BiLm.state_dict()` as float32, with one dataset in memory at a time. Raises
    `BiLmError` if the file is missing or damaged, if a dataset is missing or of a wrong shape, or
    if a number is NaN or infinite.
    """
    with open_hdf5(path, f"weight file {path}") as file:
        for mapping in hdf5_mappings(options):
            dataset = _find_dataset(file, mapping, options)
            if isinstance(dataset, np.ndarray):  # it stands for a dataset that is left out
                values = torch.from_numpy(dataset)
            else:
                values = _read_finite(dataset)
            yield from mapping.converted(values).items()


def check_weights_file(path: str | AnyPath, options: BiLmOptions) -> str:
    """
    Checks the names and shapes of all datasets, without reading them. Returns "float16" if the file
    stores its weights in that type, and "float32" for any other type. Raises `BiLmError` if the
    datasets do not match the options, or if the file was written with other options.
    """
    name = f"weight file {path}"
    with open_hdf5(path, name) as file:
        _check_options(file, options)
        datasets = {}
        for mapping in hdf5_mappings(options):
            datasets[mapping.theirs] = _find_dataset(file, mapping, options)
        _check_no_other_datasets(file, options, name)
        # A weight tells the type: in a file of float16, the biases of the LSTMs are float32.
        if datasets["char_embed"].dtype == np.float16:
            return "float16"
        return "float32"


def _check_no_other_datasets(file: h5py.File, options: BiLmOptions, name: str) -> None:
    """
    Raises `BiLmError` if the file has a dataset of a biLM that the options do not ask for, such as
    one of a further layer. Logs a warning for each dataset that is no part of a biLM.
    """
    expected = set()
    for mapping in hdf5_mappings(options):
        expected.add(mapping.theirs)
        if options.lstm.n_layers == 1:
            expected.add(single_layer_name(mapping.theirs))
    for key in _dataset_names(file):
        if key in expected or key.startswith("softmax/"):
            continue
        if _BILM_DATASET.match(key):
            raise BiLmError(f"unexpected dataset {key}: the options do not ask for it")
        logger.warning("%s: the dataset %s is not part of a biLM and is ignored", name, key)


def _dataset_names(file: h5py.File) -> list[str]:
    """Returns the names of all datasets, with their groups."""
    names: list[str] = []

    def visit(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset):
            names.append(name)

    file.visititems(visit)
    return names


def read_softmax(path: str | AnyPath, options: BiLmOptions) -> SoftmaxWeights | None:
    """
    Reads the softmax as float32; `None` if the file has no softmax, or one without words. Raises
    `BiLmError` if the file is missing or damaged, or the parts of the softmax do not match.
    """
    with open_hdf5(path, f"weight file {path}") as file:
        weight = find_numbers(file, "softmax/W")
        bias = find_numbers(file, "softmax/b")
        stored_words = find_strings(file, "softmax/words")
        if weight is None or bias is None or stored_words is None:
            return None
        # Before the words are read, so that a damaged file cannot fill the memory.
        if stored_words.size > _MAX_WORD_BYTES_PER_NUMBER * weight.size:
            raise BiLmError(
                f"softmax/words has {stored_words.size:,} bytes, softmax/W only "
                f"{weight.size:,} numbers"
            )
        words = read_strings(stored_words)
        weight_shape = (len(words), options.lstm.projection_dim)
        bias_shape = (len(words),)
        if weight.shape != weight_shape or bias.shape != bias_shape:
            raise BiLmError(
                f"softmax/W and softmax/b have the shapes {weight.shape} and {bias.shape}, "
                f"but the words and the options ask for {weight_shape} and {bias_shape}"
            )
        return SoftmaxWeights(_read_finite(weight), _read_finite(bias), words)


def write_weights(
    path: Path,
    state: Mapping[str, Tensor],
    options: BiLmOptions,
    dtype: str = "float32",
    softmax: SoftmaxWeights | None = None,
) -> None:
    """
    Writes a biLM's `state_dict()` so that every ELMo implementation can read it, as float32, or as
    float16 with lossless compression. The biases of LSTMs are always float32, because AllenNLP adds
    1 to the forget gates' biases in the type of the file. After an error the file is incomplete,
    so give a temporary one. Raises `BiLmError` (without the file's name) if a value or a word
    cannot be written, and `OSError` if the file cannot.
    """
    compression: dict[str, Any] = {}
    if dtype == "float16":
        compression = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
    with new_hdf5(path) as (file, target):

        def write(name: str, tensor: Tensor) -> None:
            """
            Writes a dataset. Stops instead if an earlier write failed, or after Ctrl-C or SIGTERM:
            HDF5 itself would go on, because `target` only stores the error.
            """
            if target.error is not None:
                raise target.error
            write_dataset(file, name, _stored_values(name, tensor, dtype), **compression)

        file.attrs[_OPTIONS] = np.bytes_(json.dumps(options.to_dict()))
        for mapping in hdf5_mappings(options):
            ours = [state[name] for name in mapping.ours]
            write(mapping.theirs, mapping.to_theirs(*ours))
        if softmax is not None:
            write("softmax/W", softmax.weight)
            write("softmax/b", softmax.bias)
            if any("\0" in word for word in softmax.words):
                raise BiLmError(
                    "HDF5 cannot hold a word with the character NUL; leave out the softmax"
                )
            write_strings(file, "softmax/words", softmax.words)


def _stored_values(name: str, tensor: Tensor, dtype: str) -> np.ndarray:
    """
    Returns the values of a dataset in the type that a file of this `dtype` has for it. Raises
    `BiLmError` if one of them is not finite, or too large for that type.
    """
    check_finite(f"the dataset {name}", tensor)
    if tensor.dtype == torch.bfloat16:  # a type that numpy lacks
        tensor = tensor.float()
    values = tensor.detach().contiguous().cpu().numpy()
    stored_type = dtype
    if is_lstm_bias(name):  # see `write_weights`
        stored_type = "float32"
    if np.abs(values).max(initial=0.0) > np.finfo(stored_type).max:
        raise BiLmError(f"the dataset {name} has values beyond {stored_type}")
    return values.astype(stored_type, copy=False)


def _check_options(file: h5py.File, options: BiLmOptions) -> None:
    """Raises `BiLmError` if the file says that its weights were written with other options."""
    if _OPTIONS not in file.attrs:
        return
    content = parse_json(bytes(file.attrs[_OPTIONS]), "its options")
    written = BiLmOptions.from_dict(content, "its options")
    if written != options:
        differences = "; ".join(_list_differences(written, options))
        raise BiLmError(
            "the options next to it are not those that it was written with "
            f"({differences}): put those back, or export the biLM again"
        )


def _list_differences(written: BiLmOptions, given: BiLmOptions) -> list[str]:
    """Lists the options that differ, such as "lstm.dim was 4096, not 2048"."""
    differences = []
    given_sections = given.to_dict()
    for section, values in written.to_dict().items():
        given_values = given_sections.get(section, {})
        for key, value in values.items():
            given_value = given_values.get(key)
            if value != given_value:
                differences.append(f"{section}.{key} was {value}, not {given_value}")
    return differences


def _read_finite(dataset: h5py.Dataset) -> Tensor:
    """Reads a dataset as float32. Raises `BiLmError` if a number is NaN or infinite."""
    with np.errstate(over="ignore"):  # `check_finite` rejects infinite results
        values = read_numbers(dataset).astype(np.float32, copy=False)
    return check_finite(f"the dataset {dataset.name.lstrip('/')}", torch.from_numpy(values))


def _find_dataset(
    file: h5py.File, mapping: TensorMapping, options: BiLmOptions
) -> h5py.Dataset | np.ndarray:
    """
    Returns a dataset of the right shape, or an array that stands for one that bilm-tf leaves out.
    Raises `BiLmError` if it is missing or has another shape.
    """
    name = mapping.theirs
    dataset = find_numbers(file, name)
    if dataset is None and options.lstm.n_layers == 1:
        # A file that bilm-tf wrote has shorter names for a single layer.
        dataset = find_numbers(file, single_layer_name(name))
    if dataset is None:
        default = default_projection(name, options)
        if default is None:
            raise _missing_dataset(file, name)
        return default
    if dataset.shape != mapping.shape:
        raise BiLmError(
            f"the dataset {name} has the shape {dataset.shape}, but the options ask for "
            f"{mapping.shape}"
        )
    return dataset


def _missing_dataset(file: h5py.File, name: str) -> BiLmError:
    """Returns the error for a missing dataset, with the probable reason."""
    if name == "char_embed" and "embedding" in file:
        return BiLmError(
            "its biLM reads whole words (dataset embedding), but only biLMs that read characters "
            "can be used"
        )
    message = f"the dataset {name} is missing, but required by the options"
    is_lstm_projection = name.endswith("W_P_0")
    if is_lstm_projection:
        message += ": a biLM without projections is one with lstm.dim equal to lstm.projection_dim"
    is_of_backward_lstm = name.startswith("RNN_1")
    if is_of_backward_lstm:
        message += ", as a biLM has two directions"
    return BiLmError(message)
