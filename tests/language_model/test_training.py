"""`allennlp train` from a configuration to an archive, and what is left of its settings."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_plugin.bilm import BiLm


def test_a_bilm_is_trained_and_found_again_in_its_archive(
    bilm_config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precision = torch.get_float32_matmul_precision()
    model = train_model(Params(bilm_config), serialization_dir=tmp_path / "run")
    loaded = load_archive(tmp_path / "run" / "model.tar.gz").model
    for source in ("run/model.tar.gz", "run"):
        bilm = BiLm.from_pretrained(tmp_path / source)
        for name, tensor in model.bilm.state_dict().items():
            assert torch.equal(bilm.state_dict()[name], tensor)
            assert torch.equal(loaded.bilm.state_dict()[name], tensor)
    assert torch.get_float32_matmul_precision() == precision, "it is as it was before training"
    (tmp_path / "run").rename(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    assert BiLm.from_pretrained(Path("tiny")).options == loaded.bilm.options, (
        "not the model of this name"
    )
