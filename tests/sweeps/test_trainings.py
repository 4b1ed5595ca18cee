"""The configurations that a sweep is given: files, and named variants in a file."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.sweeps.trainings import find_trainings, read_configs

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


def test_a_plain_file_is_one_configuration(tmp_path: Path) -> None:
    (tmp_path / "sst_elmo.jsonnet").write_text("{ lr: 1 - 0.9 }")
    assert read_configs(f"{tmp_path}/sst_elmo.jsonnet") == {"sst_elmo": {"lr": pytest.approx(0.1)}}


def test_a_variant_is_a_field_of_a_file(file: Path) -> None:
    assert read_configs(f"{file}:ner_top") == {"ner_top": {"layers": "top", "lr": 0.1}}
    assert list(read_configs(f"{file}:ner_lambda_0.001")) == ["ner_lambda_0.001"]


def test_a_pattern_is_all_variants_that_match(file: Path) -> None:
    assert sorted(read_configs(f"{file}:ner_*")) == ["ner_elmo", "ner_lambda_0.001", "ner_top"]
    assert sorted(read_configs(f"{file}:*_elmo")) == ["ner_elmo", "sst_elmo"]


def test_overrides_are_of_the_variant(file: Path) -> None:
    assert read_configs(f"{file}:ner_top", '{"lr": 1}') == {"ner_top": {"layers": "top", "lr": 1}}


def test_an_unknown_variant_is_an_error_that_names_the_known_ones(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"variants\.jsonnet has no variant ner_out, but ner_elmo, "):
        read_configs(f"{file}:ner_out")


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("{ a: }", "a.jsonnet", "STATIC ERROR: .*a.jsonnet:1:6"),
        ("error 'no'", "a.jsonnet", "RUNTIME ERROR: no"),
        ("[1]", "a.jsonnet", r"a\.jsonnet: expected a JSON object, found \[1\]"),
        ("{ b: 'text' }", "a.jsonnet:*", r"a\.jsonnet:\*: b: expected a JSON object, found 'text'"),
        ("{ trainer: 'x' }", "a.jsonnet", "a, its trainer: expected a JSON object, found 'x'"),
    ],
)
def test_what_is_no_configuration_is_an_error_that_names_it(
    text: str, source: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonnet").write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_configs(f"{tmp_path}/{source}")


def test_overrides_that_are_no_json_are_an_error(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"STATIC ERROR|not JSON"):
        read_configs(f"{file}:ner_top", "{")
    with pytest.raises(ConfigurationError, match=r"the overrides.* a JSON object, "):
        read_configs(f"{file}:ner_top", "[1]")


def test_each_configuration_has_a_training_for_each_seed(file: Path, tmp_path: Path) -> None:
    trainings = find_trainings([f"{file}:ner_top", f"{file}:sst_*"], tmp_path, seeds=2)
    assert [(str(each), each.folder) for each in trainings] == [
        (f"{name} with seed {seed}", tmp_path / name / str(seed))
        for name in ("ner_top", "sst_elmo")
        for seed in (1, 2)
    ]
    for each in trainings:
        assert (
            each.config.items()
            >= dict.fromkeys(("random_seed", "numpy_seed", "pytorch_seed"), each.seed).items()
        )


def test_two_configurations_of_one_name_are_an_error(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="several configurations have the name ner_top"):
        find_trainings([f"{file}:ner_top", f"{file}:ner_*"], tmp_path, seeds=1)


@pytest.mark.parametrize("name", ["../evil", "..", ".", "", "a/b", "/evil", "a@b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "variants.json").write_text(json.dumps({name: {}}))
    with pytest.raises(ConfigurationError, match="cannot have a folder of its name"):
        find_trainings([f"{tmp_path}/variants.json:*"], tmp_path / "runs", seeds=1)


def test_parts_of_the_data_need_a_reader_and_take_no_callbacks_for_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="needs a dataset_reader"):
        find_trainings([f"{tmp_path}/a.json"], tmp_path / "runs", seeds=1, fractions=[0.5])
    (tmp_path / "a.json").write_text('{"dataset_reader": {}, "trainer": {"callbacks": null}}')
    (training,) = find_trainings([f"{tmp_path}/a.json"], tmp_path / "runs", seeds=1, fractions=[0.5])
    assert training.config["trainer"] == {"callbacks": ["updates"]}


def test_parts_of_the_data_are_the_same_for_all_configurations(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"dataset_reader": {"type": name}, "trainer": {}}))
    files = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    trainings = find_trainings(files, tmp_path / "runs", seeds=2, fractions=[0.1, 1.0])
    assert [each.full_name for each in trainings] == [
        f"{name}@{fraction}" for name in "ab" for fraction in ("0.1", "1") for _ in range(2)
    ]
    assert [each.folder for each in trainings[:3]] == [
        tmp_path / "runs" / folder for folder in ("a@0.1/1", "a@0.1/2", "a@1/1")
    ]
    readers = [each.config["dataset_reader"] for each in trainings]
    assert [(reader["fraction"], reader["seed"]) for reader in readers] == 2 * [
        (0.1, 1),
        (0.1, 2),
        (1, 1),
        (1, 2),
    ]
    assert [reader["base_reader"]["type"] for reader in readers] == 4 * ["a"] + 4 * ["b"]
    assert trainings[0].config["validation_dataset_reader"] == {"type": "a"}
    assert trainings[0].config["trainer"]["callbacks"] == ["updates"]
