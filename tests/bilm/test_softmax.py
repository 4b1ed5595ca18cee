"""The losses and their gradients against the formulas, written token by token in float64."""

import math
from collections.abc import Sequence
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm import softmax as softmax_module
from elmo_plugin.bilm.softmax import VocabularySoftmax, sample_log_uniform
from tests.bilm.rounding import relative_error
from tests.conftest import at_most

Sample = tuple[Sequence[int], float]  # the words, and the number of draws


def _softmax(num_words: int = 30, dim: int = 5) -> VocabularySoftmax:
    torch.manual_seed(2)
    softmax = VocabularySoftmax(num_words, dim).double()
    nn.init.normal_(softmax.bias)
    return softmax


def _hidden(tokens: int, dim: int = 5) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(tokens, dim, dtype=torch.double, requires_grad=True)


def _zipf(num_words: int) -> Tensor:
    rank = torch.arange(num_words).double()
    return torch.log((rank + 2) / (rank + 1)) / math.log(num_words + 1)


def _by_the_book(
    softmax: VocabularySoftmax,
    hidden: Tensor,
    targets: Tensor,
    sample: Sample | None = None,
    without_padding: bool = False,
) -> Tensor:
    """
    The losses, of plain differentiable operations. Without padding, word 0 is a candidate only
    where it is the target. With a sample, the candidates are its words without the target, and the
    target; their logits are less by the logarithm of the expected counts.
    """
    num_words = len(softmax.weight)
    losses = []
    for vector, target in zip(hidden, targets.tolist(), strict=True):
        logits = softmax.weight @ vector + softmax.bias
        candidates = list(range(num_words))
        if without_padding and target != 0:
            candidates.remove(0)
        if sample is not None:
            words, draws = sample
            logits = logits - torch.log(1 - torch.exp(-draws * _zipf(num_words)))
            candidates = [word for word in words if word != target] + [target]
        losses.append(torch.logsumexp(logits[candidates], dim=0) - logits[target])
    return torch.stack(losses) if losses else hidden.new_zeros(0)


def _sampled_with(
    softmax: VocabularySoftmax, sample: Sample, *arguments: Tensor | None
) -> tuple[Tensor, Tensor]:
    words, draws = sample
    drawn = torch.tensor(words), torch.tensor(draws, dtype=torch.double)
    hidden, targets, *weights = arguments
    with mock.patch("elmo_plugin.bilm.softmax.sample_log_uniform", return_value=drawn):
        return softmax.sampled(hidden, targets, len(words), *weights)


def _check(
    softmax: VocabularySoftmax,
    targets: Tensor,
    token_weights: Tensor | None,
    sample: Sample | None,
    without_padding: bool = False,
) -> None:
    """Loss, losses and all gradients of twice the loss."""
    hidden = _hidden(len(targets))
    leaves = [hidden, softmax.weight, softmax.bias]
    arguments = (hidden, targets, token_weights)
    if sample is None:
        loss, losses = softmax(*arguments, without_padding=without_padding)
    else:
        loss, losses = _sampled_with(softmax, sample, *arguments)
    expected_losses = _by_the_book(softmax, hidden, targets, sample, without_padding)
    parts = (
        token_weights
        if token_weights is not None
        else torch.ones(len(targets)).double() / max(len(targets), 1)
    )
    expected = (parts * expected_losses).sum()
    torch.testing.assert_close(losses, expected_losses.detach())
    torch.testing.assert_close(loss, expected.detach())
    assert loss.requires_grad and not losses.requires_grad
    gradients = torch.autograd.grad(2 * loss, leaves)
    expected_gradients = torch.autograd.grad(
        2 * expected + 0 * sum(leaf.sum() for leaf in leaves), leaves
    )
    torch.testing.assert_close(gradients, expected_gradients)


@at_most(40)
@given(
    targets=st.lists(st.integers(0, 11), max_size=7),
    words=st.none() | st.lists(st.integers(0, 11), min_size=1, max_size=11, unique=True),
    draws=st.floats(1, 100),
    with_weights=st.booleans(),
    logits_at_a_time=st.integers(1, 60),
)
def test_losses_and_gradients_equal_the_formulas(
    targets: list[int],
    words: list[int] | None,
    draws: float,
    with_weights: bool,
    logits_at_a_time: int,
) -> None:
    token_weights = torch.rand(len(targets)).double() if with_weights else None
    sample = None if words is None else (words, draws)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(softmax_module, "LOGITS_AT_A_TIME_ON_CPU", logits_at_a_time)
        _check(
            _softmax(num_words=12), torch.tensor(targets, dtype=torch.long), token_weights, sample
        )


@at_most(20)
@given(
    targets=st.lists(st.integers(0, 11), max_size=7),
    padding_bias=st.sampled_from([-1.0, 30.0]),
    with_weights=st.booleans(),
    logits_at_a_time=st.integers(1, 60),
)
def test_excluded_padding_takes_no_probability_from_words(
    targets: list[int], padding_bias: float, with_weights: bool, logits_at_a_time: int
) -> None:
    softmax = _softmax(num_words=12)
    softmax.bias.data[0] = padding_bias
    token_weights = torch.rand(len(targets)).double() if with_weights else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(softmax_module, "LOGITS_AT_A_TIME_ON_CPU", logits_at_a_time)
        as_tensor = torch.tensor(targets, dtype=torch.long)
        _check(softmax, as_tensor, token_weights, sample=None, without_padding=True)


