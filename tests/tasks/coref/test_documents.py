"""Documents in JSON lines: the shapes in which people have them."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.coref import CorefReader, score_coref
from elmo_plugin.tasks.coref.documents import CorefDocument, document_in
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span

INDEXERS = {"tokens": SingleIdTokenIndexer()}
SENTENCES = [["My", "aunt", "rang"], ["She", "sang"]]
WORDS = ["My", "aunt", "rang", "She", "sang"]
CLUSTERS = [[Span(0, 2), Span(3, 4)], [Span(0, 1)]]
INCLUSIVE = [[[start, end - 1] for start, end, _ in cluster] for cluster in CLUSTERS]
SPEAKERS = [["Bo", "Bo", "Bo"], ["-", "-"]]
SHAPES = {
    "e2e-coref": {"doc_key": "bc/a_0", "sentences": SENTENCES, "speakers": [["Bo"] * 3, ["", ""]]},
    "elmo_coref": {
        "doc_key": "bc/a_0",
        "sentences": SENTENCES,
        "speakers": SPEAKERS,
        "clusters": [[{"start": start, "end": end, "text": ""} for start, end, _ in c] for c in CLUSTERS],
    },
}


def read(fields: dict[str, Any]) -> CorefDocument:
    return document_in((Line(json.dumps(fields), "data", 3), fields))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_document_has_the_same_clusters_in_each_shape(shape: str) -> None:
    document = read({"clusters": INCLUSIVE, **SHAPES[shape]})
    assert document == CorefDocument("bc/a_0", "", SENTENCES, SPEAKERS, "bc", CLUSTERS, "data", 3)


def test_readers_and_scorer_take_json_lines(tmp_path: Path) -> None:
    records = [{"clusters": INCLUSIVE, **SHAPES[shape], "doc_key": shape} for shape in SHAPES]
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)))
    names = [instance["document"].metadata.name for instance in CorefReader(INDEXERS).read(tmp_path)]
    assert names == list(SHAPES)
    assert score_coref(str(path), str(path))["average_f1"] == 100


def test_data_without_clusters_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"sentences": SENTENCES, "clusters": []}))
    assert len(list(CorefReader(INDEXERS).read(path))) == 1
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"{path}: no clusters to learn or to score, in 1 documents"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": "She sang"}, '"sentences" must be a list of lists of words'),
        ({"sentences": [["She"], []]}, '"sentences" must be a list of lists of words'),
        ({"speakers": [["Bo"]]}, '"speakers" must have one name for each word'),
        ({"clusters": None}, 'expected "clusters", lists of mentions, got None'),
        ({"clusters": [[[0, 5]]]}, r"the mention \[0, 5\] is not in a document of 5 words"),
        ({"clusters": [[[1, 0]]]}, r"the mention \[1, 0\] is not in"),
        ({"clusters": [[{"start": 1, "end": 1}]]}, r"the mention .* is not in"),
        ({"clusters": [[["She"]]]}, r"expected a mention as \[first, last\]"),
        (
            {"clusters": [[[0, 1]] * 10]},
            "expected the first and the last word of each mention, got 10 mentions",
        ),
    ],
)
def test_another_shape_is_an_error_with_file_and_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^data, line 3: {message}"):
        read({"sentences": SENTENCES, "clusters": INCLUSIVE, **changes})
