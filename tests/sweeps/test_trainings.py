"""The configurations of a sweep: files, and named variants in a file."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps.trainings import SEEDS, find_trainings, read_configs, read_metrics

VARIANTS = """
    local model(layers) = { layers: layers, lr: 0.1 };
    {
      ner_elmo: model('all'), ner_top: model('top'), 'ner_lambda_0.001': model('all'),
      sst_elmo: model('all'),
    }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "variants.jsonnet"
    path.write_text(VARIANTS)
    return path


def test_configurations_are_files_or_variants_in_a_file(file: Path) -> None:
    (file.parent / "sst_elmo.jsonnet").write_text("{ lr: 1 - 0.9 }")
    assert read_configs(f"{file.parent}/sst_elmo.jsonnet") == {
        "sst_elmo": {"lr": pytest.approx(0.1)}
    }
    assert read_configs(f"{file}:ner_top") == {"ner_top": {"layers": "top", "lr": 0.1}}
    assert list(read_configs(f"{file}:ner_lambda_0.001")) == ["ner_lambda_0.001"]
    assert sorted(read_configs(f"{file}:*_elmo")) == ["ner_elmo", "sst_elmo"]
    assert read_configs(f"{file}:ner_top", '{"lr": 1}') == {"ner_top": {"layers": "top", "lr": 1}}


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("{ a: }", "a.jsonnet", "STATIC ERROR: .*a.jsonnet:1:6"),
        ("[1]", "a.jsonnet", r"a\.jsonnet: expected a JSON object, got \[1\]"),
        ("{ b: 'text' }", "a.jsonnet:*", r"a\.jsonnet:\*: b: expected a JSON object, got 'text'"),
        ("{ b: {}, c: {} }", "a.jsonnet:d", "a.jsonnet: unknown variant d, expected b, c"),
    ],
)
def test_mistakes_in_configurations_are_named(
    text: str, source: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonnet").write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_configs(f"{tmp_path}/{source}")


def test_each_configuration_is_trained_with_each_seed(file: Path, tmp_path: Path) -> None:
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
