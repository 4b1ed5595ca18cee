from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands import main
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.elmo import Elmo, batch_to_ids

from elmo_plugin.bilm import BiLm
from elmo_plugin.commands.export import export

SENTENCES = [["The", "cat", "sat", "."], ["Why", "?"]]


@pytest.fixture
def trained(bilm_config: dict[str, Any], tmp_path: Path) -> Path:
    train_model(Params(bilm_config), serialization_dir=tmp_path / "run")
    return tmp_path / "run" / "model.tar.gz"


def test_allennlps_own_elmo_loads_the_exported_files_to_the_same_numbers(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["allennlp", "elmo-export", str(trained), str(out)])
    main()
    assert sorted(path.name for path in out.iterdir()) == ["options.json", "weights.hdf5"]
    # An untrained mix is the mean of the layers, and the first call starts from a state of zeros.
    peer = Elmo(str(out / "options.json"), str(out / "weights.hdf5"), 1, dropout=0.0).eval()
    expected = peer(batch_to_ids(SENTENCES))["elmo_representations"][0]
    for row, vectors in enumerate(BiLm.from_archive(trained).embed(SENTENCES)):
        torch.testing.assert_close(
            vectors.mean(dim=0), expected[row, : vectors.size(1)], atol=1e-6, rtol=1e-5
        )


def test_half_precision_is_loaded_to_nearly_the_same_numbers(trained: Path, tmp_path: Path) -> None:
    export(str(trained), str(tmp_path / "out"), dtype="float16")
    half = BiLm.from_files(tmp_path / "out" / "options.json", tmp_path / "out" / "weights.hdf5")
    for one, other in zip(half.embed(SENTENCES), BiLm.from_archive(trained).embed(SENTENCES), strict=True):
        torch.testing.assert_close(one, other, atol=5e-3, rtol=0)


def test_without_an_archive_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"archive .*absent\.tar\.gz: there is no such file"):
        export(str(tmp_path / "absent.tar.gz"), str(tmp_path / "out"))
    assert not list(tmp_path.iterdir())
