"""Texts and pairs of texts with a label, in tables, JSON, folders and trees."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from elmo_plugin.importers import IMPORTERS
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.pairs import Pair
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tables import read_text_table
from tests.experiments.configs import FIXTURES, each_file
from tests.importers.reading import read


def texts(path: Path, content: str | bytes | None = None, **options: Any) -> list[tuple[str, str]]:
    examples, _ = read("classify", path, content, **options)
    return [(example.text, example.label) for example in examples]


@each_file("records")
def test_a_record_is_read_from_every_form(file: Path) -> None:
    assert texts(file) == [("Wet, cold", "bad")]


@each_file("sst/formats")
def test_texts_with_any_labels_are_read_from_every_form(file: Path) -> None:
    found, labels = zip(*texts(file), strict=True)
    assert [text.replace(" ,", ",") for text in found] == ["Wet, cold", "Dry"]
    assert labels in [("bad mood", "1"), ("bad", "good"), ("negative", "very positive")]


@pytest.mark.parametrize(
    "file", sorted((FIXTURES / "snli" / "formats").iterdir()), ids=lambda file: file.name
)
def test_pairs_are_read_with_their_label_from_every_form(file: Path) -> None:
    (pair,), _ = read("snli", file)
    label = file.stem.rpartition("_")[2]
    assert (pair.premise.rstrip("."), pair.hypothesis.rstrip("."), pair.label) == (
        "A dog runs",
        "It runs",
        label,
    )


@pytest.mark.parametrize(
    ("record", "label"),
    [
        ({"label": ["late"]}, "late"),
        ({"label": 1}, "1"),
        ({"label": 1.0}, "1"),
        ({"label": True}, "true"),
        ({"cats": {"late": 1.0, "fine": 0.0}}, "late"),
        ({"accept": ["late"], "options": [{"id": "late"}], "answer": "accept"}, "late"),
        ({"label": ["late", "fine"]}, "with several labels"),
        ({"label": []}, "without a label"),
        ({"label": " "}, "without a label"),
        ({"label": "late", "answer": "reject"}, "that an annotator rejected"),
        ({"label": 4.75}, "with a score, or with several labels"),
    ],
)
def test_labels_are_found_where_tools_store_them_and_texts_without_one_are_skipped(
    tmp_path: Path, record: dict[str, Any], label: str
) -> None:
    other = {"text": "It is fine.", **record, "answer": "accept"}
    for key in ("label", "cats", "accept"):
        if key in record:
            other[key] = "fine"
    lines = [{"text": "It rained.", **record}, other, other]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    examples, report = read("classify", tmp_path / "f.jsonl", content)
    found = {example.text: example.label for example in examples}
    if label.startswith(("with", "that")):
        assert report.left_out == {label: ["line 1"]}
    else:
        assert found["It rained."] == label


def test_numbers_of_features_are_no_texts(tmp_path: Path) -> None:
    examples, _ = read("classify", tmp_path / "f.txt", "1 3:0.5 7:1.2\n0 2:0.1\n1 1:1 2:1\n")
    with pytest.raises(ConfigurationError, match=r"no text has a letter, as '3:0\.5 7:1\.2'"):
        list(IMPORTERS["classify"].check("f.txt", examples))


@pytest.mark.parametrize("labels", [(0, 1, 2), (1, 2), (2, 2)])
def test_numbered_relations_need_their_names(labels: tuple[int, ...]) -> None:
    pairs = [Pair("A b.", "C d.", str(label)) for label in labels]
    with pytest.raises(ConfigurationError, match=r"--label-names entailment neutral"):
        list(IMPORTERS["snli"].check("f.jsonl", pairs))


def test_lines_of_fasttext_with_several_labels_are_left_out(tmp_path: Path) -> None:
    content = "__label__a __label__b It rained.\n__label__a Wet.\n__label__b Dry.\n"
    examples, report = read("classify", tmp_path / "f.txt", content)
    assert [(text.text, text.label) for text in examples] == [("Wet.", "a"), ("Dry.", "b")]
    assert report.left_out == {"with several labels": ["line 1"]}


def test_labels_with_commas_between_them_are_no_scores(tmp_path: Path) -> None:
    content = "It rained.\t2\nIt is dry.\t14\nWet again.\t2\nSo so.\t2,14\n"
    examples, report = read("classify", tmp_path / "f.tsv", content)
    assert [text.label for text in examples] == ["2", "14", "2"]
    assert report.left_out == {"with a score, or with several labels": ["line 4"]}


def test_line_ends_that_are_written_out_are_spaces(tmp_path: Path) -> None:
    content = '"1","It rained.\\n\\nWe left."\n"2","C:\\new is dry."\n"1","So \\n it went."\n'
    assert texts(tmp_path / "f.csv", content) == [
        ("It rained. We left.", "1"),
        ("C:\\new is dry.", "2"),
        ("So it went.", "1"),
    ]


def test_programs_of_spacy_have_categories(tmp_path: Path) -> None:
    content = """TRAIN = [
        ("It rained.", {"cats": {"wet": 1, "dry": 0}}),
        ("It is fine.", {"cats": {"wet": 0, "dry": 1}}),
    ]"""
    assert texts(tmp_path / "f.py", content) == [("It rained.", "wet"), ("It is fine.", "dry")]


def test_texts_and_labels_in_two_files_are_joined_line_by_line(tmp_path: Path) -> None:
    names = [
        ("train_text.txt", "train_labels.txt"),
        ("texts.txt", "label.txt"),
        ("seq.in", "label"),
    ]
    for number, (text_name, label_name) in enumerate(names):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / label_name).write_text("wet\ndry\n")
        found = texts(folder / text_name, "It rained.\nIt is dry.\n")
        assert found == [("It rained.", "wet"), ("It is dry.", "dry")]


def test_another_number_of_labels_than_of_texts_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "train_labels.txt").write_text("wet\n")
    with pytest.raises(
        ConfigurationError, match=r"train_labels\.txt: expected a label for each line"
    ):
        texts(tmp_path / "train_text.txt", "It rained.\nIt is dry.\n")


def test_folders_of_intents_have_the_labels_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "seq.in").write_text("play some jazz\nset an alarm\n")
    (tmp_path / "seq.out").write_text("O O B-genre\nO O O\n")
    (tmp_path / "label").write_text("Play\nAlarm\n")
    assert texts(tmp_path) == [("play some jazz", "Play"), ("set an alarm", "Alarm")]


def test_names_of_parts_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "train_text.txt").write_text("It rained.\n")
    (tmp_path / "train_labels.txt").write_text("2\n")
    with pytest.raises(ConfigurationError, match="this name is of a part of the data"):
        texts(tmp_path)


def test_texts_without_a_label_in_a_folder_are_left_out(tmp_path: Path) -> None:
    for label in ("pos", "neg", "unsup"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(f"A {label} film.")
    assert texts(tmp_path) == [("A neg film.", "neg"), ("A pos film.", "pos")]


def test_a_column_that_divides_the_records_is_reported(tmp_path: Path) -> None:
    content = "split,text,label\ntrain,It rained.,wet\ntest,It is dry.,dry\n"
    _, report = read("classify", tmp_path / "f.csv", content)
    assert any("'split' says which records are for training" in line for line in report.findings)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_commas_in_texts_do_not_separate_columns(tmp_path: Path, separator: str) -> None:
    rows = [("i can go, so far, today", "sad"), ("im here, as said, now", "glad")] * 2
    content = "".join(separator.join(row) + "\n" for row in rows)
    assert texts(tmp_path / "f.txt", content) == rows


@pytest.mark.parametrize(
    "rows",
    [
        [
            "Nr.;Rückmeldung;Bewertung",
            "1;Das Essen war kalt.;schlecht",
            "2;Sehr gut!;gut",
            "3;Zu teuer.;schlecht",
        ],
        [
            "Fecha;Comentario;Valoración",
            "01/02/2020;Muy mal;mala",
            "02/02/2020;Muy buen servicio;buena",
            "03/02/2020;Caro;mala",
        ],
        ["Nachricht;Spam?", "Jetzt klicken;ja", "Bis morgen;nein", "Klick;ja", "Du;nein"],
        ["Wort;Art", "Hund;Tier", "Katze;Tier", "Eiche;Baum", "Buche;Baum"],
        ["Frase;Etiqueta", "Estaba fría.;mala", "Muy buen servicio.;buena", "Caro.;mala"],
        ["Umfrage 2020;", "Satz;Urteil", "Es war kalt.;schlecht", "Sehr gut!;gut", "Naja.;gut"],
    ],
)
def test_headers_in_other_languages_are_no_examples(tmp_path: Path, rows: list[str]) -> None:
    begin = 2 if rows[0].endswith(";") else 1
    expected = [tuple(row.split(";")[-2:]) for row in rows[begin:]]
    assert texts(tmp_path / "f.csv", "\n".join(rows) + "\n") == expected


def test_a_first_row_with_a_label_that_occurs_again_is_an_example(tmp_path: Path) -> None:
    rows = [("Hund", "Tier"), ("Katze", "Tier"), ("Eiche", "Baum"), ("Buche", "Baum")]
    content = "".join(";".join(row) + "\n" for row in rows)
    assert texts(tmp_path / "f.csv", content) == rows


def test_letters_of_relations_are_their_names(tmp_path: Path) -> None:
    lines = [{"context": "A b.", "hypothesis": "C d.", "label": label} for label in "enc"]
    pairs, _ = read(
        "snli", tmp_path / "f.jsonl", "".join(json.dumps(line) + "\n" for line in lines)
    )
    assert [pair.label for pair in pairs] == ["entailment", "neutral", "contradiction"]


def test_choices_of_label_studio_are_read_as_labels(tmp_path: Path) -> None:
    items = [
        {
            "data": {"text": "It rained."},
            "annotations": [{"result": [{"value": {"choices": ["wet"]}}]}],
        }
    ]
    assert texts(tmp_path / "f.json", json.dumps(items)) == [("It rained.", "wet")]


def test_scores_are_not_read_as_classes(tmp_path: Path) -> None:
    content = "premise\thypothesis\tscore\nA b.\tC d.\t4.750\nE f.\tG h.\t0.200\n"
    with pytest.raises(ConfigurationError, match=r"line 2: 'score' has scores, such as 4\.750"):
        read("snli", tmp_path / "f.tsv", content, columns={"label": "score"})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_header_in_another_language_is_not_read_as_an_example(
    tmp_path: Path, encoding: str, end: str
) -> None:
    rows = ["Texto;Etiqueta", "¡Qué día más bonito!;bueno", "No me gusta.;malo"]
    rows += ["Me encanta.;bueno", "Es horrible.;malo"]
    found = texts(tmp_path / "f.csv", end.join([*rows, ""]).encode(encoding))
    assert found[0] == ("¡Qué día más bonito!", "bueno") and len(found) == 4


def test_text_and_label_of_each_line_need_no_header(tmp_path: Path) -> None:
    content = "it rained again;sad\nthe sun is out;glad\nall is wet;sad\nwhat a day;glad\n"
    assert texts(tmp_path / "f.txt", content)[0] == ("it rained again", "sad")


def test_spreadsheets_parquet_and_arrow_are_read_as_tables(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"text": ["It rained.", "It is dry."], "label": ["wet", "dry"]})
    frame.to_excel(tmp_path / "f.xlsx", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    frame.to_feather(tmp_path / "f.feather")
    table = pyarrow.Table.from_pandas(frame)
    with pyarrow.ipc.new_stream(tmp_path / "f.arrow", table.schema) as stream:
        stream.write_table(table)
    expected = [("It rained.", "wet"), ("It is dry.", "dry")]
    for suffix in ("xlsx", "parquet"):
        compressed = gzip.compress((tmp_path / f"f.{suffix}").read_bytes())
        (tmp_path / f"f.{suffix}.gz").write_bytes(compressed)
    for suffix in ("xlsx", "parquet", "feather", "arrow", "xlsx.gz", "parquet.gz"):
        assert texts(tmp_path / f"f.{suffix}") == expected


@pytest.mark.parametrize("index", [["text"], ["text", "label"]])
def test_the_index_of_pandas_is_a_column_of_parquet(tmp_path: Path, index: list[str]) -> None:
    rows = {"text": ["It rained.", "It is dry."], "label": ["wet", "dry"], "year": [1999, 2001]}
    pandas.DataFrame(rows).set_index(index).to_parquet(tmp_path / "f.parquet")
    assert texts(tmp_path / "f.parquet") == [("It rained.", "wet"), ("It is dry.", "dry")]


def test_an_index_of_pandas_with_the_name_of_a_column_is_left_out(tmp_path: Path) -> None:
    rows = {"text": ["It rained.", "It is dry."], "label": ["wet", "dry"]}
    frame = pandas.DataFrame(rows, index=pandas.Index([7, 8], name="text"))
    frame.to_parquet(tmp_path / "f.parquet")
    assert texts(tmp_path / "f.parquet") == [("It rained.", "wet"), ("It is dry.", "dry")]


def test_a_packed_file_without_its_suffix_is_named_by_its_format(tmp_path: Path) -> None:
    packed = gzip.compress(b"It rained.\twet\nIt is dry.\tdry\n")
    with pytest.raises(ConfigurationError, match=r"f.txt: expected text, got gzip without .gz"):
        texts(tmp_path / "f.txt", packed)


@pytest.mark.parametrize("name", ["f.parquet", "f.feather"])
def test_integer_labels_stay_integers_beside_a_missing_one(tmp_path: Path, name: str) -> None:
    columns = {"text": ["It rained.", "It is dry.", "Who knows?"], "label": [1, 0, None]}
    table = pyarrow.table(columns)  # which pandas has not made, so it names no types of pandas
    pyarrow.parquet.write_table(table, tmp_path / "f.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "f.feather")
    assert texts(tmp_path / name) == [("It rained.", "1"), ("It is dry.", "0")]


@pytest.mark.parametrize("name", ["f.parquet", "f.arrow", "f.feather"])
def test_a_damaged_columnar_file_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{name}: not a table that pyarrow can read"):
        texts(tmp_path / name, b"ARROW1\0\0nothing")
    with pytest.raises(ConfigurationError, match=rf"{name}: not a table that pyarrow can read"):
        texts(tmp_path / name, b"It rained.")


def test_text_in_utf_16_without_its_mark_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    content = "text,label\nIt rained.,wet\nIt is dry.,dry\n".encode("utf-16-le")
    with pytest.raises(ConfigurationError, match="--encoding utf-16-le reads UTF-16 without"):
        texts(tmp_path / "f.csv", content)
    expected = [("It rained.", "wet"), ("It is dry.", "dry")]
    assert texts(tmp_path / "f.csv", content, encoding="utf-16-le") == expected


def test_a_damaged_spreadsheet_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"f.xlsx: not a spreadsheet .*save it as CSV"):
        texts(tmp_path / "f.xlsx", b"PK\x03\x04nothing")


def test_labels_may_be_folders_or_files(tmp_path: Path) -> None:
    for label, text in (("pos", "It is dry."), ("neg", "It rained.")):
        (tmp_path / "folders" / label).mkdir(parents=True)
        (tmp_path / "folders" / label / "0.txt").write_text(text)
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files" / f"{label}.txt").write_text(f"{text}\n\n")
    expected = [("It rained.", "neg"), ("It is dry.", "pos")]
    assert texts(tmp_path / "folders") == texts(tmp_path / "files") == expected


def test_json_columns_of_pandas_are_read_as_a_table(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"text": ["It rained.", "It is dry."], "label": ["wet", "dry"]})
    assert texts(tmp_path / "f.json", frame.to_json()) == [
        ("It rained.", "wet"),
        ("It is dry.", "dry"),
    ]


def test_rows_of_a_different_length_are_skipped_naming_the_line(tmp_path: Path) -> None:
    content = "text,label\nWet,bad\n ,bad\nDry,\nOh, no,bad\n"
    examples, report = read("classify", tmp_path / "f.csv", content)
    assert [example.text for example in examples] == ["Wet"]
    assert report.left_out == {
        "with 3 columns instead of 2": ["line 5"],
        "without a text": ["line 3"],
        "without a label": ["line 4"],
    }


def test_pairs_without_a_majority_are_left_out(tmp_path: Path) -> None:
    lines = [
        {"sentence1": "A b.", "sentence2": "C d.", "gold_label": label}
        for label in ("-", -1, "NEUTRAL", "contradictory")
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    pairs, report = read("snli", tmp_path / "f.jsonl", content)
    assert [pair.label for pair in pairs] == ["neutral", "contradiction"]
    assert report.left_out == {"without a gold label": ["line 1", "line 2"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("It rained again.\n", "line 1: expected texts and labels, as a table"),
        ("text,mood,body\na b c,x,y\n", "'mood' and 'body' may all be the label"),
        ('{"text": "a b"}\n{"text": \n', "line 2: not JSON"),
        ("__label__a __label__b\n", "line 1: expected __label__ with a label"),
        ("| text | label |\n|---|---|\n| It rained. | wet |\n", "got a table of Markdown"),
        ("0\tIt rained.\n0\tIt is dry.\n", "the label may be in '0', but it is '0' in all"),
        ("", "no rows in this file"),
        ("(2 (2 a) (2 b)\n", "line 1: brackets are not balanced"),
    ],
)
def test_unrecognized_data_are_an_error_naming_file_and_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"f.txt(, line 1)?.*({message})"):
        texts(tmp_path / "f.txt", content)


FIELDS = (
    st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"]), min_size=1)
    .map(str.strip)
    .filter(bool)
)
ROWS = st.lists(st.tuples(FIELDS, FIELDS), min_size=2)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(ROWS, st.sampled_from([",", ";", "\t"]))
@example([("0", "0"), ("0", "0\n\t0")], "\t")  # each line has a tab, and two an odd number of marks
def test_tables_survive_a_round_trip_through_csv(
    rows: list[tuple[str, str]], delimiter: str
) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [("a", 'the ""'), *rows]
    )
    options = ImportOptions(separator=delimiter)
    table = read_text_table("f.csv", file.getvalue(), options, Report("f.csv"))
    assert [row.fields for row in table.rows[1:]] == rows
