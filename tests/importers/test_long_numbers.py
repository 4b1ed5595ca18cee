"""Numbers of thousands of digits: Python's `int` refuses to read them."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from tests.importers.reading import read, read_tags

LONG = "9" * 5_000


def test_a_long_label_has_no_name(tmp_path: Path) -> None:
    records = [{"text": "a b", "label": LONG}, {"text": "a c", "label": "1"}]
    content = "".join(json.dumps(record) + "\n" for record in records)
    examples, report = read("classify", tmp_path / "f.jsonl", content, labels=("no", "yes"))
    assert [example.label for example in examples] == ["yes"]
    assert report.left_out == {"with a label that --label-names lacks": ["line 1"]}


def test_a_long_place_of_an_answer_is_malformed(tmp_path: Path) -> None:
    content = f"context,question,answer,answer_start\nIt rained.,What?,rained,{LONG}\n"
    examples, report = read("squad", tmp_path / "f.csv", content)
    assert examples == []
    assert report.left_out == {'with a malformed "answer_start"': ["line 2"]}


@pytest.mark.parametrize("numbers", [(f"{LONG}-1", f"{LONG}-2", f"7-{LONG}"), ("1", "2", LONG)])
def test_long_numbers_separate_no_sentences(tmp_path: Path, numbers: tuple[str, ...]) -> None:
    words = [("Ola", "B-PER"), ("ran", "O"), ("far", "O")]
    lines = ["nr\tword\tner"]
    for number, (word, tag) in zip(numbers, words, strict=True):
        lines.append(f"{number}\t{word}\t{tag}")
    expected = [(["Ola", "ran", "far"], ["B-PER", "O", "O"])]
    assert read_tags(tmp_path / "f.tsv", "\n".join(lines)) == expected


def test_long_numbers_of_sentences_are_names_of_their_parts(tmp_path: Path) -> None:
    content = f"nr\tword\tner\nS.{LONG}\tOla\tB-PER\nS.{LONG}\tran\tO\nS.1\tIt\tO\nS.1\trained\tO\n"
    expected = [(["Ola", "ran"], ["B-PER", "O"]), (["It", "rained"], ["O", "O"])]
    assert read_tags(tmp_path / "f.tsv", content) == expected


def test_long_numbers_of_words_are_errors_of_their_lines(tmp_path: Path) -> None:
    columns = ["it", "_", "_", "_", "_", "_", "_", "0", "0", "_", "_", "_", "_"]
    lines = ["\t".join([number, *columns]) for number in ("1", LONG)]
    with pytest.raises(ConfigurationError, match=r"line 2: expected the number of a word, got 999"):
        read("srl", tmp_path / "f.conll09", "\n".join(lines) + "\n")


def test_long_places_of_arguments_are_errors_of_their_lines(tmp_path: Path) -> None:
    heading = "# global.columns = ID FORM UP:PRED UP:ARGHEADS UP:ARGSPANS"
    content = f"{heading}\n1\trained\train.01\tV:1\tV:1-{LONG}\n"
    with pytest.raises(ConfigurationError, match=r"line 2: expected arguments such as"):
        read("srl", tmp_path / "f.conllup", content)


def test_a_long_part_of_a_document_is_left_out(tmp_path: Path) -> None:
    content = json.dumps({"doc_key": "a", "part": LONG, "sentences": [["It"]], "clusters": []})
    examples, _ = read("coref", tmp_path / "f.jsonl", content)
    assert [example.part for example in examples] == [""]


@pytest.mark.parametrize("task", ["ner", "classify", "squad"])
def test_a_long_number_of_a_column_names_none(tmp_path: Path, task: str) -> None:
    roles = {"ner": "word", "classify": "text", "squad": "question"}
    content = "Ola\tB-PER\nran\tO\n"
    with pytest.raises(ConfigurationError, match=f"--column {roles[task]}.* got"):
        read(task, tmp_path / "f.tsv", content, columns={roles[task]: LONG})
