"""`elmo-score` prints and writes the figures of the official scorers."""

import gzip
import json
import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.commands.score import score_srl_files
from tests.commands.run import run

FILES = {
    "coref": ["key.conll", "response.conll"],
    "ner": ["tagged.txt"],
    "srl": ["gold.props", "system.props"],
}
NO_GO = "-\t(A0*)\nsay\t(V*)\n-\t(A1*\n-\t*)\n\n"  # the first sentence without its second predicate
GOLD = "-\t(A0*)\t*\nsay\t(V*)\t*\n-\t(A1*\t(A0*)\ngo\t*)\t(V*)\n\n-\n\nbe\t(V*)\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.props"
    path.write_text(GOLD)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("task", FILES)
def test_figures_are_those_of_the_official_scorer(
    task: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    folder, out = shared / "parity" / task, tmp_path / "out" / "figures.json"
    files = [folder / name for name in FILES[task]]
    run("score", task, *files, "--json", out)
    assert json.loads(out.read_text()) == json.loads((folder / "scores.json").read_text())
    assert [path.name for path in out.parent.iterdir()] == ["figures.json"]
    printed = capsys.readouterr().out
    run("score", task, *files)
    assert capsys.readouterr().out == printed


def test_figures_are_printed_as_a_table(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    system = tmp_path / "system.props.gz"
    system.write_bytes(gzip.compress(GOLD.replace("(A0*)\t*", "(ARGM-TMP*)\t*").encode()))
    run("score", "srl", gold, system)
    assert capsys.readouterr().out.splitlines() == [
        "           correct    excess    missed  precision    recall        f1",
        "Overall          2         1         1      66.67     66.67     66.67",
        "A0               1         0         1     100.00     50.00     66.67",
        "A1               1         0         0     100.00    100.00    100.00",
        "ARGM-TMP         0         1         0       0.00      0.00      0.00",
        "V                3         0         0     100.00    100.00    100.00",
    ]


def test_propositions_may_be_in_any_format_of_the_reader(tmp_path: Path) -> None:
    columns = "d 0 0 She X * - - - - * (A0*) -\nd 0 1 slept V * sleep 01 - - * (V*) -\n"
    frame = {"index": 1, "lemma": "sleep", "tags": ["B-A0", "B-V"]}
    texts = [
        "-\t(A0*)\nsleep\t(V*)\n",
        columns,
        json.dumps({"words": ["She", "slept"], "frames": [frame]}),
    ]
    for text in texts:
        (tmp_path / "system").write_text(text)
        (tmp_path / "key").write_text(texts[1])
        figures = score_srl_files(str(tmp_path / "key"), str(tmp_path / "system"))
        assert (figures["Overall"]["correct"], figures["Overall"]["f1"]) == (1, 100)


@pytest.mark.parametrize(
    ("old", "new", "counts", "warning"),
    [
        # A predicate that the system lacks: all is missed.
        (
            GOLD[: GOLD.index("-\n\n")],
            NO_GO,
            (2, 0, 1),
            "line 1, word 4: no predicate instead of go, as in ",
        ),
        # Another lemma: all is missed, and nothing is in excess.
        ("say", "tell", (1, 0, 2), "line 1, word 2: tell instead of say, as in "),
        # A predicate that is none: it is skipped.
        ("\n\n-\n\n", "\n\nbe\t(A0*)\n\n", (3, 0, 0), "line 6, word 1: be is not a predicate in "),
    ],
)
def test_predicates_are_matched_by_their_places_as_in_srl_eval(
    gold: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    old: str,
    new: str,
    counts: tuple,
    warning: str,
) -> None:
    text = GOLD.replace(old, new)
    system = tmp_path / "system.props"
    system.write_text(text)
    figures = score_srl_files(str(gold), str(system))
    assert tuple(figures["Overall"][name] for name in ("correct", "excess", "missed")) == counts
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{system}, {warning}{gold}, line ")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (GOLD.replace("-\n\n", "-\n-\n\n"), "system.props, line 6", "has 2 words, but 1 in "),
        (GOLD + "\n-\n", "system.props, line 10", "sentence 4 is missing in the gold data"),
        (
            GOLD[: GOLD.index("be")],
            "gold.props, line 8",
            "sentence 3 is missing in the output of the system",
        ),
        ("", "gold.props, line 1", "sentence 1 is missing in the output of the system"),
        (GOLD.replace("*)\t(V*)", "*\t(V*)"), "system.props, line 3", "'(A1*' is never closed"),
    ],
)
def test_mismatched_sentences_are_an_error_that_keeps_the_earlier_figures(
    gold: Path, tmp_path: Path, text: str, place: str, message: str
) -> None:
    system, out = tmp_path / "system.props", tmp_path / "figures.json"
    run("score", "srl", gold, gold, "--json", out)
    before = out.read_bytes()
    system.write_text(text)
    expected = f"^{re.escape(str(tmp_path / place))}: .*{re.escape(message)}"
    with pytest.raises(ConfigurationError, match=expected):
        run("score", "srl", gold, system, "--json", out)
    assert out.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {
        "gold.props",
        "system.props",
        "figures.json",
    }
