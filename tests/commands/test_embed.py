"""The command, in the layouts of the one that AllenNLP had, against AllenNLP's own ELMo."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from allennlp.commands import main
from allennlp.common.checks import ConfigurationError
from allennlp.modules.elmo import Elmo, batch_to_ids
from allennlp.nn.util import remove_sentence_boundaries

from elmo_plugin.bilm import BiLm
from tests.small_bilm import loud_bilm, write_pair

LINES = ["the cat sat on the mat .", "Ein Wörterbuch", "", "and / or", "Ein Wörterbuch", " why \t not ? "]


class Files:
    """A small biLM in the published layout."""

    def __init__(self, folder: Path, **bilm: Any) -> None:
        self.bilm = loud_bilm(**bilm).eval()
        self.pair = write_pair(self.bilm, folder)

    @property
    def arguments(self) -> list[str]:
        return ["--options-file", self.pair["options"], "--weight-file", self.pair["weights"]]


class Peer:
    """AllenNLP's own, which starts each sentence from zero here."""

    def __init__(self, files: Files) -> None:
        self._elmo = Elmo(files.pair["options"], files.pair["weights"], 1, dropout=0.0).eval()._elmo_lstm

    @torch.no_grad()
    def layers(self, sentences: list[list[str]]) -> list[np.ndarray]:
        """Of sentences with at least a word each, in one batch: (layers, words, dim)."""
        self._elmo._elmo_lstm.reset_states()
        output = self._elmo(batch_to_ids(sentences))
        layers = [remove_sentence_boundaries(each, output["mask"])[0] for each in output["activations"]]
        together = torch.stack(layers, dim=1).numpy()
        return [together[row, :, : len(words)] for row, words in enumerate(sentences)]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "bilm").mkdir()
    return Files(tmp_path / "bilm")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path / "text.txt"


def embed(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr("sys.argv", ["allennlp", "elmo-embed", *map(str, arguments)])
    main()


def datasets(path: Path) -> dict[str, Any]:
    with h5py.File(path) as file:
        return {key: file[key][()] for key in file}


@pytest.mark.parametrize("layout", ["all", "top", "mean"])
def test_the_layouts_are_those_of_the_old_command_with_allennlps_numbers(
    layout: str, files: Files, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(monkeypatch, text, tmp_path / "out.hdf5", f"--{layout}", *files.arguments)
    found, peer = datasets(tmp_path / "out.hdf5"), Peer(files)
    index = found.pop("sentence_to_index")
    assert index.shape == (1,)
    assert json.loads(index[0]) == {
        "the cat sat on the mat .": "0",
        "Ein Wörterbuch": "4",
        "": "2",
        "and / or": "3",
        "why \t not ?": "5",
    }
    assert found.keys() == set("012345")
    for key, line in enumerate(LINES):
        vectors = found[str(key)]
        shape = (3, len(line.split()), 12) if layout == "all" else (len(line.split()), 12)
        assert vectors.shape == shape and vectors.dtype == np.float32
        if line:
            layers = peer.layers([line.split()])[0]
            expected = {"all": layers, "top": layers[-1], "mean": np.average(layers, axis=0)}[layout]
            np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_without_options_the_vectors_are_the_mean_of_the_layers_of_base(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = BiLm.from_pretrained("base").embed([LINES[0].split()])[0].mean(dim=0)
    for output in ([tmp_path / "one.NPZ"], ["-o", tmp_path / "other.npz"]):
        embed(monkeypatch, text, *output)
        with np.load(output[-1]) as arrays:
            np.testing.assert_allclose(arrays["0"], expected, atol=1e-5)
            assert arrays.files == list("012345") and arrays["2"].shape == (0, 512)


@pytest.mark.parametrize("output", [[], ["a.npz", "-o", "b.npz"]])
def test_one_output_is_named(output: list[str], text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(text.parent)
    with pytest.raises((SystemExit, ConfigurationError)):
        embed(monkeypatch, text, *output)


def test_options_reach_the_file(
    files: Files, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    options = ["--all", "--dtype", "float16", "--compression", "gzip", "--compression-level", "7"]
    options += ["--tokenizer", "spacy", "--language", "de", "--batch-size", "3", "--max-batch-tokens", "50"]
    arguments = text, tmp_path / "out.h5", *options, *files.arguments
    embed(monkeypatch, *arguments)
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["0"].dtype, file["0"].compression_opts) == (np.float16, 7)
        about = json.loads(file.attrs["elmo_embed"])
    expected = {
        "tokenizer": "spacy",
        "language": "de",
        "batch_size": 3,
        "max_batch_tokens": 50,
        "device": "cpu",
    }
    assert expected.items() <= about.items()
    assert f"wrote {tmp_path / 'out.h5'}" in capsys.readouterr().out
    embed(monkeypatch, *arguments)
    assert "is already complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all", "--bilm", "tiny", "--options-file", "o", "--weight-file", "w"], "give one biLM"),
        (["--mix", "ner", "--bilm", "tiny"], "give one biLM"),
        (["--all", "--options-file", "o"], "go together"),
        (["--all", "--bilm", "tiny", "--device", "cuda:99"], "GPU not found: cuda:99"),
    ],
)
def test_arguments_that_do_not_go_together_are_named(
    arguments: list[str], message: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        embed(monkeypatch, text, tmp_path / "out.hdf5", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
