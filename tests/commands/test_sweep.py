"""Every configuration is trained with every seed, once, whatever stops the sweep; its scores are
reported.
"""

import json
import logging
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import logger as tqdm_logger
from filelock import FileLock

from elmo_plugin.common import files
from elmo_plugin.common.provenance import provenance
from elmo_plugin.sweeps import trainings
from elmo_plugin.sweeps.configs import with_seed
from tests.commands.run import run
from tests.experiments.configs import BILM
from tests.trained_tagger import tagger_config

METRIC = "best_validation_f1-measure-overall"
LOGGERS = logging.getLogger(), tqdm_logger  # AllenNLP gives both the log file of a training


def config_file(folder: Path, name: str, hidden_size: int = 4, **trainer: Any) -> str:
    """
    Writes the configuration of a tagger of milliseconds, with dropout, so that random numbers
    count.
    """
    config = tagger_config(BILM, ["input"], dropout=0.5)
    config["model"]["contextual_encoder"]["encoder"]["hidden_sizes"] = [hidden_size]
    config["trainer"] |= {"cuda_device": -1, "validation_metric": "+f1-measure-overall", **trainer}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config))
    return str(path)


@pytest.fixture
def configs(tmp_path: Path) -> list[str]:
    return [config_file(tmp_path, "ner_small"), config_file(tmp_path, "ner_large", hidden_size=5)]


def sweep(
    configs: list[str], folder: Path, seeds: int, overrides: str = "", *options: object
) -> None:
    run("sweep", *configs, "-s", folder, "--seeds", seeds, "--overrides", overrides, *options)


class Trained(NamedTuple):
    name: str
    seed: int
    recover: bool


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[Trained]:
    """
    Returns what was trained, by a stand-in for AllenNLP: a training scores its hidden size times
    its seed, in per cent, and fails at 12. Nothing is drawn and no memory is freed, which takes
    longer than all else.
    """
    done = []

    def train_model(params: Params, folder: Path, recover: bool, force: bool, **_: Any) -> None:
        assert force is not recover
        config = params.as_dict(quiet=True)
        (seed,) = {config[f"{library}_seed"] for library in ("random", "numpy", "pytorch")}
        (hidden_size,) = config["model"]["contextual_encoder"]["encoder"]["hidden_sizes"]
        done.append(Trained(folder.parents[1].name, seed, recover))
        score = hidden_size * seed
        if score == 12:
            raise RuntimeError("out of memory")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for logger in LOGGERS:
            logger.addHandler(logging.FileHandler(folder / "out.log"))
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "metrics.json").write_text(
            json.dumps({METRIC: score / 100, "best_validation_loss": 1 / score})
        )

    monkeypatch.setattr(trainings, "train_model", train_model)
    monkeypatch.setattr(trainings, "gc", SimpleNamespace(collect=lambda: None))
    return done


def test_each_training_runs_once_with_all_its_seeds_set(
    configs: list[str], trained: list[Trained], tmp_path: Path
) -> None:
    sweep(configs[:1], tmp_path / "runs", 2)
    assert trained == [("ner_small", 1, False), ("ner_small", 2, False)]
    sweep(configs, tmp_path / "runs", 1)
    assert trained[2:] == [("ner_large", 1, False)]
    table = (tmp_path / "runs" / "table.md").read_text()
    assert table.splitlines()[-2:] == ["| ner_small | 4.00 | 4.00 |", "| ner_large | 5.00 | 5.00 |"]


