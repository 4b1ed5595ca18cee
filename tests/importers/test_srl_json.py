"""Semantic roles in JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.srl_json import sentence_in
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl import SrlReader
from elmo_plugin.tasks.srl.sentences import SrlSentence
from tests.importers.imported import import_file
from tests.importers.reading import read as imported_examples

WORDS = ["The", "cook", "burned", "a", "cake"]
TAGS = ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1"]
ARGUMENTS = [Span(0, 2, "ARG0"), Span(2, 3, "V"), Span(3, 5, "ARG1")]
OBJECTS = [{"role": role, "start": start, "end": end} for start, end, role in ARGUMENTS]
SHAPES = {
    "AllenNLP": {"verbs": [{"verb": "burned", "description": "", "tags": TAGS}], "words": WORDS},
    "elmo_srl": {"words": WORDS, "frames": [{"index": 2, "tags": TAGS, "roles": OBJECTS}]},
    "roles": {"words": WORDS, "frames": [{"index": 2, "roles": [OBJECTS[2], OBJECTS[0]]}]},
}


def read(fields: dict[str, Any]) -> SrlSentence:
    return sentence_in(Record("data", "line 3", fields))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sentence_is_read_with_the_same_frames_from_each_json_form(shape: str) -> None:
    words, (predicate,), _ = read(SHAPES[shape])
    assert (words, predicate) == (WORDS, (2, "burned", ARGUMENTS, True))


def with_frame(**frame: Any) -> dict[str, Any]:
    return {"words": WORDS, "frames": [frame]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sentence": "The cook"}, 'expected "words", a list of words, got .\'sentence'),
        ({"words": WORDS}, 'expected "frames", a list of objects, got'),
        (with_frame(index=2), 'expected "frames" with 5 "tags" or with "roles", got'),
        (with_frame(index=2, tags=TAGS[1:]), 'expected "frames" with 5 "tags"'),
        (with_frame(index=2, tags=["ARG0", *TAGS[1:]]), "'ARG0' is not a BIO tag"),
        (with_frame(index=0, tags=TAGS), "V is not at its predicate, 'The', but at 'burned'"),
        (with_frame(index=5, tags=["O"] * 5), 'expected an "index" of the predicate below 5'),
        (with_frame(tags=["O"] * 5, verb="cook"), 'expected an "index" of the predicate'),
        (
            with_frame(index=2, roles=[{**OBJECTS[0], "end": 9}]),
            "ARG0 is not in a sentence of 5 words",
        ),
        (
            with_frame(index=2, roles=[OBJECTS[0], OBJECTS[0]]),
            "ARG0 begins inside another argument",
        ),
        (
            with_frame(index=2, roles=[{"role": "A", "start": "0", "end": 1}]),
            "expected a role such as",
        ),
        (
            with_frame(index=2, roles=[{"role": "A", "start": 0, "end": 1, "text": "The cook"}]),
            "expected the end to be after the last word of 'The cook', got 1",
        ),
    ],
)
def test_an_unknown_json_form_is_an_error_naming_file_and_line(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^data, line 3: {message}"):
        read(fields)


@pytest.mark.parametrize("shape", SHAPES)
def test_writing_and_reading_keeps_the_tags(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(SHAPES[shape]) + "\r\n\r\n")
    written, lines = import_file("srl", tmp_path / "a.jsonl")
    (instance,) = SrlReader({}).read(written)
    assert instance["words"].metadata == WORDS
    assert instance["predicate"].sequence_index == 2
    if shape != "roles":
        assert instance["tags"].labels == TAGS
    assert any("JSON with words and frames" in line for line in lines)


def test_a_predicate_that_does_not_fit_into_columns_is_left_out(tmp_path: Path) -> None:
    inside = {"words": WORDS, "frames": [{"index": 1, "tags": ["B-A0", "I-A0", "O", "O", "O"]}]}
    twice = {"words": WORDS, "frames": [{"index": 0, "tags": ["B-V", "O", "B-V", "O", "O"]}]}
    blank = {"words": ["a", " "], "frames": []}
    spaced = {"words": WORDS, "frames": [{"index": 2, "roles": [{**OBJECTS[0], "role": "A 0"}]}]}
    nameless = {"words": WORDS, "frames": [{"index": 2, "tags": ["B", "O", "B-V", "O", "O"]}]}
    records = [SHAPES["AllenNLP"], inside, twice, blank, spaced, nameless]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    written, lines = import_file("srl", tmp_path / "a.jsonl")
    assert len(list(SrlReader({}).read(written))) == 1
    said = "\n".join(lines)
    assert "left out 1 sentences with a predicate inside of its own argument: line 2" in said
    assert "left out 1 sentences with several V of one predicate: line 3" in said
    assert "left out 1 sentences with a blank word: line 4" in said
    assert "left out 2 sentences with a role that is not one word: line 5, line 6" in said


def test_a_sentence_of_a_folder_that_is_left_out_is_named_with_its_file(tmp_path: Path) -> None:
    blank = {"words": ["a", " "], "frames": []}
    (tmp_path / "a.jsonl").write_text(json.dumps(SHAPES["roles"]))
    (tmp_path / "b.jsonl").write_text(json.dumps(blank) + "\n" + json.dumps(SHAPES["roles"]))
    examples, report = imported_examples("srl", tmp_path)
    assert len(examples) == 2
    assert report.left_out["with a blank word"] == [f"{tmp_path}/b.jsonl, line 1"]


def test_the_sentences_of_a_list_are_located_by_their_numbers(tmp_path: Path) -> None:
    content = json.dumps([{"words": WORDS, "frames": []}, SHAPES["roles"]], indent=1)
    examples, _ = imported_examples("srl", tmp_path / "a.json", content)
    assert examples[1].words[0].line.location == f"{tmp_path}/a.json, item 2"
