"""Operations are counted as by hand."""

from types import ModuleType

import pytest

from elmo_plugin.bilm import BiLmOptions
from tests.benchmarks.programs import benchmark_module
from tests.small_bilm import small_options

OPTIONS = BiLmOptions.from_dict(small_options())  # 2 layers of 10 cells, projections of 6, 18 filters


@pytest.fixture
def arithmetic(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return benchmark_module("arithmetic", monkeypatch)


def test_an_lstm_step_is_its_three_products_in_all_layers_and_directions(arithmetic: ModuleType) -> None:
    from_input, from_hidden, projection = 6 * 40, 6 * 40, 10 * 6
    assert arithmetic.lstm_operations(OPTIONS.lstm) == 4 * 2 * (from_input + from_hidden + projection)
    assert arithmetic.weights_per_step(OPTIONS.lstm) == 4 * (6 * 40 + 10 * 6)


def test_the_token_layer_is_counted_for_the_characters_of_the_word(arithmetic: ModuleType) -> None:
    convolutions = 5 * 2 * (1 * 5 * 4 + 2 * 5 * 6 + 4 * 5 * 8)  # "cat" has five characters with its ends
    highway, projection = 2 * 2 * 18 * 18, 2 * 18 * 6
    assert arithmetic.token_operations(OPTIONS, "cat") == convolutions + highway + projection


def test_a_training_step_is_three_times_its_forward_pass_with_the_softmax(arithmetic: ModuleType) -> None:
    types = sum(arithmetic.token_operations(OPTIONS, word) for word in ("cat", "bird"))
    softmax = 14 * 2 * 6 * (1 + 20)  # 14 targets with 20 negatives each
    forward = types + 7 * arithmetic.lstm_operations(OPTIONS.lstm) + softmax
    counted = arithmetic.training_operations(OPTIONS, characters=[5, 6], steps=7, targets=14, negatives=20)
    assert counted == 3 * forward


def test_a_text_needs_each_distinct_word_and_the_boundaries_once_and_each_step(
    arithmetic: ModuleType,
) -> None:
    words = ("a", "bird", "<S>", "</S>")
    types = sum(arithmetic.token_operations(OPTIONS, word) for word in words)
    steps = 3 + 4  # each sentence's words and the boundary before them
    expected = types + steps * arithmetic.lstm_operations(OPTIONS.lstm)
    assert arithmetic.text_operations(OPTIONS, [["a", "bird"], ["a", "bird", "bird"], []]) == expected
