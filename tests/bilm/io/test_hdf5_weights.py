from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from allennlp.modules.elmo_lstm import ElmoLstm
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io import Checkpoint, write_files
from elmo_plugin.bilm.io.hdf5_weights import (
    check_weights_file,
    read_softmax,
    read_weights,
    write_weights,
)
from elmo_plugin.bilm.io.layouts import hdf5_mappings
from tests.bilm.conftest import BiLmMaker
from tests.conftest import at_most
from tests.trained_bilm import random_bilm, random_softmax

CELL = "RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell"


@pytest.fixture
def written(make_bilm: BiLmMaker, tmp_path: Path) -> tuple[BiLm, Path]:
    bilm, path = make_bilm(), tmp_path / "weights.hdf5"
    write_weights(path, bilm.state_dict(), bilm.options)
    return bilm, path


@pytest.mark.parametrize("n_highway", [0, 1, 2])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_all_weights_survive_a_round_trip(
    make_bilm: BiLmMaker, tmp_path: Path, n_highway: int, n_layers: int
) -> None:
    bilm = make_bilm(char_cnn={"n_highway": n_highway}, lstm={"n_layers": n_layers})
    write_weights(tmp_path / "weights.hdf5", bilm.state_dict(), bilm.options)
    read = dict(read_weights(tmp_path / "weights.hdf5", bilm.options))
    assert set(read) == set(bilm.state_dict())
    for name, tensor in bilm.state_dict().items():
        assert torch.equal(read[name], tensor), name


