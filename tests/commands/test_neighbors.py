"""`elmo neighbors` prints the nearest words, each in its sentence."""

import json
from pathlib import Path

import pytest

from elmo_plugin.commands.main import main

TEXT = """They saw a Broadway play .

The play was staged in a small theater .
He made a good play in the ninth game .
"""


def test_neighbors_are_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    words = ["They saw a [play] .", "rain"]
    options = ["-k", "3", "--json", str(tmp_path / "found.json")]
    main(["neighbors", "tiny", str(tmp_path / "text.txt"), *words, *options])
    printed = capsys.readouterr().out.splitlines()
    play, rain = json.loads((tmp_path / "found.json").read_text())
    assert len(printed) == 8 and printed[0] == "They saw a [play] ." and printed[4] == "[rain]"
    nearest = play["neighbors"][0]
    assert (nearest["words"], nearest["position"]) == (TEXT.splitlines()[0].split(), 4)
    assert printed[1] == f"  {nearest['cosine']:.3f}  They saw a Broadway [play] ."
    assert (rain["words"], rain["position"], len(rain["neighbors"])) == (["rain"], 0, 3)


def test_tokenized_text_is_not_split_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text("the main-yard broke\n")
    main(
        [
            "neighbors",
            "tiny",
            str(tmp_path / "text.txt"),
            "a [top-mast] fell",
            "--tokenizer",
            "whitespace",
        ]
    )
    assert sorted(line.split("  ")[-1] for line in capsys.readouterr().out.splitlines()[1:]) == [
        "[the] main-yard broke",
        "the [main-yard] broke",
        "the main-yard [broke]",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["They saw it"], r"WORD: expected one word in brackets, .*, got 'They saw it'"),
        (["[They] saw [it]"], "WORD: expected one word in brackets"),
        (["it", "--layer", "3"], "--layer: expected 0 to 2, got 3"),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    with pytest.raises(SystemExit, match=rf"^elmo neighbors: .*{message}"):
        main(["neighbors", "tiny", str(tmp_path / "text.txt"), *arguments])


def test_a_text_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(SystemExit, match=r"empty.txt: no words in this file"):
        main(["neighbors", "tiny", str(tmp_path / "empty.txt"), "it"])
