"""An archive of several archives, as `allennlp evaluate` and `allennlp predict` take it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import main
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model, load_archive

from elmo_plugin.tasks.task_model import Ensemble
from tests.commands.run import run
from tests.trained_tagger import SENTENCES


def run_command(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr("sys.argv", ["allennlp", *map(str, arguments)])
    main()


@pytest.fixture(scope="module")
def ensemble(tagger_archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ensemble") / "new" / "ensemble.tar.gz"
    with pytest.MonkeyPatch.context() as patch:
        run_command(patch, "elmo-ensemble", *tagger_archives, "-o", path)
    return path


def made_in_python(tagger_archives: list[Path]) -> tuple[Model, list[Any]]:
    archives = [load_archive(path) for path in tagger_archives]
    model = Ensemble(archives[0].model.vocab, [archive.model for archive in archives]).eval()
    return model, list(archives[0].dataset_reader.read(SENTENCES))


@pytest.mark.slow
def test_predicts_with_the_predictor_of_the_task(
    tagger_archives: list[Path], ensemble: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, instances = made_in_python(tagger_archives)
    expected = model.forward_on_instances(instances)
    lines = [json.dumps({"words": output["words"]}) + "\n" for output in expected]
    (tmp_path / "input.jsonl").write_text("".join(lines))
    output_file = tmp_path / "output.jsonl"
    run_command(
        monkeypatch, "predict", ensemble, tmp_path / "input.jsonl", "--output-file", output_file
    )
    predictions = [json.loads(line) for line in output_file.read_text().splitlines()]
    assert [output["tags"] for output in predictions] == [output["tags"] for output in expected]


def test_an_ensemble_of_a_single_archive_is_refused(
    tagger_archives: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="ARCHIVE: expected two or more, got"):
        run("ensemble", tagger_archives[0], "-o", tmp_path / "ensemble.tar.gz")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("model", "other: its model is a test_other, but .* has a ner_bilstm_crf"),
        ("dataset_reader", "other: its dataset_reader differs from"),
        ("labels", "other: its vocabulary has other labels than"),
        ("tokens", "other: its vocabulary has other tokens than"),
    ],
)
def test_incompatible_archives_are_named_and_nothing_is_written(
    part: str, message: str, tagger_archives: list[Path], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(tagger_archives[0].parent, other)
    config = json.loads((other / "config.json").read_text())
    if part == "model":
        Model.register("test_other", exist_ok=True)(
            load_archive(tagger_archives[0]).model.__class__
        )
        config["model"]["type"] = "test_other"
    elif part == "dataset_reader":
        config["dataset_reader"]["token_indexers"]["tokens"]["lowercase_tokens"] = True
    else:
        file = other / "vocabulary" / f"{part}.txt"
        file.write_text("\n".join(reversed(file.read_text().splitlines())) + "\n")
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigurationError, match=message):
        run("ensemble", tagger_archives[1], other, "-o", tmp_path / "ensemble.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