def test_half_precision_is_read_as_the_nearest_single_precision(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm = make_bilm()
    write_weights(tmp_path / "weights.hdf5", bilm.state_dict(), bilm.options, dtype="float16")
    read = dict(read_weights(tmp_path / "weights.hdf5", bilm.options))
    for name, tensor in bilm.state_dict().items():
        is_lstm_bias = name.endswith("_lm.layers.0.bias") or name.endswith("_lm.layers.1.bias")
        expected = tensor if is_lstm_bias else tensor.half().float()
        assert torch.equal(read[name], expected), name


def _forget_gates_in_allennlp(weights_file: Path, bilm: BiLm) -> Tensor:
    """Returns the biases of all forget gates as AllenNLP's own class loads them from a file."""
    sizes = bilm.options.lstm
    peer = ElmoLstm(sizes.projection_dim, sizes.projection_dim, sizes.dim, sizes.n_layers)
    peer.load_weights(str(weights_file))
    layers = [*peer.forward_layers, *peer.backward_layers]
    return torch.cat([layer.state_linearity.bias.detach().chunk(4)[1] for layer in layers])


def test_allennlp_adds_1_to_the_forget_gates_of_a_half_precision_file_without_rounding(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm, path = make_bilm(), tmp_path / "weights.hdf5"
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.copy_(parameter.half())
    ours = [*bilm.forward_lm.layers, *bilm.backward_lm.layers]
    forget_gates = torch.cat([layer.bias.detach().chunk(4)[2] for layer in ours])
    exact = forget_gates.double() + 1
    write_weights(path, bilm.state_dict(), bilm.options, dtype="float16")
    loaded = _forget_gates_in_allennlp(path, bilm).double()
    assert (loaded - exact).abs().max() < 1e-7
    with h5py.File(path, "a") as file:  # as it would be with biases of the file's type
        for mapping in hdf5_mappings(bilm.options):
            if mapping.theirs.endswith("/B"):
                rounded = file[mapping.theirs][()].astype(np.float16)
                del file[mapping.theirs]
                file[mapping.theirs] = rounded
    loaded = _forget_gates_in_allennlp(path, bilm).double()
    assert torch.equal(loaded, (forget_gates.half() + torch.ones((), dtype=torch.half)).double())
    assert 1e-4 < (loaded - exact).abs().max() < 1e-3


def test_weights_that_half_precision_cannot_hold_are_refused(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm = make_bilm()
    with torch.no_grad():
        bilm.token_encoder.projection.weight[0, 0] = 1e6
    with pytest.raises(BiLmError, match="CNN_proj/W_proj has values beyond float16"):
        write_files(tmp_path, Checkpoint(bilm.options, bilm.state_dict().items(), dtype="float16"))
    assert not list(tmp_path.iterdir())


def test_a_projection_that_bilm_tf_omits_is_the_identity(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm = make_bilm(char_cnn={"filters": [[1, 6]]}, lstm={"projection_dim": 6, "dim": 6})
    path = tmp_path / "weights.hdf5"
    write_weights(path, bilm.state_dict(), bilm.options)
    with h5py.File(path, "a") as file:
        del file["CNN_proj"], file[f"{CELL}/W_P_0"]
    read = dict(read_weights(path, bilm.options))
    assert torch.equal(read["token_encoder.projection.weight"], torch.eye(6))
    assert not read["token_encoder.projection.bias"].any()
    assert torch.equal(read["backward_lm.layers.0.projection_weight"], torch.eye(6))


def test_a_single_lstm_layer_is_found_under_its_bilm_tf_name(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    path = tmp_path / "weights.hdf5"
    for num_layers in (1, 2):
        bilm = make_bilm(lstm={"n_layers": num_layers})
        write_weights(path, bilm.state_dict(), bilm.options)
        with h5py.File(path, "a") as file:
            for direction in ("RNN_0", "RNN_1"):
                file.move(
                    f"{direction}/RNN/MultiRNNCell/Cell0/LSTMCell", f"{direction}/RNN/LSTMCell"
                )
        if num_layers == 1:
            assert check_weights_file(path, bilm.options) == "float32"
            for name, tensor in read_weights(path, bilm.options):
                assert torch.equal(tensor, bilm.state_dict()[name]), name
        else:
            with pytest.raises(BiLmError, match=r"RNN_0/RNN/MultiRNNCell/Cell0/.* is missing"):
                check_weights_file(path, bilm.options)


def test_a_damaged_dataset_is_named(make_bilm: BiLmMaker, tmp_path: Path) -> None:
    path = tmp_path / "weights.hdf5"
    bilm = make_bilm()
    write_weights(path, bilm.state_dict(), bilm.options, dtype="float16")
    with h5py.File(path, "r") as file:
        chunk = file["char_embed"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(bytes(content))
    with pytest.raises(BiLmError, match=f"weight file {path}: not a whole HDF5 file"):
        dict(read_weights(path, bilm.options))


def test_a_file_of_a_bilm_that_reads_whole_words_is_refused(written: tuple[BiLm, Path]) -> None:
    bilm, path = written
    with h5py.File(path, "a") as file:
        file["embedding"] = np.zeros((7, 6), dtype=np.float32)
    dict(read_weights(path, bilm.options))
    with h5py.File(path, "a") as file:
        del file["char_embed"]
    with pytest.raises(BiLmError, match=r"reads whole words \(dataset embedding\)"):
        dict(read_weights(path, bilm.options))


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        (
            "RNN_1",
            "RNN_1/RNN/.* is missing, but required by the options, as a biLM has two directions",
        ),
        ("RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_P_0", "lstm.dim equal to lstm.projection_dim"),
    ],
)
def test_the_missing_datasets_of_another_kind_of_model_are_explained(
    written: tuple[BiLm, Path], left_out: str, message: str
) -> None:
    bilm, path = written
    with h5py.File(path, "a") as file:
        del file[left_out]
    with pytest.raises(BiLmError, match=message):
        dict(read_weights(path, bilm.options))


HDF5_WORDS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1
)


@pytest.mark.slow
@at_most(10)
@given(words=HDF5_WORDS)
def test_the_softmax_survives_a_round_trip(
    words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("weights") / "weights.hdf5"
    bilm, softmax = random_bilm(), random_softmax(words)
    write_weights(path, bilm.state_dict(), bilm.options, softmax=softmax)
    read = read_softmax(path, bilm.options)
    assert read is not None and read.words == words
    assert torch.equal(read.weight, softmax.weight) and torch.equal(read.bias, softmax.bias)


def test_a_softmax_without_its_vocabulary_is_ignored(written: tuple[BiLm, Path]) -> None:
    bilm, path = written
    assert read_softmax(path, bilm.options) is None
    with h5py.File(path, "a") as file:
        file["softmax/W"], file["softmax/b"] = np.zeros((3, 6)), np.zeros(3)
    assert read_softmax(path, bilm.options) is None


def test_a_softmax_with_inconsistent_shapes_is_refused(
    make_bilm: BiLmMaker, tmp_path: Path
) -> None:
    bilm, path = make_bilm(), tmp_path / "weights.hdf5"
    write_weights(path, bilm.state_dict(), bilm.options, softmax=random_softmax(["a", "b"], dim=5))
    with pytest.raises(
        BiLmError, match=r"shapes \(2, 5\) and \(2,\), but .* ask for \(2, 6\) and \(2,\)"
    ):
        read_softmax(path, bilm.options)


def test_a_word_that_hdf5_cannot_hold_is_refused(make_bilm: BiLmMaker, tmp_path: Path) -> None:
    bilm, softmax = make_bilm(), random_softmax(["a", "b\0c"])
    with pytest.raises(BiLmError, match="cannot hold a word with the character NUL"):
        write_files(tmp_path, Checkpoint(bilm.options, bilm.state_dict().items(), softmax))
    assert not list(tmp_path.iterdir())
