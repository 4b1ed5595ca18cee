"""Documents in JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.coref import read_scored_coref
from elmo_plugin.importers.coref_json import document_in
from elmo_plugin.importers.json_records import Record
from elmo_plugin.tasks.coref import CorefReader, score_coref
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.spans import Span
from tests.importers.imported import import_file

SENTENCES = [["My", "aunt", "rang"], ["She", "sang"]]
CLUSTERS = [[Span(0, 2), Span(3, 4)], [Span(0, 1)]]
INCLUSIVE = [[[start, end - 1] for start, end, _ in cluster] for cluster in CLUSTERS]
SPEAKERS = [["Bo", "Bo", "Bo"], ["-", "-"]]
SHAPES = {
    "e2e-coref": {"doc_key": "bc/a_0", "sentences": SENTENCES, "speakers": [["Bo"] * 3, ["", ""]]},
    "elmo_coref": {
        "doc_key": "bc/a_0",
        "sentences": SENTENCES,
        "speakers": SPEAKERS,
        "clusters": [
            [{"start": start, "end": end, "text": ""} for start, end, _ in c] for c in CLUSTERS
        ],
    },
}


def read(fields: dict[str, Any]) -> CorefDocument:
    return document_in(Record("data", "line 3", fields))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_document_is_read_with_the_same_clusters_from_each_json_form(shape: str) -> None:
    document = read({"clusters": INCLUSIVE, **SHAPES[shape]})
    assert document == CorefDocument("bc/a_0", "", SENTENCES, SPEAKERS, "bc", CLUSTERS, "data", 3)


def test_documents_are_written_as_conll_2012_and_scored(tmp_path: Path) -> None:
    records = [{"clusters": INCLUSIVE, **SHAPES[shape], "doc_key": shape} for shape in SHAPES]
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)))
    written, said = import_file("coref", path)
    documents = [instance["document"].metadata for instance in CorefReader({}).read(written)]
    assert [document.name for document in documents] == list(SHAPES)
    for document in documents:
        assert (document.sentences, document.speakers) == (SENTENCES, SPEAKERS)
        assert sorted(document.clusters) == sorted(CLUSTERS)
    assert "train: 2 documents" in said
    assert (
        score_coref(read_scored_coref(str(path)), read_scored_coref(str(path)))["average_f1"] == 100
    )


def test_mentions_of_preco_are_counted_in_their_sentence() -> None:
    mentions = [[[0, 0, 2], [1, 0, 1]], [[0, 0, 1]]]
    document = read({"id": "p1", "sentences": SENTENCES, "mention_clusters": mentions})
    assert (document.name, document.clusters) == ("p1", CLUSTERS)
    for wrong in ([2, 0, 1], [1, 0, 3], [0, 1, 1], [0, 1]):
        with pytest.raises(ConfigurationError, match=r"^data, line 3: .*mention"):
            read({"sentences": SENTENCES, "mention_clusters": [[wrong]]})


def test_a_document_that_does_not_fit_into_columns_is_left_out(tmp_path: Path) -> None:
    crossing = {"doc_key": "c", "sentences": SENTENCES, "clusters": [[[0, 1], [1, 2]]]}
    blank = {"doc_key": "b", "sentences": [["a", " "]], "clusters": []}
    good = {"doc_key": "g", "sentences": SENTENCES, "clusters": INCLUSIVE}
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, [crossing, blank, good])))
    written, lines = import_file("coref", path)
    assert [each["document"].metadata.name for each in CorefReader({}).read(written)] == ["g"]
    said = "\n".join(lines)
    assert "left out 1 documents in which mentions of one cluster cross: (c);" in said
    assert "left out 1 documents with a blank word: (b);" in said


def test_imported_documents_of_the_same_name_can_be_scored(tmp_path: Path) -> None:
    parts = [{}, {"part": "a"}, {"part": "b"}, {"part": "1"}, {"part": "1"}]
    document = {"doc_key": "n", "sentences": SENTENCES, "clusters": INCLUSIVE}
    folder = tmp_path / "files"
    folder.mkdir()
    for file in ("a.jsonl", "b.jsonl"):
        (folder / file).write_text("\n".join(json.dumps(document | part) for part in parts))
    written, said = import_file("coref", folder)
    documents = list(read_scored_coref(str(written)))
    assert len({document.title for document in documents}) == 10
    assert {document.name for document in documents} == {"n"}, "so `--split` keeps them together"
    assert score_coref(documents, documents)["average_f1"] == 100
    assert any("named like an earlier one" in line for line in said)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": "She sang"}, '"sentences": expected a list of lists of words'),
        ({"sentences": [["She"], []]}, '"sentences": expected a list of lists of words'),
        ({"speakers": [["Bo"]]}, '"speakers": expected one name for each word'),
        ({"clusters": None}, 'expected "clusters", lists of mentions, got None'),
        ({"clusters": [[[0, 5]]]}, r"the mention \[0, 5\] is not in a document of 5 words"),
        ({"clusters": [[[1, 0]]]}, r"the mention \[1, 0\] is not in"),
        ({"clusters": [[{"start": 1, "end": 1}]]}, r"the mention .* is not in"),
        ({"clusters": [[["She"]]]}, r"expected a mention as \[first, last\]"),
        ({"clusters": [[[0, 1]] * 10]}, "expected the first and the last word .*, got 10 mentions"),
    ],
)
def test_an_unknown_json_form_is_an_error_naming_file_and_line(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^data, line 3: {message}"):
        read({"sentences": SENTENCES, "clusters": INCLUSIVE, **changes})


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({}, "(n);"),
        ({"part": None}, "(n);"),
        ({"part": 0}, "(n); part 0"),
        ({"line": 7}, "(n); part 7"),
    ],
)
def test_the_title_of_a_document_has_its_part_if_there_is_one(
    fields: dict[str, Any], title: str
) -> None:
    document = read({"doc_key": "n", "sentences": SENTENCES, "clusters": INCLUSIVE, **fields})
    assert document.title == title


def test_the_number_zero_is_a_name() -> None:
    document = read({"id": 0, "sentences": SENTENCES, "clusters": INCLUSIVE})
    assert document.name == "0"


def test_pieces_of_words_are_no_words(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text('{"sentences": [["[CLS]", "wave", "##d"]], "clusters": []}')
    with pytest.raises(ConfigurationError, match="line 1: expected whole words"):
        import_file("coref", file)


def test_pairs_that_end_in_the_next_sentence_are_an_error() -> None:
    clusters = [[[0, 2], [2, 3]], [[3, 4]]]  # the end is after the last word
    with pytest.raises(ConfigurationError, match="the first and the last word of each mention"):
        read({"sentences": SENTENCES, "clusters": clusters})
