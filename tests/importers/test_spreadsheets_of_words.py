"""Spreadsheets in which people label words: in any language, with sentences told in many ways."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from allennlp.common.checks import ConfigurationError

from tests.importers.reading import read, read_tags

GERMAN = [
    [("Angela", "PER"), ("Merkel", "PER"), ("besuchte", ""), ("Berlin", "ORT"), (".", "")],
    [("Die", ""), ("Siemens", "ORG"), ("AG", "ORG"), ("wächst", ""), (".", "")],
    [("Er", ""), ("sah", ""), ("Müller", "PER"), (",", ""), ("sagte", ""), ("sie", "")],
    [("Es", ""), ("regnete", ""), (".", "")],
]
SPANISH = [
    [("María", "persona"), ("López", "persona"), ("vive", ""), ("en", ""), ("Jaén", "lugar")],
    [("Ayer", ""), ("llegó", ""), ("Juan", "persona"), ("a", ""), ("Cádiz", "lugar"), (".", "")],
    [("No", ""), ("llovió", ""), (".", "")],
]
HINDI = [
    [("राम", "व्यक्ति"), ("कुमार", "व्यक्ति"), ("दिल्ली", "स्थान"), ("गए", ""), ("।", "")],
    [("सीता", "व्यक्ति"), ("मुंबई", "स्थान"), ("में", ""), ("है", "")],
]
POLISH = [
    [("Jan", "osoba"), ("Kowalski", "osoba"), ("mieszka", ""), ("w", ""), ("Łodzi", "miejsce")],
    [("Pojechał", ""), ("do", ""), ("Gdańska", "miejsce"), (".", "")],
]
QUOTES = [
    [("Anna", "PER"), ('"', ""), ("Ja", ""), ('"', "")],
    [("Es", ""), ("kostet", ""), ("3,50", ""), (",", "")],
]
Sentences = Sequence[Sequence[tuple[str, str]]]
Rows = list[list[object]]


def expected(sentences: Sentences) -> list[tuple[list[str], list[str]]]:
    """Returns words and tags in BIO; words of one type that adjoin are one entity."""
    found = []
    for sentence in sentences:
        tags = []
        last = ""
        for _, kind in sentence:
            if not kind:
                tags.append("O")
            elif kind == last:
                tags.append(f"I-{kind}")
            else:
                tags.append(f"B-{kind}")
            last = kind
        found.append(([word for word, _ in sentence], tags))
    return found


def rows_of(
    sentences: Sentences,
    header: Sequence[object] = (),
    columns: str = "first word kind",
    blank_rows: bool = False,
) -> Rows:
    """Returns a row for each word, with these columns."""
    rows: Rows = []
    if header:
        rows.append(list(header))
    index = 0
    for number, sentence in enumerate(sentences, start=1):
        for place, (word, kind) in enumerate(sentence, start=1):
            index += 1
            fields: dict[str, object] = {
                "first": number if place == 1 else "",
                "satz": f"Satz {number}" if place == 1 else "",
                "sentence": number,
                "place": place,
                "both": f"{number}-{place}",
                "index": index,
                "text": " ".join(each for each, _ in sentence),
                "word": word,
                "lemma": word.lower(),
                "class": "NOUN" if kind else "X",
                "kind": kind,
                "o": kind or "O",
                "dash": kind or "-",
                "zero": kind or 0,
                "remark": "unsicher, siehe oben" if word == "AG" else "",
                "document": f"Brief {1 + (number - 1) // 2}",
                "again": 1 + (number - 1) % 2,
                "empty": "",
            }
            rows.append([fields[name] for name in columns.split()])
        if blank_rows:
            rows.append([""] * len(rows[-1]))
    return rows


def as_text(rows: Rows, separator: str, end: str = "\n") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator=end).writerows(rows)
    return file.getvalue()


def as_xlsx(sheets: dict[str, Rows], merged: Sequence[str] = ()) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([None if value == "" else value for value in row])
        for cells in merged:
            sheet.merge_cells(cells)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        (["Satz", "Wort", "Typ"], "first word kind"),
        (["Satz", "Wort", "Typ"], "satz word o"),
        (["Satz", "Wort", "Typ"], "sentence word kind"),
        (["SATZ", "WORT", "TYP"], "sentence word kind"),
        (["", "Satz", "Wort", "Typ"], "index sentence word o"),
        (["Typ", "Wort", "Satz"], "kind word sentence"),
        (["Satz", "Wort", "Typ"], "sentence word dash"),
        (["Satz", "Wort", "Typ"], "sentence word zero"),
        (["Satz", "Wort", "Typ", "Anmerkung"], "first word kind remark"),
        (["Satz", "Wort", "Grundform", "Wortart", "Typ"], "first word lemma class kind"),
        (["Satz", "Word", "Lemma", "POS", "Typ"], "first word lemma class o"),
        (["Satz", "Wort", "Typ"], "text word kind"),
        (["Satz", "Nr", "Wort", "Typ"], "sentence place word kind"),
        (["Nr", "Wort", "Typ"], "place word kind"),
        (["Nr", "Wort", "Typ"], "both word kind"),
        (["Datei", "Satz", "Wort", "Typ"], "document again word kind"),
        (["Satz", "Wort", "Typ", "", ""], "sentence word kind empty empty"),
        ([], "first word kind"),
    ],
)
@pytest.mark.parametrize("form", ["xlsx", "csv", "txt"])
def test_sentences_words_and_types_are_found_whatever_stands_beside_them(
    tmp_path: Path, form: str, header: list[str], columns: str
) -> None:
    rows = rows_of(GERMAN, header, columns)
    content: bytes | str = as_xlsx({"Tabelle1": rows})
    if form == "csv":
        content = as_text(rows, ";")
    if form == "txt":
        content = as_text(rows, "\t")
    assert read_tags(tmp_path / f"f.{form}", content) == expected(GERMAN)


@pytest.mark.parametrize(
    ("sentences", "header", "separator", "encoding", "end"),
    [
        (GERMAN, ["Satz", "Wort", "Typ"], ";", "cp1252", "\r\n"),
        (GERMAN, ["Satz", "Wort", "Typ"], "\t", "utf-16", "\r\n"),
        (GERMAN, ["Satz", "Wort", "Typ"], ";", "cp1252", "\r"),
        (SPANISH, ["Frase", "Palabra", "Entidad"], ";", "latin-1", "\r\n"),
        (SPANISH, ["frase", "palabra", "etiqueta"], "\t", "utf-8-sig", "\n"),
        (HINDI, ["वाक्य", "शब्द", "टैग"], ",", "utf-8-sig", "\r\n"),
        (HINDI, ["वाक्य", "शब्द", "टैग"], "\t", "utf-16", "\r\n"),
        (POLISH, ["Zdanie", "Słowo", "Etykieta"], ";", "cp1250", "\r\n"),
        (QUOTES, ["Satz", "Wort", "Typ"], ",", "utf-8", "\n"),
        (QUOTES, ["Satz", "Wort", "Typ"], ";", "utf-8", "\n"),
        (QUOTES, ["Satz", "Wort", "Typ"], "\t", "utf-16", "\r\n"),
    ],
)
def test_what_spreadsheets_save_as_text_is_read(
    tmp_path: Path,
    sentences: Sentences,
    header: list[str],
    separator: str,
    encoding: str,
    end: str,
) -> None:
    text = as_text(rows_of(sentences, header), separator, end)
    name = "f.txt" if separator == "\t" else "f.csv"
    assert read_tags(tmp_path / name, text.encode(encoding)) == expected(sentences)


@pytest.mark.parametrize("columns", ["word kind", "first word kind", "satz word o", "place word o"])
def test_blank_rows_end_sentences_beside_their_numbers(tmp_path: Path, columns: str) -> None:
    header = ["Nr", "Wort", "Typ"][-len(columns.split()) :]
    text = as_text(rows_of(GERMAN, header, columns, blank_rows=True), ";")
    assert read_tags(tmp_path / "f.csv", text) == expected(GERMAN)


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_quotation_marks_that_are_words_enclose_nothing(tmp_path: Path, separator: str) -> None:
    rows = ["Satz;Wort;Typ", "1;Anna;PER", '1;";O', "1;ja;O", '1;";O', "2;Es;O", "2;ging;O"]
    text = "\n".join(rows).replace(";", separator)
    assert read_tags(tmp_path / "f.csv", text) == [
        (["Anna", '"', "ja", '"'], ["B-PER", "O", "O", "O"]),
        (["Es", "ging"], ["O", "O"]),
    ]


def test_merged_cells_count_for_each_of_their_rows(tmp_path: Path) -> None:
    rows = rows_of(GERMAN, ["Satz", "Wort", "Typ"])
    rows[2][2] = ""
    content = as_xlsx({"Tabelle1": rows}, merged=["A2:A6", "C2:C3"])
    assert read_tags(tmp_path / "f.xlsx", content) == expected(GERMAN)


def test_a_title_above_the_table_is_no_sentence(tmp_path: Path) -> None:
    rows: Rows = [["Projekt", "", ""], ["", "", ""], ["Stand: heute", "", ""]]
    rows += rows_of(GERMAN, ["Satz", "Wort", "Typ"])
    assert read_tags(tmp_path / "f.xlsx", as_xlsx({"Daten": rows})) == expected(GERMAN)


def test_sheets_with_one_header_are_one_table_and_others_are_named(tmp_path: Path) -> None:
    header = ["Satz", "Wort", "Typ"]
    sheets: dict[str, Rows] = {
        "Lies mich": [["Bitte PER oder ORT eintragen."]],
        "Anna": rows_of(GERMAN[:2], header),
        "Bernd": rows_of(GERMAN[2:], header),
    }
    examples, report = read("ner", tmp_path / "f.xlsx", as_xlsx(sheets))
    assert [(list(each.words), list(each.tags)) for each in examples] == expected(GERMAN)
    assert any("not the sheets 'Lies mich'" in finding for finding in report.findings)


def test_the_first_row_is_an_example_if_it_may_be_one(tmp_path: Path) -> None:
    assert read_tags(tmp_path / "f.csv", "Rom,LOC\nist,O\nalt,O\n") == [
        (["Rom", "ist", "alt"], ["B-LOC", "O", "O"])
    ]
    text = "Gee,UH\n" + "the,DT\ndog,NN\n" * 5
    ((words, _),) = read_tags(tmp_path / "f.csv", text, "tag")
    assert words[0] == "Gee"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            as_text(
                rows_of([[("Anna", "PER"), ("und", "")] * 1000], ["Wort", "Typ"], "word o"), ";"
            ),
            "line 2: a sentence of 2,000 words; a blank line, or a column",
        ),
        ("Satz,Wort,Typ\n1,Anna,PER\n1,,,O\n1,ja,O\n", "line 3: a row with 4 columns"),
        ("Text;Typ\nAnna kam heute an.;PER\nEs regnet.;O\n.;O\n", "line 2: expected words, got"),
        (as_text(rows_of(GERMAN, ["Satz", "Wort", "A", "B"], "first word kind o"), ";"), "'A' and"),
        (
            "Satz;Wort;Typ\n1;Anna;PER\n1;kam;nix\n1;an;nix\n1;!;nix\n",
            "mark no entities: .* 'nix' as no",
        ),
    ],
)
def test_what_cannot_be_decided_is_one_question(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as error:
        read_tags(tmp_path / "f.csv", text)
    assert "\n" not in str(error.value)


def test_the_most_usual_type_is_no_entity_in_io_without_o(tmp_path: Path) -> None:
    text = "Satz;Wort;Typ\n1;Anna;PER\n1;kam;nix\n1;an;nix\n1;!;nix\n"
    assert read_tags(tmp_path / "f.csv", text, tag_encoding="IO") == [
        (["Anna", "kam", "an", "!"], ["B-PER", "O", "O", "O"])
    ]


@pytest.mark.parametrize("folder", ["my.tables", "words.tsv"])
def test_csv_is_read_as_such_whatever_the_name_of_its_folder(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    found = read_tags(tmp_path / folder / "f.csv", 'word,tag\nAnna,B-PER\n",",O\nran,O\n')
    assert found == [(["Anna", ",", "ran"], ["B-PER", "O", "O"])]
