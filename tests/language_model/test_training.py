"""`allennlp train` from a configuration to an archive, and what is left of its settings."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import Model, load_archive

from elmo_plugin.bilm import BiLm
from elmo_plugin.commands.export import export
from tests.language_model.small_models import evaluate, make_loader
from tests.trained_bilm import random_bilm, write_training


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
    assert BiLm.from_pretrained(Path("tiny")).options == loaded.bilm.options, "not the model of this name"


@pytest.mark.slow
def test_a_fine_tuned_bilm_needs_its_source_no_more(bilm_config: dict[str, Any], tmp_path: Path) -> None:
    source = write_training(tmp_path / "source" / "run", random_bilm())
    export(str(source), tmp_path / "source" / "exported")
    del bilm_config["model"]["options"]
    bilm_config["trainer"]["num_epochs"] = 1
    for number, initial in enumerate((source, tmp_path / "source" / "exported")):
        run = tmp_path / f"run {number}"
        bilm_config["model"] |= {"initial": str(initial), "warm_up_batches": 3}
        model = train_model(Params(copy.deepcopy(bilm_config)), serialization_dir=run)
        (tmp_path / "source").rename(tmp_path / "elsewhere")
        loaded = [load_archive(path).model for path in (run / "model.tar.gz", run)]
        (tmp_path / "elsewhere").rename(tmp_path / "source")
        recovered = train_model(Params(copy.deepcopy(bilm_config)), serialization_dir=run, recover=True)
        perplexities = [_perplexity(one, bilm_config) for one in (model, *loaded, recovered)]
        assert perplexities == perplexities[:1] * 4
        assert not torch.equal(model.bilm.state_dict()[PROJECTION], random_bilm().state_dict()[PROJECTION])


PROJECTION = "token_encoder.projection.weight"


def _perplexity(model: Model, config: dict[str, Any]) -> float:
    return evaluate(model, model.vocab, make_loader(config))["perplexity"]
