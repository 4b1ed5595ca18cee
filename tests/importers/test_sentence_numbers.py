"""Which columns tell sentences apart, and which numbers beside words do not."""

from pathlib import Path

import pytest

from tests.importers.reading import read_tags


@pytest.mark.parametrize(
    "rows",
    [
        "Brief 1;1;a|Brief 1;1;b|Brief 1;2;c|Brief 1;2;d|Brief 2;1;e|Brief 2;1;f",
        "Brief 1;1;a|Brief 1;1;b|Brief 2;1;c|Brief 2;1;d|Brief 3;1;e|Brief 3;1;f",
        "x-1-1;0;a|x-1-1;0;b|x-1-2;0;c|x-1-2;0;d|x-2-1;0;e|x-2-1;0;f",
        "a3;0;a|a3;0;b|b1;0;c|b1;0;d|9c;0;e|9c;0;f",
        "y;7.0;a|y;;b|y;8.0;c|y;;d|y;11.0;e|y;;f",
    ],
)
def test_a_sentence_begins_where_its_number_or_its_document_changes(
    tmp_path: Path, rows: str
) -> None:
    lines = ["Datei;Satz;Wort;Typ"]
    for row in rows.split("|"):
        tag = "X" if row.endswith("b") else "O"
        lines.append(f"{row};{tag}")
    found = read_tags(tmp_path / "f.csv", "\n".join(lines))
    assert [words for words, _ in found] == [["a", "b"], ["c", "d"], ["e", "f"]]


@pytest.mark.parametrize(
    "text",
    [
        "Ola\t0\tB-PER\nran\t0\tO\nfar\t1\tO\n\nOla\t0\tB-PER\nran\t0\tO\nfar\t1\tO\n",
        "Ola\t0\t3\tB-PER\nran\t4\t7\tO\nfar\t8\t11\tO\n\nOla\t0\t3\tB-PER\nran\t4\t7\tO\nfar\t8\t11\tO\n",
        "1\tOla\t2\tB-PER\n2\tran\t0\tO\n3\tfar\t2\tO\n\n1\tOla\t2\tB-PER\n2\tran\t0\tO\n3\tfar\t2\tO\n",
    ],
    ids=["features", "characters", "heads"],
)
def test_other_numbers_of_words_separate_nothing(tmp_path: Path, text: str) -> None:
    expected = (["Ola", "ran", "far"], ["B-PER", "O", "O"])
    assert read_tags(tmp_path / "f.tsv", text) == [expected, expected]


@pytest.mark.parametrize("suffixes", [("", ""), ("-1", "-2")])
def test_the_19_digits_of_a_tweets_id_may_number_its_sentence(
    tmp_path: Path, suffixes: tuple[str, str]
) -> None:
    first = 1_234_567_890_123_456_789
    lines = ["word\tner\tnr"]
    for tweet in (first, first + 1, first + 2):
        lines.append(f"Ola\tB-PER\t{tweet}{suffixes[0]}")
        lines.append(f"ran\tO\t{tweet}{suffixes[1]}")
    expected = (["Ola", "ran"], ["B-PER", "O"])
    assert read_tags(tmp_path / "f.tsv", "\n".join(lines)) == [expected] * 3


@pytest.mark.parametrize("prefix", ["", "c", "c.", "c. "])
def test_numbers_that_fall_are_not_numbers_of_sentences_whatever_stands_before_them(
    tmp_path: Path, prefix: str
) -> None:
    rows = [("Ola", 2, "B-PER"), ("Nordmann", 2, "I-PER"), ("ran", 1, "O"), ("far", 1, "O")]
    block = "".join(f"{word}\t{prefix}{number}\t{tag}\n" for word, number, tag in rows)
    expected = (["Ola", "Nordmann", "ran", "far"], ["B-PER", "I-PER", "O", "O"])
    assert read_tags(tmp_path / "f.tsv", f"{block}\n{block}") == [expected, expected]


def test_the_separator_that_excel_declares_is_taken(tmp_path: Path) -> None:
    text = "sep=;\nSatz;Wort;Typ\n1;Anna;PER\n1;kam,;\n2;ja;\n2;doch;\n"
    assert read_tags(tmp_path / "f.csv", text) == [
        (["Anna", "kam,"], ["B-PER", "O"]),
        (["ja", "doch"], ["O", "O"]),
    ]
