"""The predictors: frames of plain and pre-tokenized sentences, and where their predicates come
from.
"""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.models import Archive, load_archive
from allennlp.predictors import Predictor

from elmo_plugin.tasks.srl import SrlPredictor
from tests.tasks import test_contract
from tests.tasks.contract import FIXTURES, PLACEMENTS, TaskContract
from tests.trained_tagger import train

JUDGE = {"words": ["The", "judge", "ordered", "a", "new", "trial", "."], "predicates": [2]}


class SrlPredicates(TaskContract):
    task = (
        "srl_predicates(data='', words=words.learned(dim=5, min_count=1), dropout=0, "
        "hidden_sizes=[6])"
    )
    data = FIXTURES / "srl" / "sentences.gold_conll"


@pytest.fixture(scope="module")
def labeller(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    config = test_contract.TestSrl.config(PLACEMENTS[1])
    return load_archive(train_longer(config, tmp_path_factory.mktemp("labeller")))


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = SrlPredicates.config(PLACEMENTS[1])
    return train_longer(config, tmp_path_factory.mktemp("tagger"))


def train_longer(config: dict[str, Any], folder: Path) -> Path:
    """Trains until the model knows its data by heart."""
    config["trainer"] |= {"num_epochs": 12, "optimizer": {"type": "adam", "lr": 0.03}}
    train(config, folder / "run")
    return folder / "run" / "model.tar.gz"


def predictor(labeller: Archive, **arguments: Any) -> SrlPredictor:
    return Predictor.from_archive(labeller, "elmo_srl", extra_args=arguments)


def test_a_frame_contains_predicate_tags_roles_and_a_readable_line(labeller: Archive) -> None:
    output = predictor(labeller).predict_json(JUDGE)
    assert output["words"] == JUDGE["words"]
    (frame,) = output["frames"]
    assert frame["predicate"] == frame["lemma"] == "ordered" and frame["index"] == 2
    assert frame["tags"] == ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1", "I-ARG1", "O"]
    assert frame["roles"][0] == {
        "role": "ARG0",
        "start_word": 0,
        "end_word": 2,
        "text": "The judge",
    }
    assert frame["description"] == "[ARG0: The judge] [V: ordered] [ARG1: a new trial] ."


def test_each_predicate_gets_a_frame_and_a_sentence_may_have_none(
    labeller: Archive,
) -> None:
    sentences = [JUDGE, {"sentence": "Dogs that bark scare cats.", "predicates": [2, 3]}]
    sentences.append({"words": ["Yes"], "predicates": []})
    outputs = predictor(labeller).predict_batch_json(sentences)
    assert [[frame["index"] for frame in output["frames"]] for output in outputs] == [
        [2],
        [2, 3],
        [],
    ]
    assert outputs == [predictor(labeller).predict_json(sentence) for sentence in sentences]


def test_many_frames_are_predicted_in_parts(
    labeller: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [JUDGE, {"sentence": "Dogs that bark scare cats.", "predicates": [2, 3]}]
    expected = predictor(labeller).predict_batch_json(sentences)
    monkeypatch.setattr("elmo_plugin.tasks.srl.model.MAX_BATCH_WORDS", 7)
    srl = predictor(labeller)
    sizes: list[int] = []
    hook = srl._model.register_forward_pre_hook(
        lambda _, inputs, options: sizes.append(len(options["lemma"])), with_kwargs=True
    )
    assert srl.predict_batch_json(sentences) == expected
    hook.remove()
    assert sizes == [1, 1, 1]


def test_a_tagger_finds_the_predicates_of_a_plain_sentence(labeller: Archive, tagger: Path) -> None:
    srl = predictor(labeller, predicates=str(tagger))
    plain = {"sentence": "The judge ordered a new trial."}
    assert srl.predict_json(plain) == srl.predict_json(JUDGE) == srl.predict(plain["sentence"])
    both = srl.predict_batch_json([plain, {"words": ["Dogs", "bark"], "predicates": [1]}])
    assert [[frame["index"] for frame in output["frames"]] for output in both] == [[2], [1]]


class TaggerOfSomethingElse(Predictor):
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        return [{"words": each["words"], "entities": []} for each in inputs]


def test_a_tagger_of_something_else_is_an_error(labeller: Archive) -> None:
    tagger = TaggerOfSomethingElse(labeller.model, labeller.dataset_reader)
    srl = predictor(labeller, predicates=tagger)
    with pytest.raises(ConfigurationError, match=r"a tagger of predicates.*got .* words, entities"):
        srl.predict_json({"words": JUDGE["words"]})


def test_the_tagger_gives_probabilities(tagger: Path) -> None:
    output = Predictor.from_path(str(tagger)).predict_json({"words": JUDGE["words"]})
    assert output["predicates"] == [2]
    assert [probability > 0.5 for probability in output["probabilities"]] == [
        i == 2 for i in range(7)
    ]
