"""`elmo-neighbors` prints the nearest words, each in its sentence."""

import json
import sys
from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLm
from elmo_plugin.commands.main import main

CORPUS = """They saw a Broadway play .
The play was staged in a small theater .
He made a good play in the ninth game .
It rained .
"""


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "corpus.txt").write_text(CORPUS)
    return str(tmp_path / "corpus.txt")


def test_neighbors_are_printed_and_written(
    tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vectors.txt").write_text("play 1 0\ngame 0.9 0.1\n")
    arguments = ["tiny", corpus, "--query", "They saw a play .", "--word", "play", "-k", "3"]
    arguments += ["--query", "They saw rain .", "--word", "rain", "--static", str(tmp_path / "vectors.txt")]
    arguments += ["--index", str(tmp_path / "index"), "--json", str(tmp_path / "found.json")]
    main(["neighbors", *arguments])
    printed = capsys.readouterr().out
    assert "They saw a [play] .\n  without its sentence: game\n" in printed
    assert "  They saw a Broadway [play] ." in printed
    play, rain = json.loads((tmp_path / "found.json").read_text())
    assert len(play["neighbors"]) == 3
    assert len(rain["neighbors"]) == 3 and "static" not in rain


def test_faiss_that_is_missing_is_named_before_the_work(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr(BiLm, "from_pretrained", lambda source: pytest.fail("faiss is missing"))
    arguments = ["--query", "It rained .", "--word", "It", "--index", str(tmp_path / "index"), "--faiss"]
    with pytest.raises(SystemExit, match=r"^elmo neighbors: --faiss needs faiss: install elmo_plugin\[faiss"):
        main(["neighbors", "tiny", corpus, *arguments])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--word", "play"], "--word 'play' is not among the words of --query"),
        (["--word", "rained", "--word", "It"], "there are 1 queries and 2 words"),
        (["--word", "It", "-k", "0"], "-k is the number of neighbours"),
        (["--word", "It", "--layer", "3"], "--layer is from 0 to 2, not 3"),
        (["--word", "It", "--html", "."], r"--html: \. is a directory"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, corpus: str, changes: list[str], message: str) -> None:
    arguments = ["neighbors", "tiny", corpus, "--query", "It rained .", "--index", str(tmp_path / "index")]
    with pytest.raises(SystemExit, match=rf"^elmo neighbors: .*{message}"):
        main([*arguments, *changes])
    assert not (tmp_path / "index").exists()
