from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
import yaml
from allennlp.modules.elmo import Elmo, batch_to_ids

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.io.hdf5_weights import read_softmax
from elmo_plugin.bilm.io.sources import MODELS
from elmo_plugin.commands.export import export
from tests.commands.run import run
from tests.trained_bilm import random_bilm, write_training

SENTENCES = [["The", "cat", "sat", "."], ["Why", "?"]]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_training(tmp_path / "run", random_bilm())


def _load(folder: Path) -> BiLm:
    return BiLm.from_files(folder / "options.json", folder / "weights.hdf5")


def _datasets(path: Path) -> dict[str, Any]:
    """The type, the shape and the content of every dataset."""
    found: dict[str, Any] = {}

    def take(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            content = item[()] if item.dtype.hasobject else item[()].tobytes()
            found[name] = (
                item.dtype,
                item.shape,
                content.tolist() if item.dtype.hasobject else content,
            )

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return found


def test_allennlps_own_elmo_loads_the_exported_files_to_the_same_numbers(
    archive: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run("export", archive, out)
    assert sorted(path.name for path in out.iterdir()) == ["options.json", "weights.hdf5"]
    with h5py.File(out / "weights.hdf5") as file:
        assert "softmax/W" in file
    # An untrained mix is the mean of the layers, and the first call starts from a state of zeros.
    peer = Elmo(str(out / "options.json"), str(out / "weights.hdf5"), 1, dropout=0.0).eval()
    expected = peer(batch_to_ids(SENTENCES))["elmo_representations"][0]
    for row, vectors in enumerate(BiLm.from_pretrained(archive).embed(SENTENCES)):
        torch.testing.assert_close(
            vectors.mean(dim=0), expected[row, : vectors.size(1)], atol=1e-6, rtol=1e-5
        )


def test_without_the_softmax_only_the_published_datasets_are_written(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    run("export", archive, tmp_path / "with")
    assert "with a softmax over 9 words" in capsys.readouterr().out
    run("export", archive, tmp_path / "without", "--no-softmax")
    assert "with no softmax" in capsys.readouterr().out
    with_softmax, without = (
        _datasets(tmp_path / name / "weights.hdf5") for name in ("with", "without")
    )
    assert set(with_softmax) - set(without) == {"softmax/W", "softmax/b", "softmax/words"}
    assert without == {name: with_softmax[name] for name in without}


def test_an_imported_model_is_exported_to_the_same_bytes(shared: Path, tmp_path: Path) -> None:
    source = shared / "parity" / "elmo"
    run("export", source, tmp_path / "out")
    assert _datasets(tmp_path / "out" / "weights.hdf5") == _datasets(source / "lm_weights.hdf5")


@pytest.mark.slow
def test_a_half_precision_model_is_exported_to_the_same_bytes_except_lstm_biases(
    tmp_path: Path,
) -> None:
    run("export", "tiny", tmp_path / "out")
    weights = Path(MODELS["tiny"][1])
    found, expected = _datasets(tmp_path / "out" / "weights.hdf5"), _datasets(weights)
    biases = {name for name in expected if name.endswith("LSTMCell/B")}
    assert len(biases) == 4
    assert {name for name in expected if found[name] != expected[name]} == biases
    assert set(found) == set(expected)
    with h5py.File(weights) as before, h5py.File(tmp_path / "out" / "weights.hdf5") as after:
        for name in biases:
            assert after[name].dtype == np.float32
            np.testing.assert_array_equal(after[name][()], before[name][()])


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """An export of another biLM, which is there already."""
    export("tiny", tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.slow
def test_an_export_killed_between_its_two_files_does_not_load(archive: Path, earlier: Path) -> None:
    old_options = (earlier / "options.json").read_text()
    export(archive, earlier)
    _load(earlier)
    (earlier / "options.json").write_text(old_options)
    with pytest.raises(BiLmError, match=r"the options next to it are not .*lstm\.dim was 10, not "):
        _load(earlier)
    export(archive, earlier)
    _load(earlier)


def test_a_hub_folder_gets_a_card_that_describes_it(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my-elmo"
    run("export", archive, "--hf", folder)
    assert {path.name for path in folder.iterdir()} == {"README.md", "options.json", "weights.hdf5"}
    card = (folder / "README.md").read_text()
    _, metadata, text = card.split("---\n", maxsplit=2)
    assert yaml.safe_load(metadata)["library_name"] == "elmo_plugin"
    bilm = _load(folder)
    parameters = sum(parameter.numel() for parameter in bilm.parameters())
    softmax = read_softmax(folder / "weights.hdf5", bilm.options)
    assert text.strip().startswith("# my-elmo\n")
    assert f"| parameters of the biLM | {parameters:,} |" in text
    assert f"| vectors | {bilm.num_layers} layers of {bilm.output_dim} |" in text
    assert softmax is not None and f"| softmax | {len(softmax.words)} words |" in text


@pytest.mark.slow
def test_the_card_of_tiny_names_its_licence_language_and_sources(tmp_path: Path) -> None:
    run("export", "tiny", "--hf", tmp_path / "exported")
    BiLm.from_pretrained("tiny").save_pretrained(tmp_path / "saved")
    for folder in (tmp_path / "exported", tmp_path / "saved"):
        text = (folder / "README.md").read_text()
        found = yaml.safe_load(text.split("---\n")[1])
        assert (found["license"], found["language"]) == ("apache-2.0", "en")
        assert (
            "SQuAD v1.1 paragraphs of 34 articles (rajpurkar/SQuAD-explorer) | 209,265 | CC BY-SA"
            in text
        )
        assert f"# {folder.name}\n" in text and "Complete this" not in text
        assert "../.." not in text and "![" not in text
    run("export", tmp_path / "saved", "--hf", tmp_path / "again")
    again = (tmp_path / "again" / "README.md").read_text()
    assert again.count("## Training data") == again.count("## Use") == 1
