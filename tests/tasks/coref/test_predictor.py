"""Clusters of plain text and of words."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.importers.coref import read_scored_coref
from elmo_plugin.tasks.coref import CorefPredictor, CorefReader, score_coref
from elmo_plugin.tasks.coref.links import AntecedentLogits, mark_mentions
from elmo_plugin.tasks.spans import Span
from tests.tasks.coref.test_model import FIXTURE, model_of

TEXT = "Anna  waved.\nShe laughed."


@pytest.fixture
def reader() -> CorefReader:
    return CorefReader({"tokens": SingleIdTokenIndexer()})


@pytest.fixture
def instances(reader: CorefReader) -> list[Instance]:
    return list(reader.read(FIXTURE))


def predictor(reader: CorefReader, instances: list[Instance], **options: Any) -> CorefPredictor:
    """Of a model that links the first word and the fourth one of each document."""
    model = model_of(Vocabulary.from_instances(instances))
    logits = torch.tensor([[0.0, float("-inf")], [0.0, 2.0]])

    def link(document: Any, **_: Any) -> list[AntecedentLogits]:
        return [AntecedentLogits([Span(0, 1), Span(3, 4)], logits) for _ in document]

    model.compute_logits = lambda document, **_: link(document)  # type: ignore[method-assign]
    return CorefPredictor(model, reader, **options)


def test_mentions_in_plain_text_have_character_offsets(
    reader: CorefReader, instances: list[Instance]
) -> None:
    output = predictor(reader, instances).predict(TEXT)
    anna = {"text": "Anna", "start_word": 0, "end_word": 1, "characters": [0, 4]}
    she = {"text": "She", "start_word": 3, "end_word": 4, "characters": [13, 16]}
    assert output["sentences"] == [["Anna", "waved", "."], ["She", "laughed", "."]]
    assert output["clusters"] == [[anna, she]]
    (link,) = output["antecedents"]
    assert (link["mention"], link["antecedent"]) == (she, anna)
    assert link["probability"] == pytest.approx(torch.sigmoid(torch.tensor(2.0)).item())
    assert output["marked"] == "[Anna]0 waved . [She]0 laughed ."
    for mention in output["clusters"][0]:
        assert TEXT[slice(*mention["characters"])] == mention["text"]


def test_tokenized_sentences_are_not_split_again(
    reader: CorefReader, instances: list[Instance]
) -> None:
    sentences = [["Anna", "can't"], ["see", "her"]]
    speakers = [["a", "a"], ["b", "b"]]
    output = predictor(reader, instances).predict_json(
        {"sentences": sentences, "speakers": speakers}
    )
    assert (output["sentences"], output["speakers"]) == (sentences, speakers)
    assert [mention["characters"] for mention in output["clusters"][0]] == [[0, 4], [15, 18]]


def test_speakers_and_genre_reach_the_model(reader: CorefReader, instances: list[Instance]) -> None:
    predict = predictor(reader, instances)
    seen: list[Any] = []
    compute = predict._model.compute_logits
    predict._model.compute_logits = lambda genre, document, **_: (  # type: ignore[assignment]
        seen.append((genre.tolist(), document[0].speakers)) or compute(document=document)
    )
    predict.predict_json({"sentences": [["I", "said"], ["so", "."]], "genre": "bc"})
    predict.predict_json(
        {"sentences": [["I", "said", "so", "."]], "speakers": [["x"] * 4], "genre": "new"}
    )
    bc = predict._model.vocab.get_token_index("bc", "genre_labels")
    assert seen == [([bc], [["-", "-"], ["-", "-"]]), ([2], [["x"] * 4])]


def test_predictions_for_a_file_are_a_response_that_the_scorer_reads(
    reader: CorefReader, instances: list[Instance], tmp_path: Path
) -> None:
    predict = predictor(reader, instances)
    response = tmp_path / "response.jsonl"
    response.write_text("".join(map(predict.dump_line, predict.predict_batch_instance(instances))))
    figures = score_coref(read_scored_coref(str(FIXTURE)), read_scored_coref(str(response)))
    assert figures["muc"]["precision_denominator"] == len(instances)
    assert list(CorefReader({}).read_examples([])) == []


def test_nested_mentions_are_bracketed_from_the_outside_in() -> None:
    words = ["her", "brother", "waved"]
    clusters = [[Span(0, 1)], [Span(0, 2), Span(2, 3)]]
    assert mark_mentions(words, clusters) == "[[her]0 brother]1 [waved]1"
    assert mark_mentions(words, []) == "her brother waved"
