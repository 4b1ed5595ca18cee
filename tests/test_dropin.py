"""With `elmo_plugin.dropin`, what was made for AllenNLP's ELMo works, and gives the same."""

import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.commands import main
from allennlp.common import JsonDict, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Token, TokenIndexer
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.models import load_archive
from allennlp.modules import TokenEmbedder
from allennlp.modules.token_embedders import ElmoTokenEmbedder
from allennlp.predictors import Predictor

from elmo_plugin import batch_to_ids
from elmo_plugin.bilm.io import sources
from elmo_plugin.bilm.io.sources import MODELS
from elmo_plugin.common.formats.torch_files import load_plain
from elmo_plugin.migration.allennlp_api import token_embedder
from tests.allennlp_elmo import allennlps_own_afterwards, dropin, predictions, tagger_config, train
from tests.migration.allennlp_api.conftest import write_bilm

pytestmark = pytest.mark.usefixtures("without_hardening")
OPTIONS: list[dict[str, Any]] = [
    {},
    {"requires_grad": True},
    {"do_layer_norm": True},
    {"projection_dim": 5},
    {"scalar_mix_parameters": [0.5, -1.0, 2.0]},
    {"vocab_to_cache": ["@@PADDING@@", "@@UNKNOWN@@", "play"]},
]


@Predictor.register("test_dropin_tagger")
class TaggerPredictor(Predictor):
    """AllenNLP's own for this model wants a model of spaCy's."""

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(
            [Token(word) for word in json_dict["sentence"].split()]
        )


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return write_bilm(tmp_path / "bilm")


@pytest.fixture
def make_archive(tmp_path: Path, files: tuple[str, str]) -> Callable[..., Path]:
    """Trains a tagger; gives its archive."""

    def make(name: str, **options: Any) -> Path:
        return train(tagger_config(tmp_path, files, dropout=0.0, **options), tmp_path / name)

    return make


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """
    Trains a tagger with AllenNLP's ELMo, once for the same options; its archive is not to be
    changed.
    """
    folder = tmp_path_factory.mktemp("theirs")
    pair = write_bilm(folder / "bilm")

    @cache
    def of_options(options: str) -> Path:
        config = tagger_config(folder, pair, dropout=0.0, **json.loads(options))
        return train(config, Path(tempfile.mkdtemp(dir=folder)))

    return lambda **options: of_options(json.dumps(options))


def weights(archive: Path) -> dict[str, torch.Tensor]:
    return load_plain(archive.parent / "best.th", name=str(archive))


def registered() -> tuple[type, type]:
    return TokenEmbedder.by_name("elmo_token_embedder"), TokenIndexer.by_name("elmo_characters")


def test_importing_dropin_registers_its_names_once() -> None:
    assert registered() == (ElmoTokenEmbedder, ELMoTokenCharactersIndexer)
    for _ in range(2):
        with dropin():
            ours = (token_embedder.AllenNlpElmoTokenEmbedder, token_embedder.ElmoCharactersIndexer)
            assert registered() == ours
            sys.modules["elmo_plugin.dropin"].register()
            importlib.import_module("elmo_plugin.plugin")
            assert registered() == ours
    assert registered() == (ElmoTokenEmbedder, ELMoTokenCharactersIndexer)


