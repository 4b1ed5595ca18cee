"""The trained models of the package are those of `experiments/bundled`, in half precision."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest
import torch

from elmo_plugin.common.bundled import trained_models
from elmo_plugin.common.formats.archives import read_members
from elmo_plugin.common.formats.torch_files import json_to_tensor, load_plain
from elmo_plugin.sweeps.configs import with_seed
from tests.conftest import REPOSITORY
from tests.experiments.configs import read_config


@pytest.fixture
def build() -> ModuleType:
    return importlib.import_module("build")


def test_each_archive_contains_the_configuration_of_its_name(build: ModuleType) -> None:
    configs = read_config("experiments/bundled/models.jsonnet")
    for name, model in trained_models().items():
        (content,) = read_members(model.file, lambda file: file == "config.json").values()
        expected = with_seed(configs[name], build.MODELS[name].seed)
        found = json.loads(content)
        for option in ("type", "checkpointer"):
            if option not in found["trainer"]:  # in models that were trained before there was one
                del expected["trainer"][option]
        assert found == expected


@pytest.mark.slow
def test_the_first_of_two_trainings_comes_first_and_its_weights_begin_the_second(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert build.trainings_of("ner") == ["ner"]
    configs = read_config("experiments/bundled/models.jsonnet")
    for name in ("sst", "snli"):
        first, second = build.trainings_of(name)
        assert (first, second) == (f"{name}_first", name)
        folder = f"{build.RUNS}/{first}/{build.MODELS[name].seed}"
        ((_, initializer),) = configs[second]["model"]["initializer"]["regexes"]
        assert initializer["weights_file_path"] == f"{folder}/best.th"
        assert configs[second]["vocabulary"]["directory"] == f"{folder}/vocabulary"


def test_weights_are_packed_in_half_precision_and_metadata_unchanged(
    build: ModuleType, tmp_path: Path
) -> None:
    state = {
        "weight": torch.randn(3, 4),
        "ids": torch.arange(3),
        "_extra_state": json_to_tensor("base"),
    }
    (tmp_path / "vocabulary").mkdir()
    (tmp_path / "vocabulary" / "labels.txt").write_text("O\n")
    for name in ("config.json", "meta.json"):
        (tmp_path / name).write_text("{}")
    torch.save(state, tmp_path / "best.th")
    for archive in ("a.tar.gz", "b.tar.gz"):
        build.pack(tmp_path, tmp_path / archive)
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    files = read_members(tmp_path / "a.tar.gz", lambda file: True)
    assert list(files) == ["config.json", "weights.th", "meta.json", "vocabulary/labels.txt"]
    packed = load_plain(files["weights.th"], "weights")
    assert torch.equal(packed["weight"], state["weight"].half())
    assert all(torch.equal(packed[name], state[name]) for name in ("ids", "_extra_state"))


def test_a_weight_beyond_half_precision_is_an_error(build: ModuleType) -> None:
    with pytest.raises(ValueError, match="weight does not fit into half precision"):
        build.half("weight", torch.tensor([1e6]))
