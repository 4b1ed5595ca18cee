import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm, BiLmError, convolutions, get_precision
from tests.bilm.rounding import check_under_autocast, relative_error
from tests.bilm.token_encoders import by_the_book, ids_of, skip_where_missing, small_encoder
from tests.close import assert_near
from tests.conftest import at_most


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("n_highway", [0, 1, 2])
def test_each_words_vector_equals_the_formulas(
    activation: str, n_highway: int, frozen: bool
) -> None:
    encoder = small_encoder(activation, n_highway).requires_grad_(not frozen)
    words = ["a", "Wörter", "", "x" * 60, "<S>"]
    ids = torch.cat([ids_of(words), torch.zeros(1, 50, dtype=torch.int16)])
    for row, vector in zip(ids, encoder(ids), strict=True):
        assert_near(vector, by_the_book(encoder, row, activation))


def test_gradients_equal_the_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolutions, "WORDS_AT_A_TIME_ON_CPU", 4)
    encoder = small_encoder().double()
    ids = ids_of(["to", "be", "or", "not", "to", "", "x" * 42, "x" * 45, "y" * 60, "question"])
    weights = torch.randn(len(ids), 6, dtype=torch.double)
    parameters = dict(encoder.named_parameters())
    gradients = torch.autograd.grad((encoder(ids) * weights).sum(), list(parameters.values()))
    vectors = torch.stack([by_the_book(encoder, row, "relu", parameters) for row in ids])
    expected = torch.autograd.grad((vectors * weights).sum(), list(parameters.values()))
    for gradient, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, wanted)


@at_most(15)
@given(st.lists(st.text("ab", max_size=60), min_size=1, max_size=5), st.integers(1, 5))
def test_vectors_in_training_equal_those_without_gradients_for_any_word_length(
    words: list[str], size: int
) -> None:
    """Also words so long that not every filter fits after their first characters."""
    ids = ids_of(words)
    expected = small_encoder().double().requires_grad_(False)(ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolutions, "WORDS_AT_A_TIME_ON_CPU", size)
        vectors = small_encoder().double()(ids)
    assert vectors.requires_grad
    torch.testing.assert_close(vectors, expected)


def test_vectors_and_gradients_under_autocast_are_close_to_float32() -> None:
    ids = ids_of([f"{'word' * (i % 4)}{i}" for i in range(100)] + ["x" * 60])
    encoder = small_encoder()
    parameters = list(encoder.parameters())

    def compute() -> tuple[torch.Tensor, ...]:
        vectors = encoder(ids)
        return vectors, *torch.autograd.grad(vectors.square().sum(), parameters)

    check_under_autocast(compute, torch.bfloat16, 0.1)  # another window may become the greatest


def test_out_of_range_character_ids_are_an_error() -> None:
    for frozen in (True, False):
        for wrong in (-1, 262, 1000, 2**40):
            ids = ids_of(["to", "be"]).long()
            ids[1, 3] = wrong
            with pytest.raises(BiLmError, match=rf"expected 0 to 261.*{wrong}"):
                small_encoder().requires_grad_(not frozen)(ids)


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("float32", 1e-6), ("bfloat16", 0.01), ("int8", 0.02)]
)
def test_reduced_precisions_are_close_to_float32(precision: str, tolerance: float) -> None:
    skip_where_missing(precision)
    encoder = BiLm.from_pretrained("tiny").token_encoder.requires_grad_(False)
    ids = ids_of(
        [
            "It",
            "was",
            "a",
            "bright",
            "cold",
            "day",
            "in",
            "April",
            ",",
            "the",
            "clocks",
            "struck",
            "13",
        ]
    )
    exact = copy.deepcopy(encoder).double()(ids)
    vectors = encoder(ids, get_precision(precision))
    assert vectors.dtype == torch.float32
    assert relative_error(vectors, exact) < tolerance


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_gradients_are_computed_in_the_parameters_own_type(precision: str) -> None:
    skip_where_missing(precision)
    encoder, ids = small_encoder(), ids_of(["to", "be"])
    expected = encoder(ids)
    vectors = encoder(ids, get_precision(precision))
    assert vectors.requires_grad
    assert torch.equal(vectors, expected)
    with torch.no_grad():
        assert not torch.equal(encoder(ids, get_precision(precision)), expected)
