"""The question answering model: what it encodes, trains on and measures."""

import copy
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model

from elmo_plugin.tasks.squad import SquadReader
from elmo_plugin.tasks.squad.spans import BoundaryLogits
from tests.tasks.small_models import tensors_of
from tests.tasks.squad.test_dataset_reader import FIXTURE

GRU = {"type": "gru", "hidden_size": 3, "bidirectional": True}
LAYER = {"num_layers": 1, "hidden_dims": 6, "activations": "relu"}
CONFIG = {
    "type": "squad_bidaf_self_attention",
    "contextual_encoder": {
        "text_field_embedder": {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}},
        "encoder": GRU,
    },
    "attention_projection": LAYER,
    "self_attention_encoder": GRU,
    "self_attention_projection": LAYER,
    "start_encoder": GRU,
    "end_encoder": GRU,
}


@pytest.fixture
def instances() -> list[Instance]:
    return list(SquadReader({"tokens": SingleIdTokenIndexer()}).read(FIXTURE))


def model_of(instances: list[Instance], **options: Any) -> Any:
    torch.manual_seed(0)
    params = Params(copy.deepcopy({**CONFIG, **options}))
    return Model.from_params(params, vocab=Vocabulary.from_instances(instances))


def test_a_paragraph_is_encoded_once_for_all_of_its_questions(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    rows: list[int] = []
    model.contextual_encoder.encoder.register_forward_pre_hook(lambda _, inputs: rows.append(len(inputs[0])))
    model(**tensors_of(instances, model.vocab))
    assert rows in ([2, 4], [2 + 4])  # two paragraphs, of four questions: one run for each text, or one


def test_no_answer_can_have_no_word(instances: list[Instance]) -> None:
    with pytest.raises(ConfigurationError, match="max_answer_words: expected at least 1, got 0"):
        model_of(instances, max_answer_words=0)


def test_answers_are_the_text_at_their_characters(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    for instance in instances:
        output = model.forward_on_instance(instance)
        text = instance["metadata"].metadata["paragraph"].text
        answers = [{**output, "text": output["answer"]}, *output["others"]]
        probabilities = [answer["probability"] for answer in answers]
        assert len(probabilities) == 5 and probabilities == sorted(probabilities, reverse=True)
        assert all(text[slice(*answer["characters"])] == answer["text"] for answer in answers)


def test_training_is_on_all_answers_or_on_the_first(instances: list[Instance]) -> None:
    losses = {}
    for train_on in ("all", "first"):
        model = model_of(instances, train_on=train_on).eval()
        losses[train_on] = model(**tensors_of(instances, model.vocab))["loss"].item()
    assert losses["all"] < losses["first"]
    with pytest.raises(ConfigurationError, match="train_on: expected one of all, first, got 'one'"):
        model_of(instances, train_on="one")


def test_metrics_are_those_of_the_best_answers(instances: list[Instance]) -> None:
    model = model_of(instances).eval()
    tensors = tensors_of(instances, model.vocab)
    length = tensors["paragraph"]["tokens"]["tokens"].size(1)
    first, last = tensors["answers"][:, 0].unbind(dim=1)
    right = [20.0 * torch.nn.functional.one_hot(each, length) for each in (first, last)]
    mask = tensors["paragraph"]["tokens"]["tokens"] > 0
    output = model.decode(BoundaryLogits(*right, mask), tensors["metadata"], tensors["answers"])
    assert model.make_output_human_readable(output)["answer"][1] == "Mira Koll"
    assert model.get_metrics(reset=True) == {"em": 1.0, "f1": 1.0}
    model.train()(**tensors)
    assert model.get_metrics() == {}


def test_without_self_attention_there_is_no_residual_block(instances: list[Instance]) -> None:
    model = model_of(instances, self_attention_encoder=None, self_attention_projection=None)
    assert model.residual_block is None
    model(**tensors_of(instances, model.vocab))["loss"].backward()


@pytest.mark.parametrize("missing", ["self_attention_encoder", "self_attention_projection"])
def test_half_of_a_self_attention_is_refused(instances: list[Instance], missing: str) -> None:
    both = "give both self_attention_encoder and self_attention_projection, or neither"
    with pytest.raises(ConfigurationError, match=both):
        model_of(instances, **{missing: None})
