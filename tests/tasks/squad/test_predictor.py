"""Answers to one question, and to all questions of a file."""

from pathlib import Path

import pytest
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.squad import SquadPredictor, SquadReader
from tests.tasks.squad.test_dataset_reader import FIXTURE
from tests.tasks.squad.test_model import model_of


@pytest.fixture
def predictor() -> SquadPredictor:
    reader = SquadReader({"tokens": SingleIdTokenIndexer()})
    instances: list[Instance] = list(reader.read(FIXTURE))
    return SquadPredictor(model_of(instances), reader)


def test_instances_of_a_file_are_answered_by_id(predictor: SquadPredictor, tmp_path: Path) -> None:
    instances = list(predictor._dataset_reader.read(FIXTURE))
    outputs = predictor.predict_batch_instance(instances)
    assert [output["id"] for output in outputs] == ["a1", "a2", "a3", "b1"]
    assert predictor.predict_instance(instances[0])["answer"] == outputs[0]["answer"]
