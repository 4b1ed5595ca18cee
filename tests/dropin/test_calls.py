"""ELMo's state within a call of a model that embeds two texts, against AllenNLP's own ELMo."""

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder, TokenEmbedder
from torch import Tensor

from elmo_plugin import batch_to_ids
from tests.allennlp_elmo import dropin
from tests.migration.allennlp_api.conftest import write_bilm

Pair = tuple[Tensor, Tensor]
PAIRS: list[tuple[list[list[str]], list[list[str]]]] = [
    ([["a", "dog", "ran"]], [["dogs", "sat"]]),
    ([["the", "mat"], ["why", "not", "?"]], [["a", "cat", "sat", "."], ["yes"]]),
    ([["."]], [["the", "dog"]]),
]


@Model.register("two_texts")
class TwoTexts(Model):
    def __init__(self, vocab: Vocabulary, text_field_embedder: TextFieldEmbedder) -> None:
        super().__init__(vocab)
        self.embedder = text_field_embedder

    def forward(self, premise: Tensor, hypothesis: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        vectors = {}
        for name, ids in (("premise", premise), ("hypothesis", hypothesis)):
            vectors[name] = self.embedder({"elmo": {"elmo_tokens": ids}})
        return vectors


def make_model(files: tuple[str, str], **options: Any) -> Any:
    elmo = {"type": "elmo_token_embedder", "options_file": files[0], "weight_file": files[1]}
    embedder = {"token_embedders": {"elmo": {**elmo, "dropout": 0.0, **options}}}
    params = Params({"type": "two_texts", "text_field_embedder": embedder})
    return Model.from_params(params, vocab=Vocabulary()).eval()


def call(model: Any, pair: Any) -> Pair:
    premise, hypothesis = (batch_to_ids(texts) for texts in pair)
    with torch.no_grad():
        output = model(premise=premise, hypothesis=hypothesis)
    return output["premise"], output["hypothesis"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return write_bilm(tmp_path / "bilm")


@pytest.fixture
def expected(files: tuple[str, str]) -> list[Pair]:
    """What AllenNLP's own ELMo gives, reset before each call."""
    model = make_model(files)
    found = []
    for pair in PAIRS:
        model.embedder.token_embedder_elmo._elmo._elmo_lstm._elmo_lstm.reset_states()
        found.append(call(model, pair))
    return found


@pytest.fixture
def model(files: tuple[str, str], expected: list[Pair]) -> Iterator[Any]:
    with dropin():
        yield make_model(files, stateful="call")


def assert_same(found: list[Pair], expected: list[Pair]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        for vectors, published in zip(ours, theirs, strict=True):
            torch.testing.assert_close(vectors, published, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_the_second_text_continues_from_the_first_and_each_call_starts_from_zero(
    model: Any, expected: list[Pair]
) -> None:
    assert_same([call(model, pair) for pair in PAIRS], expected)
    backwards = [call(model, pair) for pair in reversed(PAIRS)]
    assert_same(backwards[::-1], expected)


def test_without_the_state_the_second_text_gets_different_vectors(
    files: tuple[str, str], expected: list[Pair]
) -> None:
    with dropin():
        premise, hypothesis = call(make_model(files), PAIRS[0])
    torch.testing.assert_close(premise, expected[0][0], atol=1e-5, rtol=0)
    assert (hypothesis - expected[0][1]).abs().max() > 1e-2


def test_a_failed_call_leaves_no_state_behind(model: Any, expected: list[Pair]) -> None:
    with pytest.raises(AttributeError):
        model(premise=batch_to_ids(PAIRS[1][0]), hypothesis=None)
    assert_same([call(model, PAIRS[0])], expected[:1])


@pytest.mark.slow
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copied_model_gives_the_same_vectors(
    copied: Any, model: Any, expected: list[Pair]
) -> None:
    call(model, PAIRS[2])
    other = copied(model)
    assert_same([call(other, pair) for pair in PAIRS], expected)


@pytest.mark.slow
def test_calls_in_different_threads_do_not_share_state(model: Any, expected: list[Pair]) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda pair: call(model, pair), PAIRS * 10))
    assert_same(found, expected * 10)


def test_an_unknown_value_of_the_state_option_is_an_error(files: tuple[str, str]) -> None:
    with dropin():
        params = {"options_file": files[0], "weight_file": files[1], "stateful": "batch"}
        with pytest.raises(ConfigurationError, match='stateful: expected true, false or "call"'):
            TokenEmbedder.from_params(Params({"type": "elmo_token_embedder", **params}))
