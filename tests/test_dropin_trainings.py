"""With `elmo_plugin.dropin`, what is said of single tensors, or of AllenNLP's own parts, holds."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model

from elmo_plugin import shims
from elmo_plugin.common.formats.torch_files import load_plain
from tests.allennlp_elmo import dropin, tagger_config, train
from tests.migration.allennlp_api.conftest import write_bilm

pytestmark = pytest.mark.usefixtures("without_hardening")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return write_bilm(tmp_path / "bilm")


def weights(archive: Path) -> dict[str, torch.Tensor]:
    return load_plain(archive.parent / "best.th", name=str(archive))


def untrained_model(config: dict[str, Any]) -> Model:
    config = json.loads(json.dumps(config))
    reader = DatasetReader.from_params(Params(config["dataset_reader"]))
    vocab = Vocabulary.from_instances(reader.read(config["train_data_path"]))
    return Model.from_params(Params(config["model"]), vocab=vocab)


def test_the_shims_for_allennlps_own_parts_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[None] = []
    monkeypatch.setattr(shims, "apply", lambda: applied.append(None))
    with dropin():
        assert applied == [None]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_pretrained_initializer_finds_all_tensors(
    tmp_path: Path, files: tuple[str, str], requires_grad: bool
) -> None:
    other = write_bilm(tmp_path / "other", seed=1)
    start = train(tagger_config(tmp_path, other, requires_grad=requires_grad), tmp_path / "start")
    config = tagger_config(tmp_path, files, requires_grad=requires_grad)
    initializer = {"type": "pretrained", "weights_file_path": str(start.parent / "best.th")}
    config["model"]["initializer"] = {"regexes": [[".*", initializer]]}
    ids = torch.randint(1, 262, (2, 3, 50))
    with dropin():
        model = untrained_model(config).eval()
    theirs = untrained_model(config).eval()
    expected = weights(start)
    for name, tensor in model.state_dict().items():
        # The bias of a forget gate was rounded without the constant 1 that AllenNLP's contains.
        tolerance = 1e-6 if "state_linearity.bias" in name else 0
        torch.testing.assert_close(tensor, expected[name], atol=tolerance, rtol=0, msg=name)
    embedders = [each.text_field_embedder.token_embedder_elmo for each in (model, theirs)]
    torch.testing.assert_close(*(embedder(ids) for embedder in embedders), atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "frozen",
    [r"_token_embedder", r"forward_layer_1\.state_linearity\.(weight|bias)", r"_highways.*bias"],
)
def test_tensors_of_the_bilm_have_allennlps_names(
    tmp_path: Path, files: tuple[str, str], frozen: str
) -> None:
    start = train(
        tagger_config(tmp_path, files, requires_grad=True, dropout=0.0), tmp_path / "start"
    )
    config = tagger_config(tmp_path, files)
    config["model"] = {"type": "from_archive", "archive_file": str(start)}
    config["trainer"] |= {"no_grad": [rf".*{frozen}.*"], "optimizer": {"type": "sgd", "lr": 0.5}}
    expected = weights(train(config, tmp_path / "theirs"))
    with dropin():
        actual = weights(train(config, tmp_path / "ours"))
    before = weights(start)
    for name, tensor in actual.items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-5, rtol=0, msg=name)
    moved = {name for name, tensor in actual.items() if not torch.equal(tensor, before[name])}
    in_bilm = {name for name in moved if "_elmo_lstm" in name}
    assert in_bilm and not any(torch.equal(actual[name], before[name]) for name in in_bilm)
    assert len(in_bilm) < sum("_elmo_lstm" in name for name in actual), "some were frozen"
