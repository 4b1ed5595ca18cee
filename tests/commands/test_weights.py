"""The command that shows the mixing weights of archives."""

import json
import re
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError

from elmo_plugin.embedding import read_layer_weights
from tests.commands.run import run as run_command
from tests.trained_bilm import random_bilm, write_training


@pytest.fixture(scope="module")
def run(tagger_archives: list[Path]) -> Path:
    """Returns the directory of the training of a tagger with both placements; its biLM is gone."""
    return tagger_archives[1].parent


def test_weights_of_the_archives_are_printed_and_written(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, file = run / "model.tar.gz", tmp_path / "weights.json"
    run_command("weights", archive, run, "--json", file)
    mixes = read_layer_weights(torch.load(run / "best.th"))
    assert [mix.placement for mix in mixes] == ["input", "output"]
    header, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert " ".join(header) == "archive placement gamma token LSTM 1 LSTM 2"
    expected = [
        f"{path} {mix.placement} {mix.gamma:.3f} "
        f"{' '.join(f'{each:.3f}' for each in mix.normalized_weights)}"
        for path in (archive, run)
        for mix in mixes
    ]
    assert list(map(" ".join, rows)) == expected
    written = [{"archive": str(path), **mix._asdict()} for path in (archive, run) for mix in mixes]
    assert json.loads(file.read_text()) == written


def test_draws_a_column_for_each_placement_of_a_model(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run_command("weights", run / "model.tar.gz", "--plot", tmp_path / "figure.svg")
    columns = re.findall("<!-- (.+), (.+) -->", (tmp_path / "figure.svg").read_text())
    assert columns == [(run.name, "input"), (run.name, "output")]


def test_an_archive_in_this_folder_is_called_by_the_folder(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(run)
    for archive in ("model.tar.gz", "./model.tar.gz", "."):
        run_command("weights", archive, "--plot", tmp_path / "figure.svg")
        columns = re.findall("<!-- (.*), (.+) -->", (tmp_path / "figure.svg").read_text())
        assert columns == [(run.name, "input"), (run.name, "output")]


def test_mistakes_are_reported(run: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"--plot draws \.svg, \.png, \.pdf, not figure\.jpeg"
    ):
        run_command("weights", run, "--plot", "figure.jpeg")
    with pytest.raises(ConfigurationError, match="archive no-such: file not found"):
        run_command("weights", "no-such")
    bilm = write_training(tmp_path / "bilm", random_bilm())
    with pytest.raises(ConfigurationError, match="no archive has a model with ELMo"):
        run_command("weights", bilm)