def test_a_configuration_names_a_cache(tmp_path: Path, files: tuple[str, str]) -> None:
    cache = {"type": "sqlite", "path": str(tmp_path / "activations")}
    config = tagger_config(tmp_path, files, dropout=0.0, cache=cache)
    config["trainer"]["run_confidence_checks"] = False  # they hook the biLM for one batch
    with dropin():
        archive = train(config, tmp_path / "run")
        assert list((tmp_path / "activations").glob("*.sqlite")), "the training has filled it"
        np.testing.assert_allclose(
            predictions(archive), predictions(archive, cache={"type": "memory"}), atol=1e-6
        )


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_dropin_and_allennlp_load_each_others_archives_and_predict_the_same(
    make_archive: Callable[..., Path], theirs: Callable[..., Path], options: dict[str, Any]
) -> None:
    archive = theirs(**options)
    expected = predictions(archive)
    with dropin():
        np.testing.assert_allclose(predictions(archive), expected, atol=1e-5)
        ours = make_archive("ours", **options)
        expected = predictions(ours)
        assert (
            type(load_archive(ours).dataset_reader._token_indexers["elmo"])
            is token_embedder.ElmoCharactersIndexer
        )
    np.testing.assert_allclose(predictions(ours), expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_training_step_gives_the_same_weights_as_allennlp(
    theirs: Callable[..., Path], tmp_path: Path, files: tuple[str, str], options: dict[str, Any]
) -> None:
    start = theirs(**options)
    config = tagger_config(tmp_path, files)
    config["model"] = {"type": "from_archive", "archive_file": str(start)}
    config["trainer"]["no_grad"] = [r".*scalar_mix_0\.gamma$"]
    config["trainer"]["optimizer"] = {"type": "sgd", "lr": 0.5}
    expected = weights(train(config, tmp_path / "theirs"))
    with dropin():
        actual = weights(train(config, tmp_path / "ours"))
    assert actual.keys() == expected.keys()
    for name, tensor in actual.items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-5, rtol=0, msg=name)
    before = weights(start)
    moved = " ".join(
        name for name in actual if not torch.allclose(actual[name], before[name], atol=1e-6)
    )
    assert "gamma" not in moved
    assert ("_elmo_lstm" in moved) == options.get("requires_grad", False)
    assert ("scalar_parameters" in moved) == ("scalar_mix_parameters" not in options)


