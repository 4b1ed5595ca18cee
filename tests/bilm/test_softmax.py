import math

import pytest
import torch
from torch import nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm import softmax as softmax_module
from elmo_plugin.bilm.softmax import VocabularySoftmax, log_expected_count, sample_log_uniform


def _softmax(num_words: int = 30, dim: int = 5) -> VocabularySoftmax:
    torch.manual_seed(2)
    softmax = VocabularySoftmax(num_words, dim).double()
    nn.init.normal_(softmax.bias)
    return softmax


def test_the_full_softmax_is_the_negative_logarithm_of_the_probability() -> None:
    softmax = _softmax()
    hidden, targets = torch.randn(7, 5).double(), torch.arange(7) * 4
    scores = torch.exp(hidden @ softmax.weight.T + softmax.bias)
    expected = -torch.log(scores[torch.arange(7), targets] / scores.sum(dim=1))
    torch.testing.assert_close(softmax(hidden, targets), expected)


def test_without_gradients_it_is_computed_piece_by_piece_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    softmax = _softmax()
    hidden, targets = torch.randn(7, 5).double(), torch.arange(7)
    whole = softmax(hidden, targets)
    monkeypatch.setattr(softmax_module, "_LOGITS_AT_A_TIME", 65)  # two rows of 30
    with torch.no_grad():
        torch.testing.assert_close(softmax(hidden, targets), whole.detach())
        assert softmax(hidden[:0], targets[:0]).shape == (0,)


def test_samples_are_distinct_words_of_the_vocabulary() -> None:
    torch.manual_seed(0)
    for num_samples, num_words in [(1, 2), (5, 6), (99, 100), (50, 1000)]:
        words, tries = sample_log_uniform(num_samples, num_words)
        assert len(set(words.tolist())) == num_samples
        assert set(words.tolist()) <= set(range(num_words))
        assert tries >= num_samples


def test_words_are_sampled_by_zipfs_law() -> None:
    torch.manual_seed(0)
    num_words, rounds = 5, 20000
    first = torch.stack([sample_log_uniform(1, num_words)[0] for _ in range(rounds)]).flatten()
    frequency = torch.bincount(first, minlength=num_words) / rounds
    rank = torch.arange(num_words).double()
    expected = torch.log((rank + 2) / (rank + 1)) / math.log(num_words + 1)
    assert expected.sum().item() == pytest.approx(1.0)
    torch.testing.assert_close(frequency.double(), expected, atol=0.015, rtol=0)


def test_the_expected_count_is_the_frequency_of_being_among_so_many_draws() -> None:
    torch.manual_seed(0)
    num_words, tries, rounds = 6, 9, 20000
    rank = torch.arange(num_words)
    zipf = torch.log((rank + 2.0) / (rank + 1.0)) / math.log(num_words + 1)
    draws = torch.multinomial(zipf, rounds * tries, replacement=True).view(rounds, tries)
    frequency = torch.stack([(draws == word).any(dim=1).float().mean() for word in rank])
    torch.testing.assert_close(
        log_expected_count(rank, tries, num_words).exp(), frequency, atol=0.015, rtol=0
    )


def test_the_sampled_loss_is_the_formula_over_its_sample() -> None:
    softmax = _softmax()
    hidden, targets = torch.randn(4, 5).double(), torch.tensor([0, 3, 29, 3])
    torch.manual_seed(11)
    words, tries = sample_log_uniform(10, 30)
    torch.manual_seed(11)
    losses = softmax.sampled(hidden, targets, 10)

    def corrected(row: int, word: int) -> float:
        probability = math.log((word + 2) / (word + 1)) / math.log(31)
        count = 1 - (1 - probability) ** tries
        return (hidden[row] @ softmax.weight[word] + softmax.bias[word]).item() - math.log(count)

    for row, target in enumerate(targets.tolist()):
        others = [corrected(row, word) for word in words.tolist() if word != target]
        own = corrected(row, target)
        expected = math.log(sum(map(math.exp, [own, *others]))) - own
        assert losses[row].item() == pytest.approx(expected, rel=1e-5)


def test_the_sampled_losss_gradient_is_the_full_ones_on_average() -> None:
    softmax = _softmax(num_words=12)
    hidden, targets = torch.randn(3, 5).double(), torch.tensor([0, 5, 11])
    full = torch.autograd.grad(softmax(hidden, targets).sum(), softmax.weight)[0]
    torch.manual_seed(4)
    total = torch.zeros_like(full)
    for _ in range(300):
        total += torch.autograd.grad(softmax.sampled(hidden, targets, 9).sum(), softmax.weight)[0]
    similarity = nn.functional.cosine_similarity(total.flatten(), full.flatten(), dim=0)
    assert similarity > 0.99


@pytest.mark.parametrize("num_samples", [0, 30, 31])
def test_a_sample_that_is_no_part_of_the_vocabulary_is_refused(num_samples: int) -> None:
    with pytest.raises(
        BiLmError, match=f"cannot sample {num_samples} negative words from a vocabulary of 30"
    ):
        sample_log_uniform(num_samples, 30)
