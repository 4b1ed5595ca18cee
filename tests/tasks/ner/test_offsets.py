"""Entities as characters of a text, as annotation tools write them, and other shapes of public
files.
"""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from tests.experiments.configs import each_file
from tests.tasks.ner.test_dataset_reader import read

TEXT = "Ola met Ruth Bay in Oslo."
WORDS = ["Ola", "met", "Ruth", "Bay", "in", "Oslo", "."]
TAGS = ["B-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "O"]
SPANS = [[0, 3, "PER"], [8, 16, "PER"], [20, 24, "LOC"]]
RASA = {"text": TEXT, "entities": [{"start": s, "end": e, "entity": t} for s, e, t in SPANS]}


@each_file("ner/offsets")
def test_entities_as_characters_in_lines_in_a_list_and_after_a_byte_order_mark(
    tmp_path: Path, file: Path
) -> None:
    item = file.read_text()
    assert read(tmp_path / "f.jsonl", f"\ufeff{item}\r\n") == [(WORDS, TAGS)]
    for text in (item * 2, json.dumps([json.loads(item)] * 2, indent=1)):
        assert read(tmp_path / "f.json", text) == [(WORDS, TAGS)] * 2


@pytest.mark.parametrize(
    ("whole", "number"),
    [
        ({"rasa_nlu_data": {"common_examples": [RASA]}}, 1),
        ({"classes": ["PER"], "annotations": [[TEXT, {"entities": SPANS}]] * 2}, 2),
        ({"version": 1, "data": [{"tokens": WORDS, "ner_tags": TAGS}]}, 1),
    ],
)
def test_the_list_of_a_whole_object_is_read(tmp_path: Path, whole: Any, number: int) -> None:
    assert read(tmp_path / "f.json", json.dumps(whole)) == [(WORDS, TAGS)] * number


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (
            [[0, 2, "PER"]],
            "'Ol' .PER. at characters 0 to 2 begins or ends within a word; .* tokenizer",
        ),
        ([[9, 16, "PER"]], "begins or ends within a word; the option tokenizer .* skip_bad"),
        (
            [[0, 3, "PER"], [0, 7, "X"]],
            "the entity 'Ola met' .X. .* overlaps with an earlier one; skip_bad",
        ),
        ([[20, 99, "LOC"]], "at characters 20 to 99 is not in the text"),
        (
            [{"start": 1, "end": 4, "label": "PER", "text": "Ola"}],
            "'Ola' is not at characters 1 to 4",
        ),
        (["PER"], "expected an entity such as .*, got 'PER'"),
        ([[0, 3]], "expected an entity such as"),
    ],
)
def test_entities_that_are_no_words_of_the_text_are_refused_or_left_out(
    tmp_path: Path, spans: list[Any], message: str
) -> None:
    text = "".join(json.dumps({"text": TEXT, "spans": each}) + "\n" for each in (SPANS, spans))
    with pytest.raises(ConfigurationError, match=f"f.jsonl, line 2: .*{message}"):
        read(tmp_path / "f.jsonl", text)
    assert read(tmp_path / "f.jsonl", text, skip_bad=True) == [(WORDS, TAGS)]


def test_types_have_no_spaces_ends_no_blanks_and_rejected_examples_are_left_out(
    tmp_path: Path,
) -> None:
    items = [
        {"text": "Ola ran", "spans": [[0, 4, "Full Name"]]},
        {"text": "x", "spans": [], "answer": "reject"},
    ]
    found = read(tmp_path / "f.jsonl", "\n".join(map(json.dumps, items)))
    assert found == [(["Ola", "ran"], ["B-Full_Name", "O"])]


def test_what_an_annotator_cancelled_in_label_studio_is_left_out(tmp_path: Path) -> None:
    done = {"result": [{"value": {"start": 0, "end": 3, "labels": ["PER"]}}]}
    cancelled = {
        "result": [{"value": {"start": 4, "end": 7, "labels": ["LOC"]}}],
        "was_cancelled": True,
    }
    annotations = ([cancelled, done], [cancelled])
    items = [{"data": {"text": "Ola ran"}, "annotations": each} for each in annotations]
    assert read(tmp_path / "f.json", json.dumps(items)) == [(["Ola", "ran"], ["B-PER", "O"])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("de:Ola B-PER\nde:: O\n", ["Ola", ":"]),
        ("de:Ola B-PER\nen:ran O\n", ["Ola", "ran"]),
        ("w[0]=Ola B-PER\nw[0]=ran O\nw[0]=. O\n", ["Ola", "ran", "."]),
        ("http://a B-X\nhttp://b O\n", ["http://a", "http://b"]),
        ("at:Ola B-PER\nand/or O\n", ["at:Ola", "and/or"]),
    ],
)
def test_a_prefix_of_all_words_is_left_out_and_logged(
    tmp_path: Path, text: str, words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert read(tmp_path / "f.txt", text)[0][0] == words
    assert ("lose their prefix" in caplog.text) == (words[0] == "Ola")


def test_entities_of_a_key_in_a_column_are_one(tmp_path: Path) -> None:
    text = "1\tOla\t_\tPROPN\t_\t_\t2\tnsubj\t_\tname=B-PER\n2\tran\t_\tVERB\t_\t_\t0\troot\t_\tGloss=x|name=O\n"
    assert read(tmp_path / "f.conllu", text) == [(["Ola", "ran"], ["B-PER", "O"])]
    assert read(tmp_path / "f.conllu", text, tag_column="UPOS")[0][1] == ["PROPN", "VERB"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.txt", "\tO\nran\tO\n\nOla\tB-PER\n"),
        ("f.txt", " O\nran O\n\nOla B-PER\n"),
        ("f.txt", "ran\t\n\nOla\tB-PER\n"),
        ("f.csv", "sid,word,tag\n1,,O\n2,Ola,B-PER\n"),
        (
            "f.jsonl",
            '{"tokens": ["", "a"], "tags": ["O", "O"]}\n{"tokens": ["Ola"], "tags": ["B-PER"]}\n',
        ),
    ],
)
def test_a_sentence_with_a_blank_word_or_tag_may_be_left_out(
    tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"line \d: .*skip_bad leaves"):
        read(tmp_path / name, text)
    assert read(tmp_path / name, text, skip_bad=True) == [(["Ola"], ["B-PER"])]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", "tokens,tags\n\"['Ola', 'ran']\",\"['B-PER', 'O']\"\n"),
        ("f.csv", "tokens,tags\n\"['Ola' 'ran']\",\"['B-PER'\n 'O']\"\n"),
        ("f.tsv", "tokens\ttags\n['Ola', 'ran']\t['B-PER', 'O']\n"),
        ("f.csv", "'word','tag'\n'Ola','B-PER'\n'ran','O'\n"),
        ("f.in", "Ola ran\n"),
    ],
)
def test_lists_as_text_apostrophes_and_tags_in_another_file(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "f.out").write_text("B-PER O\n")
    assert read(tmp_path / name, text) == [(["Ola", "ran"], ["B-PER", "O"])]


def test_the_lines_of_words_and_of_tags_in_two_files_fit(tmp_path: Path) -> None:
    (tmp_path / "f.out").write_text("B-PER O O\n")
    with pytest.raises(
        ConfigurationError, match=r"f.in, line 1: expected a tag for each word in .*f.out"
    ):
        read(tmp_path / "f.in", "Ola ran\n")
