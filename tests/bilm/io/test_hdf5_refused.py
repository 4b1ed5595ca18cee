"""HDF5 files that other readers would take for weights, and that are none."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io.hdf5_weights import (
    check_weights_file,
    read_softmax,
    read_weights,
    write_weights,
)
from elmo_plugin.common.formats import hdf5_files
from tests.bilm.conftest import BiLmMaker
from tests.small_bilm import small_options
from tests.trained_bilm import random_bilm, random_softmax


@pytest.fixture
def written(make_bilm: BiLmMaker, tmp_path: Path) -> tuple[BiLm, Path]:
    bilm, path = make_bilm(), tmp_path / "weights.hdf5"
    write_weights(path, bilm.state_dict(), bilm.options)
    return bilm, path


def change(path: Path, name: str, make: Callable[[h5py.File, np.ndarray], object]) -> None:
    """Puts another dataset in the place of one."""
    with h5py.File(path, "a") as file:
        values = file[name][()]
        del file[name]
        made = make(file, values)
        if made is not None:
            file[name] = made


def virtual(file: h5py.File, values: np.ndarray) -> None:
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource("gone.hdf5", "x", values.shape)
    file.create_virtual_dataset("char_embed", layout)


def never_written(file: h5py.File, values: np.ndarray) -> None:
    file.create_dataset("char_embed", values.shape, values.dtype)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (virtual, "the dataset char_embed is in another file"),
        (lambda file, values: h5py.ExternalLink("gone.hdf5", "x"), "char_embed is missing"),
        (lambda file, values: h5py.SoftLink("/char_embed"), "not a whole HDF5 file"),
        (never_written, "char_embed was not written completely"),
        (
            lambda file, values: values.astype(complex),
            "expected floating-point numbers, got complex128",
        ),
        (
            lambda file, values: np.where(values == values[3, 1], np.nan, values),
            "char_embed has NaN in it",
        ),
        (
            lambda file, values: np.where(values == values[3, 1], np.inf, values),
            "has an infinite number",
        ),
    ],
)
def test_a_file_without_weights_is_refused_naming_the_dataset(
    written: tuple[BiLm, Path], make: Callable[[h5py.File, np.ndarray], object], message: str
) -> None:
    bilm, path = written
    change(path, "char_embed", make)
    with pytest.raises(BiLmError, match=rf"weight file {path}: .*{message}"):
        check_weights_file(path, bilm.options)
        dict(read_weights(path, bilm.options))


@pytest.mark.parametrize(
    ("char_cnn", "lstm", "message"),
    [
        ({}, {"n_layers": 1}, "unexpected dataset RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/B"),
        ({"n_highway": 0}, {}, "unexpected dataset CNN_high_0/W_carry"),
        ({"n_highway": 2}, {}, "CNN_high_1/W_transform is missing"),
        ({}, {"n_layers": 100}, "Cell2/LSTMCell/W_0 is missing"),
        ({}, {"dim": 2**20}, r"W_0 has the shape .* but the options ask for \(12, 4194304\)"),
    ],
)
def test_mismatched_sizes_are_refused_before_a_bilm_is_constructed(
    written: tuple[BiLm, Path], char_cnn: dict, lstm: dict, message: str
) -> None:
    _, path = written
    with h5py.File(path, "a") as file:
        del file.attrs["options"]
    with pytest.raises(BiLmError, match=message):
        check_weights_file(path, BiLmOptions.from_dict(small_options(char_cnn, lstm)))


@pytest.mark.parametrize(
    ("size", "most", "message"),
    [
        (10**7, 2**27, "softmax/words has 10,000,000 bytes, softmax/W only"),
        (10**7, 2**20, "the dataset softmax/words has a suspicious compression ratio"),
    ],
)
def test_a_softmax_vocabulary_that_would_fill_memory_is_refused_before_reading(
    size: int, most: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5_files, "MAX_BYTES", most)
    bilm, path = random_bilm(), tmp_path / "weights.hdf5"
    write_weights(path, bilm.state_dict(), bilm.options, softmax=random_softmax(["a", "b"]))
    with h5py.File(path, "a") as file:
        del file["softmax/words"]
        file.create_dataset("softmax/words", data=np.zeros(size, np.uint8), compression="gzip")
    with pytest.raises(BiLmError, match=f"weight file {path}: {message}"):
        read_softmax(path, bilm.options)
