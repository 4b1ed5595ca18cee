"""Sentences with senses, from JSON lines and from the XML of the unified framework."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.analysis.sense_corpus import SenseSentence, Target, read_first_senses, read_senses

XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="x">
<text id="d000">
<sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="Broadway_play" pos="NOUN">Broadway play</instance>
<instance id="d000.s000.t001" lemma="end" pos="VERB">ended</instance>
</sentence>
</text>
</corpus>
"""
SENTENCE = SenseSentence(
    ["The", "Broadway", "play", "ended"],
    [
        Target(1, 2, "broadway_play", "n", ["play%1:10:00::"]),
        Target(3, 1, "end", "v", ["end%2:30:00::", "end%2:42:00::"]),
    ],
)
KEYS = "d000.s000.t000 play%1:10:00::\nd000.s000.t001 end%2:30:00:: end%2:42:00::\n"


def write_xml(folder: Path, keys: str = KEYS) -> Path:
    (folder / "x.gold.key.txt").write_text(keys)
    (folder / "x.data.xml").write_text(XML)
    return folder / "x.data.xml"


def target_line(**changed: Any) -> str:
    target = {"index": 0, "lemma": "a", "pos": "n", "senses": ["a%1"]} | changed
    return json.dumps({"tokens": ["a"], "targets": [target]})


@pytest.mark.parametrize("between_words", ["_", " "])
def test_xml_and_json_lines_give_the_same_sentences(tmp_path: Path, between_words: str) -> None:
    targets = [
        {
            "index": each.first,
            "length": each.length,
            "lemma": each.lemma.upper().replace("_", between_words),
            "pos": each.part_of_speech,
            "senses": each.senses,
        }
        for each in SENTENCE.targets
    ]
    line = json.dumps({"doc": "x", "tokens": SENTENCE.words, "targets": targets})
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(f"{line}\n\n".encode()))
    assert list(read_senses(tmp_path / "x.jsonl.gz")) == [SENTENCE]
    assert list(read_senses(write_xml(tmp_path))) == [SENTENCE]


@pytest.mark.parametrize(
    "line",
    [
        '{"tokens": ["a"]}',
        '{"tokens": [1], "targets": []}',
        '{"tokens": ["a"], "targets": {}}',
        '{"tokens": ["a"], "targets": ""}',
        *(target_line(index=index) for index in (1, -1, 0.5)),
        *(target_line(length=0), target_line(pos="x"), target_line(lemma="")),
        *(target_line(senses=senses) for senses in ([], "a")),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.jsonl").write_text(line)
    message = 'line 1: expected an object with "tokens" and "targets", each target with .*, got {'
    with pytest.raises(ConfigurationError, match=message):
        list(read_senses(tmp_path / "x.jsonl"))


def test_xml_without_keys_or_not_well_formed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"the instance 'd000.s000.t001' is not in the file of keys"
    ):
        list(read_senses(write_xml(tmp_path, KEYS.splitlines()[0])))
    with pytest.raises(
        ConfigurationError, match=r"line 4: an earlier line has the senses of 'd000\.s000"
    ):
        list(read_senses(write_xml(tmp_path, f"{KEYS}\n{KEYS.splitlines()[1]}")))
    with pytest.raises(
        ConfigurationError, match="line 1: expected the id of an instance and its senses"
    ):
        list(read_senses(write_xml(tmp_path, "d000.s000.t000")))
    file = write_xml(tmp_path)
    file.write_text(XML.replace("</sentence>", ""))
    with pytest.raises(ConfigurationError, match=r"x.data.xml: not well-formed XML"):
        list(read_senses(file))


@pytest.mark.parametrize(
    ("old", "new"),
    [(">ended<", "> <"), ('lemma="end" pos="VERB"', 'lemma="end" pos="X"'), ('"end"', '""')],
)
def test_an_instance_without_text_lemma_or_part_of_speech_is_refused(
    tmp_path: Path, old: str, new: str
) -> None:
    file = write_xml(tmp_path)
    file.write_text(XML.replace(old, new))
    with pytest.raises(
        ConfigurationError, match=r"x.data.xml: the instance 'd000.s000.t001' needs words"
    ):
        list(read_senses(file))


def test_the_first_sense_of_a_lemma_is_its_sense_of_rank_one(tmp_path: Path) -> None:
    (tmp_path / "senses.tsv").write_text(
        "Play\tn\t1\tplay%1:10:00::\t3\nplay\tn\t2\tplay%1:04:00::\t1\n"
    )
    assert read_first_senses(tmp_path / "senses.tsv") == {("play", "n"): "play%1:10:00::"}
    (tmp_path / "senses.tsv").write_text("play n 1 x\n")
    with pytest.raises(
        ConfigurationError, match="line 1: expected lemma, part of speech, rank and key"
    ):
        read_first_senses(tmp_path / "senses.tsv")