@pytest.mark.slow
def test_a_training_started_by_allennlp_can_be_recovered(
    tmp_path: Path, files: tuple[str, str]
) -> None:
    config = tagger_config(tmp_path, files, dropout=0.0)
    for name in ("theirs", "ours"):
        train(config, tmp_path / name)
    config["trainer"]["num_epochs"] = 2
    for name in ("theirs", "ours"):
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    expected = weights(train(config, tmp_path / "theirs", recover=True))
    with dropin():
        actual = weights(train(config, tmp_path / "ours", recover=True))
    for name, tensor in actual.items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-5, rtol=0, msg=name)


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"requires_grad": True}, marks=pytest.mark.slow),
        pytest.param({"vocab_to_cache": ["", "play"]}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_an_archive_made_with_dropin_needs_no_other_files(
    make_archive: Callable[..., Path], files: tuple[str, str], options: dict[str, Any]
) -> None:
    with dropin():
        archive = make_archive("ours", **options)
        expected = predictions(archive)
        shutil.rmtree(Path(files[0]).parent)
        np.testing.assert_array_equal(predictions(archive), expected)
        np.testing.assert_array_equal(predictions(archive.parent), expected)


@pytest.mark.slow
def test_an_archive_made_by_allennlp_needs_only_the_options_file(
    make_archive: Callable[..., Path], files: tuple[str, str]
) -> None:
    archive = make_archive("theirs")
    expected = predictions(archive)
    Path(files[1]).unlink()
    with dropin():
        np.testing.assert_allclose(predictions(archive), expected, atol=1e-5)
        copied = Path(files[0]).rename(Path(files[0]).with_name("moved.json"))
        with pytest.raises(
            ConfigurationError,
            match=r"options\.json.*override options_file with the path of a copy",
        ):
            predictions(archive)
        np.testing.assert_allclose(
            predictions(archive, options_file=str(copied)), expected, atol=1e-5
        )


@pytest.mark.slow
def test_an_archive_made_by_allennlp_with_a_published_model_needs_no_files(
    make_archive: Callable[..., Path], files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = make_archive("theirs")
    expected = predictions(archive)
    shutil.rmtree(Path(files[0]).parent)
    options_file, weight_file = MODELS["small"]

    def refuse(url: str) -> None:
        raise AssertionError(f"{url} is not to be fetched")

    for module in (token_embedder, sources):
        monkeypatch.setattr(module, "fetch", refuse)
    with dropin():
        actual = predictions(archive, options_file=options_file, weight_file=weight_file)
    np.testing.assert_allclose(actual, expected, atol=1e-5)


@pytest.mark.slow
def test_each_of_several_embedders_gets_back_its_saved_bilm(
    tmp_path: Path, files: tuple[str, str]
) -> None:
    config = tagger_config(tmp_path, files)
    embedders = config["model"]["text_field_embedder"]["token_embedders"]
    other = write_bilm(tmp_path / "other", seed=1)
    embedders["other"] = {**embedders["elmo"], "options_file": other[0], "weight_file": other[1]}
    config["dataset_reader"]["token_indexers"]["other"] = {"type": "elmo_characters"}
    config["model"]["encoder"]["input_size"] = 24
    theirs = train(config, tmp_path / "theirs")
    expected = predictions(theirs)
    with dropin():
        np.testing.assert_allclose(predictions(theirs), expected, atol=1e-5)
        ours = train(config, tmp_path / "ours")
        expected = predictions(ours)
        for folder in (files, other):
            shutil.rmtree(Path(folder[0]).parent)
        np.testing.assert_array_equal(predictions(ours), expected)


def test_unsupported_options_are_a_configuration_error(files: tuple[str, str]) -> None:
    with dropin():
        for options, message in (
            ({"weight_file": "nowhere.hdf5"}, "nowhere.hdf5"),
            ({"scalar_mix_parameters": [1.0]}, "scalar mix parameters: expected 3"),
            ({"requires_grad": True, "vocab_to_cache": ["a"]}, "vocab_to_cache cannot be combined"),
            ({"requires_grad": True, "precision": "int8"}, "float32"),
        ):
            params = {
                "type": "elmo_token_embedder",
                "options_file": files[0],
                "weight_file": files[1],
            }
            with pytest.raises(ConfigurationError, match=message):
                TokenEmbedder.from_params(Params({**params, **options}))
        embedder = TokenEmbedder.from_params(Params(params))
        with pytest.raises(ConfigurationError, match="padding must come after the words"):
            embedder(batch_to_ids([["Play"], ["The", "play"]]).flip(1))


@pytest.mark.slow
def test_allennlp_evaluates_and_predicts_with_it_where_the_plugins_file_names_it(
    theirs: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = theirs()
    data = load_archive(archive).config["train_data_path"]
    (tmp_path / "inputs.jsonl").write_text(json.dumps({"sentence": "The play ended ."}) + "\n")

    def run(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
        main(prog="allennlp")

    def results(project: Path, plugins: list[str]) -> tuple[dict[str, float], list[list[float]]]:
        """Metrics and probabilities in a folder with these plugins."""
        project.mkdir()
        (project / ".allennlp_plugins").write_text("\n".join(plugins))
        monkeypatch.chdir(project)
        with allennlps_own_afterwards():
            run("evaluate", archive, data, "--output-file", "metrics.json")
            options = ["--predictor", "test_dropin_tagger", "--output-file", "predictions.jsonl"]
            run("predict", archive, tmp_path / "inputs.jsonl", *options)
            assert ("elmo_plugin.dropin" in sys.modules) == ("elmo_plugin.dropin" in plugins)
        prediction = json.loads((project / "predictions.jsonl").read_text())
        return json.loads((project / "metrics.json").read_text()), prediction["class_probabilities"]

    expected_metrics, expected = results(tmp_path / "without", [])
    metrics, actual = results(tmp_path / "with", ["elmo_plugin.dropin", "elmo_plugin.plugin"])
    assert metrics == pytest.approx(expected_metrics, abs=1e-5)
    np.testing.assert_allclose(actual, expected, atol=1e-5)