@pytest.mark.parametrize("num_negatives", [None, 9])
def test_the_loss_is_the_same_without_gradients(
    monkeypatch: pytest.MonkeyPatch, num_negatives: int | None
) -> None:
    softmax, targets, hidden = _softmax(), torch.arange(7), _hidden(7)

    def losses() -> tuple[Tensor, Tensor]:
        torch.manual_seed(0)
        return softmax.sampled(hidden, targets, 9) if num_negatives else softmax(hidden, targets)

    expected = losses()
    packed: list[Tensor] = []  # the weight, and for the gradient of hidden states once more
    pack = softmax_module.pack_for_training
    monkeypatch.setattr(
        softmax_module, "pack_for_training", lambda *of: packed.append(of[0]) or pack(*of)
    )
    with torch.no_grad():
        loss, of_tokens = losses()
    assert len(packed) == 1
    assert not loss.requires_grad
    assert torch.equal(loss, expected[0]) and torch.equal(of_tokens, expected[1])


@pytest.mark.parametrize("is_sampled", [False, True])
def test_well_predicted_words_in_bfloat16_get_the_gradient_of_float64(is_sampled: bool) -> None:
    """It is a small difference: the probability, 0.99 on average, less 1."""
    softmax, targets = VocabularySoftmax(300, 32), torch.arange(60)
    unit = nn.functional.normalize(softmax.weight.detach(), dim=1)
    hidden = 11 * unit[targets] + 0.1 * torch.randn(60, 32)

    def compute(softmax: VocabularySoftmax, hidden: Tensor) -> tuple[float, Tensor, Tensor]:
        hidden.requires_grad_()
        sample = range(20, 300), 3000.0  # some targets are in it
        loss, _ = (
            _sampled_with(softmax, sample, hidden, targets)
            if is_sampled
            else softmax(hidden, targets)
        )
        return loss.item(), *torch.autograd.grad(loss, [hidden, softmax.weight])

    with torch.autocast("cpu", torch.bfloat16):
        loss, *gradients = compute(softmax, hidden.clone())
    expected_loss, *expected = compute(softmax.double(), hidden.double())
    assert 0.001 < expected_loss < 0.1 and loss == pytest.approx(expected_loss, rel=0.02)
    for gradient, right in zip(gradients, expected, strict=True):
        assert relative_error(gradient, right) < 0.02


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_vocabulary_of_a_single_word_has_zero_loss(dtype: torch.dtype) -> None:
    softmax, hidden = VocabularySoftmax(1, 4), torch.randn(3, 4, requires_grad=True)
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        loss, losses = softmax(hidden, torch.zeros(3, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0 and (losses == 0).all() and (hidden.grad == 0).all()


def test_samples_are_distinct_words_of_the_vocabulary() -> None:
    torch.manual_seed(0)
    for num_samples, num_words in [(1, 2), (5, 6), (99, 100), (50, 1000), (7, 7)]:
        words, tries = sample_log_uniform(num_samples, num_words)
        assert len(set(words.tolist())) == len(words) == num_samples
        assert set(words.tolist()) <= set(range(num_words))
        assert tries > 0 and tries.shape == ()
        assert math.isinf(tries) == (num_samples == num_words)


def test_a_sample_consists_of_the_first_distinct_words_drawn() -> None:
    """Also the number of draws: until the word that would have been next, a mean that both have."""
    num_words, num_samples, rounds = 7, 3, 5000
    draws = np.random.default_rng(0).choice(
        num_words, p=_zipf(num_words).numpy(), size=(rounds, 300)
    )
    first_draw = np.stack([(draws == word).argmax(axis=1) for word in range(num_words)], axis=1)
    last_draw = np.sort(first_draw, axis=1)[:, num_samples - 1 : num_samples + 1]
    is_drawn = first_draw <= last_draw[:, :1]
    torch.manual_seed(0)
    samples, tries = zip(
        *(sample_log_uniform(num_samples, num_words) for _ in range(rounds)), strict=True
    )
    frequency = torch.bincount(torch.cat(samples), minlength=num_words) / rounds
    np.testing.assert_allclose(frequency.numpy(), is_drawn.mean(axis=0), atol=0.03)
    assert float(torch.stack(tries).mean()) == pytest.approx(last_draw[:, 1].mean() + 1, rel=0.03)


@pytest.mark.parametrize("num_samples", [-1, 0, 31])
def test_a_sample_of_an_impossible_size_is_refused(num_samples: int) -> None:
    with pytest.raises(
        BiLmError, match=f"cannot sample {num_samples} negative words from a vocabulary of 30"
    ):
        sample_log_uniform(num_samples, 30)
