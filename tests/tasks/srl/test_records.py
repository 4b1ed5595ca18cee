"""Words and frames in JSON lines: the shapes in which people have them."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl import SrlPredicatesReader, SrlReader
from elmo_plugin.tasks.srl.sentences import SrlSentence, sentence_in

INDEXERS = {"tokens": SingleIdTokenIndexer()}
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
    return sentence_in((Line(json.dumps(fields), "data", 3), fields))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sentence_has_the_same_frames_in_each_shape(shape: str) -> None:
    words, (predicate,), _ = read(SHAPES[shape])
    assert (words, predicate) == (WORDS, (2, "burned", ARGUMENTS, True))


def test_both_readers_read_json_lines(tmp_path: Path) -> None:
    records = [SHAPES["AllenNLP"], {"words": ["Yes"], "verbs": []}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n\n")
    (instance,) = SrlReader(INDEXERS).read(tmp_path)
    assert (instance["tags"].labels, instance["frame"].metadata["lemma"]) == (TAGS, "burned")
    found = SrlPredicatesReader(INDEXERS, format="jsonl").read(tmp_path / "a.jsonl")
    assert [instance["tags"].labels for instance in found] == [[0, 0, 1, 0, 0], [0]]
    (tmp_path / "b.json").write_text(json.dumps(records))
    (instance,) = SrlReader(INDEXERS).read(tmp_path / "b.json")
    assert instance["tags"].labels == TAGS


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
        (with_frame(index=2, roles=[{**OBJECTS[0], "end": 9}]), "ARG0 is not in a sentence of 5 words"),
        (with_frame(index=2, roles=[OBJECTS[0], OBJECTS[0]]), "ARG0 begins inside another argument"),
        (with_frame(index=2, roles=[{"role": "A", "start": "0", "end": 1}]), "expected a role such as"),
        (
            with_frame(index=2, roles=[{"role": "A", "start": 0, "end": 1, "text": "The cook"}]),
            "expected \"end\" after the last word of 'The cook', got 1",
        ),
    ],
)
def test_another_shape_is_an_error_with_file_and_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^data, line 3: {message}"):
        read(fields)
