"""Answers to one question, and to all questions of a file."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.squad import SquadPredictor, SquadReader
from tests.tasks.squad.test_dataset_reader import FIXTURE
from tests.tasks.squad.test_model import model_of

PASSAGE = "Ansel was founded in 1887."


@pytest.fixture
def predictor() -> SquadPredictor:
    reader = SquadReader({"tokens": SingleIdTokenIndexer()})
    instances: list[Instance] = list(reader.read(FIXTURE))
    return SquadPredictor(model_of(instances), reader)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"question": "Who?"}, '"passage"'),
        ({"passage": PASSAGE}, '"question"'),
        ({"passage": " ", "question": "Who?"}, '"passage" must be text'),
        ({"passage": PASSAGE, "question": ["Who?"]}, '"question" must be text'),
    ],
)
def test_other_input_is_refused(predictor: SquadPredictor, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"elmo_squad: .*{message}"):
        predictor.predict_json(inputs)


def test_instances_of_a_file_are_answered_by_id(predictor: SquadPredictor, tmp_path: Path) -> None:
    instances = list(predictor._dataset_reader.read(FIXTURE))
    outputs = predictor.predict_batch_instance(instances)
    assert [output["id"] for output in outputs] == ["a1", "a2", "a3", "b1"]
    assert predictor.predict_instance(instances[0])["answer"] == outputs[0]["answer"]