def test_a_failed_training_is_named_and_the_rest_are_finished(
    configs: list[str], trained: list[Trained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = provenance()
    monkeypatch.setattr(trainings, "provenance", lambda: now)  # also if a day begins
    file = tmp_path / "out.json"
    with pytest.raises(
        SystemExit, match=r"^ner_small with seed 3 failed: RuntimeError: out of memory$"
    ):
        sweep(configs, tmp_path / "runs", 3, "", "--json", file)
    assert len(trained) == 6
    rows = (tmp_path / "runs" / "table.md").read_text().splitlines()[-2:]
    assert rows == [
        "| ner_small | 6.00 ± 2.83 | 4.00, 8.00 |",
        "| ner_large | 10.00 ± 5.00 | 5.00, 10.00, 15.00 |",
    ]
    (result,) = json.loads(file.read_text()).items()
    assert (result[0], result[1]["scores"]) == ("ner_large", [5.0, 10.0, 15.0])
    assert {name: result[1][name] for name in ("commit", "date", "machine")} == now


@pytest.mark.parametrize(
    ("trainer", "recovers"), [({}, False), ({"type": "bilm"}, True)], ids=["other", "bilm"]
)
def test_only_trainings_that_resume_exactly_continue_from_a_checkpoint(
    trainer: dict[str, Any], recovers: bool, trained: list[Trained], tmp_path: Path
) -> None:
    config = config_file(tmp_path, "ner", **trainer)
    for seed in (1, 2):
        (tmp_path / "runs" / "ner" / f"{seed}.unfinished" / "training").mkdir(parents=True)
    unfinished = tmp_path / "runs" / "ner" / "2.unfinished" / "training" / "config.json"
    unfinished.write_text(json.dumps(with_seed(Params.from_file(config).as_dict(quiet=True), 2)))
    sweep([config], tmp_path / "runs", 2)
    assert [training.recover for training in trained] == [False, recovers]


@pytest.mark.parametrize("written", ["", '{"numpy_seed": 1, "tra'])
def test_a_training_killed_while_its_configuration_was_written_keeps_its_checkpoints(
    written: str, trained: list[Trained], tmp_path: Path
) -> None:
    config = config_file(tmp_path, "ner", type="bilm")
    unfinished = tmp_path / "runs" / "ner" / "1.unfinished" / "training"
    unfinished.mkdir(parents=True)
    (unfinished / "config.json").write_text(written)
    (unfinished / "model_state_e3_b0.th").write_text("of an earlier start")
    sweep([config], tmp_path / "runs", 1)
    assert [training.recover for training in trained] == [True]


def test_an_unfinished_training_with_other_settings_is_named(
    trained: list[Trained], tmp_path: Path
) -> None:
    config = config_file(tmp_path, "ner", type="bilm")
    unfinished = tmp_path / "runs" / "ner" / "1.unfinished" / "training"
    unfinished.mkdir(parents=True)
    (unfinished / "config.json").write_text(Path(config).read_text())
    with pytest.raises(
        SystemExit, match=r"1\.unfinished/training: .* \(numpy_seed is 1, and was missing; .*: put"
    ):
        sweep([config], tmp_path / "runs", 1)
    assert not trained


def test_mistakes_are_found_before_anything_is_trained(
    configs: list[str], trained: list[Trained], tmp_path: Path
) -> None:
    other = config_file(tmp_path, "other", validation_metric="-loss")
    typo = config_file(tmp_path, "typo", num_epoch=1)
    mistakes = [
        ([*configs, "nothing.jsonnet"], (), r"nothing\.jsonnet"),
        ([*configs, configs[0]], (), "several configurations have the name ner_small"),
        (
            configs,
            ("--metric", "accuracy"),
            r"metric: expected \+ or - at its start, .* got 'accuracy'",
        ),
        (configs, ("--metric=+test_f1",), r"on which ner_small is not evaluated; .* evaluate_on"),
        (
            [configs[0], typo],
            ("--overrides", '{"x.y": 1}'),
            "ner_small.*: overrides .* keys: .'x.y'",
        ),
        ([configs[0], typo], (), r"^typo: trainer\.num_epoch: .* did you mean 'num_epochs"),
        (
            [configs[0], other],
            (),
            r"one --metric .*\+f1-measure-overall of ner_small, -loss of other",
        ),
    ]
    for sources, options, message in mistakes:
        with pytest.raises(ConfigurationError, match=message):
            sweep(sources, tmp_path / "runs", 1, "", *options)
    assert not trained


def test_a_metric_other_than_the_trainers_may_be_reported(
    configs: list[str], trained: list[Trained], tmp_path: Path
) -> None:
    sweep(configs[1:], tmp_path / "runs", 1, "", "--metric=-loss")
    header, _, row = (tmp_path / "runs" / "table.md").read_text().splitlines()
    assert "loss (lower is better)" in header
    assert row == "| ner_large | 0.20 | 0.20 |"
    with pytest.raises(ConfigurationError, match="unknown metric beauty: expected one of f1-"):
        sweep(configs, tmp_path / "runs", 1, "", "--metric=+beauty")


def test_a_different_training_in_the_folder_is_not_mistaken_for_this_one(
    configs: list[str], trained: list[Trained], tmp_path: Path
) -> None:
    sweep(configs, tmp_path / "runs", 1)
    with pytest.raises(
        ConfigurationError, match=r"ner_small/1 has another .* trainer\.num_epochs$"
    ):
        sweep(configs, tmp_path / "runs", 1, '{"trainer.num_epochs": 9}')
    (tmp_path / "runs" / "ner_small" / "1" / "metrics.json").unlink()
    with pytest.raises(
        ConfigurationError, match="ner_small/1 exists, but its training is not finished"
    ):
        sweep(configs, tmp_path / "runs", 1)
    assert len(trained) == 2


def test_trainings_of_other_processes_and_the_users_files_are_left_untouched(
    configs: list[str], trained: list[Trained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SECONDS_TO_END", 0)
    unfinished = tmp_path / "runs" / "ner_small" / "1.unfinished"
    unfinished.mkdir(parents=True)
    with (
        FileLock(str(unfinished / "lock")),
        pytest.raises(
            SystemExit, match=r"^ner_small with seed 1 failed: .*another process is training in "
        ),
    ):
        sweep(configs, tmp_path / "runs", 1)
    assert trained == [("ner_large", 1, False)]
    (unfinished / "notes.txt").write_text("mine")
    sweep(configs, tmp_path / "runs", 1)
    assert trained == [("ner_large", 1, False), ("ner_small", 1, False)]
    assert list(tmp_path.glob("runs/*/*.unfinished/*")) == [unfinished / "notes.txt"]


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_an_infinite_score_is_a_failure_and_not_in_the_table(
    value: str, configs: list[str], trained: list[Trained], tmp_path: Path
) -> None:
    sweep(configs, tmp_path / "runs", 1)
    (tmp_path / "runs" / "ner_small" / "1" / "metrics.json").write_text(f'{{"{METRIC}": {value}}}')
    with pytest.raises(SystemExit, match=r"^ner_small with seed 1 failed: its f1-.* is (nan|inf)$"):
        sweep(configs, tmp_path / "runs", 1, "", "--json", tmp_path / "out.json")
    rows = (tmp_path / "runs" / "table.md").read_text().splitlines()[-2:]
    assert rows == ["| ner_small | none |  |", "| ner_large | 5.00 | 5.00 |"]
    assert list(json.loads((tmp_path / "out.json").read_text())) == ["ner_large"]
