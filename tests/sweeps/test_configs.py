"""The configurations of a sweep: files, and named variants in a file."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps.configs import read_configs

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


def test_a_trainer_may_be_named_by_its_type_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonnet").write_text("{ trainer: 'resumable' }")
    read = read_configs(f"{tmp_path}/a.jsonnet", '{"trainer.num_epochs": 2}')
    assert read == {"a": {"trainer": {"type": "resumable", "num_epochs": 2}}}


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
