"""The trainings of a sweep: their folders, and the metrics in them."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps.configs import SEEDS
from elmo_plugin.sweeps.trainings import find_trainings, read_metrics


def test_each_configuration_is_trained_with_each_seed(tmp_path: Path) -> None:
    file = tmp_path / "variants.json"
    file.write_text('{"ner_elmo": {}, "ner_top": {}, "sst_elmo": {}}')
    trainings = find_trainings([f"{file}:ner_top", f"{file}:sst_*"], tmp_path, seeds=[1, 2])
    expected = [(name, seed) for name in ("ner_top", "sst_elmo") for seed in (1, 2)]
    assert [(training.name, training.seed) for training in trainings] == expected
    assert [training.folder for training in trainings] == [
        tmp_path / n / str(s) for n, s in expected
    ]
    for training in trainings:
        assert {training.config[name] for name in SEEDS} == {training.seed}


@pytest.mark.parametrize("name", ["../evil", "..", ".", "", "a/b", "/evil"])
def test_a_name_that_leads_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "variants.json").write_text(json.dumps({name: {}}))
    with pytest.raises(ConfigurationError, match="cannot have a folder of its name"):
        find_trainings([f"{tmp_path}/variants.json:*"], tmp_path / "runs", seeds=[1])


def test_a_file_that_cannot_be_read_is_not_called_an_unfinished_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="exists, but its training is not finished"):
        read_metrics({}, tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "metrics.json").write_text('{"cut": ')
    with pytest.raises(ConfigurationError, match="exists, but its training is not finished"):
        read_metrics({}, tmp_path)

    def refuse(path: Path, **_: str) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: .*config\.json"):
        read_metrics({}, tmp_path)
