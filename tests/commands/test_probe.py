"""`elmo-probe` prints and writes what is found in each layer."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.analysis import probes
from tests.commands.run import run

SENTENCES = ["the D\nplay N\nended V\n", "they P\nplay V\nchess N\n", "the D\ndog N\nslept V\n"]


@pytest.fixture(autouse=True)
def short_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "MIN_STEPS", 150)


def tagged(folder: Path, name: str, sentences: list[str]) -> str:
    (folder / name).write_text("\n".join(sentences))
    return str(folder / name)


@pytest.mark.slow
def test_each_layer_is_probed_with_its_control_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = tagged(tmp_path, "train.txt", SENTENCES * 20)
    run(
        "probe",
        "tiny",
        train,
        train,
        "--seeds",
        2,
        "--epochs",
        20,
        "--json",
        tmp_path / "probe.json",
    )
    figures = json.loads((tmp_path / "probe.json").read_text())
    assert figures["majority"] == pytest.approx(1 / 3)
    assert figures["word"] == pytest.approx(8 / 9)  # "play" is a noun, or a verb
    assert list(figures["layers"]) == ["token", "LSTM 1", "LSTM 2", "mean"]
    assert figures["layers"]["LSTM 1"]["accuracies"] == [1.0, 1.0]
    assert figures["layers"]["token"]["accuracies"][0] == pytest.approx(8 / 9)
    assert "selectivity" in capsys.readouterr().out


def test_data_with_nothing_to_learn_are_refused(tmp_path: Path) -> None:
    good = tagged(tmp_path, "good.txt", SENTENCES)
    with pytest.raises(ConfigurationError, match=r"empty.txt: no words in this file"):
        run("probe", "tiny", good, tagged(tmp_path, "empty.txt", ["\n"]))
    with pytest.raises(ConfigurationError, match=r"one.txt: all words have the same tag"):
        run("probe", "tiny", tagged(tmp_path, "one.txt", ["a N\nb N\n"]), good)
