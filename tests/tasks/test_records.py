"""Records of JSON lines and tables: what is read, and what is refused by file and line."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks import Line, read_text_lines
from elmo_plugin.tasks.records import Record, find_field, parse_records
from tests.experiments.configs import each_file


def read(path: Path, content: str | bytes, **options: Any) -> list[tuple[int, dict[str, Any]]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [
        (line.number, fields)
        for line, fields in parse_records(read_text_lines(str(path)), **options)
    ]


@each_file("records")
def test_one_record_in_all_shapes(file: Path) -> None:
    assert [fields for _, fields in parse_records(read_text_lines(str(file)))] == [
        {"text": "Wet, cold", "label": "bad"}
    ]


def test_records_name_the_line_where_they_begin(tmp_path: Path) -> None:
    content = 'text,label\n\n"two\nlines",a\nlast,b\n'
    assert [number for number, _ in read(tmp_path / "x.csv", content)] == [3, 5]


def test_quotation_marks_of_a_tsv_are_text_unless_they_are_doubled(tmp_path: Path) -> None:
    content = 'text\tlabel\n"Go" he said\t1\n"Go."\t2\n"a ""b"" c"\t3\n"two\nlines"\t4\n'
    texts = [fields["text"] for _, fields in read(tmp_path / "x.tsv", content)]
    assert texts == ['"Go" he said', '"Go."', 'a "b" c', "two\nlines"]


def test_a_table_without_header_has_the_columns_that_are_named(tmp_path: Path) -> None:
    options = {"columns": ["label", "text"]}
    expected = {"label": "3", "text": "Wet; very"}
    assert read(tmp_path / "x.csv", '"3","Wet; very"\n', **options) == [(1, expected)]
    assert read(tmp_path / "y.csv", 'label,text\n3,"Wet; very"\n', **options) == [(2, expected)]


def test_a_field_may_be_very_long(tmp_path: Path) -> None:
    text = "wet " * 50_000
    assert read(tmp_path / "x.csv", f"text,label\n{text},a\n") == [
        (2, {"text": text, "label": "a"})
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "text,label\nwet,cold,bad\n", "line 2: expected 2 columns (text, label), got 3"),
        ("x.tsv", "text\tlabel\n\nwet\n", "line 3: expected 2 columns (text, label), got 1"),
        (
            "x.csv",
            'text,label\n"wet,bad\ncold,bad\n',
            "line 2: not a table (unexpected end of data)",
        ),
        ("x.csv", 'text,label\n"a \\"b\\"",bad\n', "line 2: not a table (',' expected after '\"')"),
        ("x.csv", "text,label\rwet,bad\r", "line 1: not a table (new-line character seen"),
        ("x.csv", "text,label,text\na,b,c\n", "line 1: the column 'text' is repeated"),
        ("x.csv", "text,label\ncaf\xe9,a\n".encode("latin-1"), "line 2: not UTF-8 text"),
        ("x.jsonl", '{"text": "wet"}\n\n{"text": \n', "line 3: not JSON"),
        ("x.jsonl", '[{"text": "wet"}, 3]\n', "item 2: expected a JSON object, got 3"),
        ("x.jsonl", '{"text": "wet"}\n[1]\n', "line 2: expected a JSON object, got [1]"),
        (
            "x.txt",
            "__label__a __label__b wet\n",
            "line 1: expected __label__ with one label, and a text",
        ),
        ("x.txt", "wet bad\n", "line 1: expected an object of JSON, or a table in a file .csv"),
    ],
)
def test_what_is_malformed_names_file_and_line(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"{tmp_path / name}, {message}")):
        read(tmp_path / name, content)


def test_a_field_is_found_by_its_name_or_by_the_usual_ones() -> None:
    record: Record = (Line("", "x.csv", 1), {"Sentence": "wet", "mood": "bad"})
    assert find_field(record, ["text", "sentence"], "text_column") == "Sentence"
    assert find_field(record, ["label"], "label_column", "mood") == "mood"
    message = r"x.csv, line 1: expected a field such as 'label' \(option label_column\), got 'Sentence', 'mood'; "
    with pytest.raises(ConfigurationError, match=message):
        find_field(record, ["label"], "label_column")


TEXTS = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), min_size=1)
ROWS = st.lists(st.fixed_dictionaries({"text": TEXTS, "label": TEXTS}), min_size=1)


@given(ROWS, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_tables_that_csv_wrote_are_read_as_they_were(
    rows: list[dict[str, str]], delimiter: str, end: str
) -> None:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(
        file, ["text", "label"], delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL
    )
    writer.writeheader()
    writer.writerows(rows)
    pieces = file.getvalue().split("\n")
    lines = [Line(f"{text}\n", "x.csv", number) for number, text in enumerate(pieces, 1)]
    assert [fields for _, fields in parse_records(lines)] == rows


@given(ROWS)
def test_json_is_read_as_it_was(rows: list[dict[str, str]]) -> None:
    lines = [Line(f"{json.dumps(row)}\n", "x", number) for number, row in enumerate(rows, 1)]
    assert [fields for _, fields in parse_records(lines)] == rows
    assert [fields for _, fields in parse_records([Line(json.dumps(rows), "x", 1)])] == rows
