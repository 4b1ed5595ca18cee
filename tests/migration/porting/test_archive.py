"""Archives of old trainings keep their weights, or are refused before anything is written."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params

from elmo_plugin.archives import load_archive
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.migration.porting import port_config
from elmo_plugin.migration.porting.archive import port_archive
from elmo_plugin.migration.porting.config import Config
from tests.allennlp_elmo import dropin
from tests.conftest import REPOSITORY
from tests.migration.porting.public_configs import BUCKET, ELMO_ONLY, lstm, write_data

BILM = REPOSITORY / "tests" / "fixtures" / "bilm"
KEY = "model.text_field_embedder.elmo.{}"
pytestmark = pytest.mark.slow


def old_config(folder: Path, is_nested: bool = False) -> Config:
    """A tagger of AllenNLP 0.x, with the biLM at an address."""
    elmo = {"type": "elmo_token_embedder", "dropout": 0.0}
    elmo |= {"options_file": f"{BUCKET}/options.json", "weight_file": f"{BUCKET}/weights.hdf5"}
    embedders: Config = {"token_embedders": {"elmo": elmo}} if is_nested else {"elmo": elmo}
    return {
        "dataset_reader": {
            "type": "conll2003",
            "tag_label": "pos",
            "token_indexers": ELMO_ONLY,
            "lazy": False,
        },
        "train_data_path": str(folder / "data" / "train"),
        "model": {"type": "simple_tagger", "text_field_embedder": embedders, "encoder": lstm(12)},
        "iterator": {"type": "basic", "batch_size": 2},
        "trainer": {"optimizer": "adam", "num_epochs": 1, "cuda_device": -1},
    }


def write_old_archive(
    folder: Path, weights: dict[str, Any] | None = None, is_nested: bool = False
) -> Path:
    """Writes the archive as AllenNLP 0.x does: the files of the biLM are in it."""
    write_data(folder / "data")
    old = old_config(folder, is_nested)
    key = KEY.replace("elmo", "token_embedders.elmo") if is_nested else KEY
    elmo = old["model"]["text_field_embedder"]
    embedder = (elmo["token_embedders"] if is_nested else elmo)["elmo"]
    files = {"options_file": "options.json", "weight_file": "weights.hdf5"}
    local = {option: str(BILM / name) for option, name in files.items()}
    new, _ = port_config(old)
    new["model"]["text_field_embedder"]["token_embedders"]["elmo"] |= local
    model = train_model(Params(new), str(folder / "run"))
    (folder / "config.json").write_text(json.dumps(old))
    (folder / "files_to_archive.json").write_text(
        json.dumps({key.format(option): embedder[option] for option in files})
    )
    torch.save(weights if weights is not None else dict(model.state_dict()), folder / "weights.th")
    archive = folder / "old.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("config.json", "files_to_archive.json", "weights.th"):
            tar.add(folder / name, arcname=name)
        tar.add(folder / "run" / "vocabulary", arcname="vocabulary")
        for option, name in files.items():
            tar.add(BILM / name, arcname=f"fta/{key.format(option)}")
    return archive


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_ported_archive_keeps_its_weights_and_needs_no_other_file(
    is_nested: bool, tmp_path: Path
) -> None:
    archive = write_old_archive(tmp_path, is_nested=is_nested)
    notes: list[str] = []
    with dropin():
        port_archive(str(archive), str(tmp_path / "new.tar.gz"), notes.append)
        loaded = load_archive(tmp_path / "new.tar.gz")
    expected = torch.load(tmp_path / "weights.th")
    for name, values in loaded.model.state_dict().items():
        torch.testing.assert_close(values, expected[name], rtol=0, atol=0)
    assert "iterator: now `data_loader`" in notes and not any(
        "it needs the files" in note for note in notes
    )
    embedder = loaded.config["model"]["text_field_embedder"]["token_embedders"]["elmo"]
    assert embedder["options_file"] == "https://allennlp.s3.amazonaws.com/options.json"


@pytest.mark.usefixtures("without_hardening")
def test_mismatched_weights_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    archive = write_old_archive(tmp_path, {"encoder._module.weight_ih_l0": torch.ones(2, 2)})
    mistake = r"cannot be carried over: .*encoder._module.weight_ih_l0"
    with dropin(), pytest.raises(BiLmError, match=mistake):
        port_archive(str(archive), str(tmp_path / "new.tar.gz"), str)
    assert not (tmp_path / "new.tar.gz").exists()
