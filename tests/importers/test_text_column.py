"""The column of texts, or of words, of a table."""

from pathlib import Path

import pandas
import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers import Report, read_text_column

TEXTS = ["It rained again.", "The sun is out today."]
ROWS = 'id;text;label\n1;It rained again.;wet\n2;"The sun  is out\ntoday.";dry\n'


def read(path: Path, content: str | bytes | None = None, column: str | None = None) -> list[str]:
    if isinstance(content, str):
        content = content.encode()
    if content is not None:
        path.write_bytes(content)
    return [row.text for row in read_text_column(str(path), column, Report(str(path)))]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("column", [None, "text", "1"])
def test_texts_are_found_by_the_name_of_their_column(
    tmp_path: Path, column: str | None, encoding: str, end: str
) -> None:
    content = ROWS.replace("\n", end).encode(encoding)
    assert read(tmp_path / "f.csv", content, column) == TEXTS


@pytest.mark.parametrize(
    "content",
    [
        "Nr,Bewertung,Note\n1,It rained again.,good\n2,The sun is out today.,bad\n",
        "It rained again.\nThe sun is out today.\n",
        '"It rained again.",wet\n"The sun is out today.",dry\n',
    ],
)
def test_the_only_column_with_texts_needs_no_usual_name(tmp_path: Path, content: str) -> None:
    assert read(tmp_path / "f.csv", content) == TEXTS


def test_the_number_of_a_column_is_no_value_of_the_first_row(tmp_path: Path) -> None:
    content = "1,It rained again.\n2,The sun is out today.\n"
    assert read(tmp_path / "f.csv", content, "1") == TEXTS
    titles = "2023,2024\nIt rained again.,wet\nThe sun is out today.,dry\n"
    assert read(tmp_path / "f.csv", titles, "2023")[-2:] == TEXTS


def test_a_spreadsheet_is_a_table_too(tmp_path: Path) -> None:
    pandas.DataFrame({"a": [1, 2], "review": TEXTS}).to_excel(tmp_path / "f.xlsx", index=False)
    assert read(tmp_path / "f.xlsx") == TEXTS


def test_a_row_without_a_text_counts(tmp_path: Path) -> None:
    content = "text,label\nIt rained.,a\n,b\nIt is dry.,c\n"
    assert read(tmp_path / "f.csv", content) == ["It rained.", "", "It is dry."]


@pytest.mark.parametrize("column", [None, "Wort", "1"])
def test_a_word_in_each_row_makes_sentences(tmp_path: Path, column: str | None) -> None:
    content = "Satz;Wort;Typ\n1;Anna;PER\n;kam;\n;an;\n2;Es;\n;regnete;\n"
    assert read(tmp_path / "f.csv", content, column) == ["Anna kam an", "Es regnete"]


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        ("a,b\nIt rained.,It is wet.\nAll is dry.,It is so.\n", None, "'a' and 'b' may all"),
        ("a,b\nIt rained.,It is wet.\n", "c", "--column: expected one of 2 columns, 'a' and 'b'"),
        ("a,b\nIt rained.,It is wet.\n", "7", "--column: expected one of 2 columns"),
    ],
)
def test_what_is_not_certain_is_one_question(
    tmp_path: Path, content: str, column: str | None, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path / "f.csv", content, column)
