"""Scores, losses, clusters and averages of antecedents against those of one pair at a time."""

import math

import pytest
import torch
from torch import Tensor

from elmo_plugin.tasks.coref import antecedents
from elmo_plugin.tasks.coref.antecedents import AntecedentScorer, bucket
from elmo_plugin.tasks.coref.links import (
    AntecedentLogits,
    Link,
    average_antecedent_logits,
    best_links,
    clusters_from_links,
    marginal_loss,
)
from elmo_plugin.tasks.spans import Span
from tests.bilm.rounding import relative_error

SPANS, SPAN_DIM = 13, 4


def scorer(
    use_speakers: bool = True, num_genres: int = 3, max_antecedents: int = 5
) -> AntecedentScorer:
    torch.manual_seed(0)
    return AntecedentScorer(
        span_dim=SPAN_DIM,
        hidden_dim=6,
        max_antecedents=max_antecedents,
        feature_dim=3,
        num_genres=num_genres,
        use_speakers=use_speakers,
        dropout=0.0,
    ).double()


def literal(model: AntecedentScorer, spans: Tensor, speakers: Tensor, genre: Tensor) -> Tensor:
    """Section 4 of Lee et al. (2017), for each pair."""
    rows = []
    for place, span in enumerate(spans):
        row = []
        for distance in range(1, min(model._max_antecedents, max(len(spans) - 1, 1)) + 1):
            if distance > place:
                row.append(torch.tensor(float("-inf")).to(spans))
                continue
            other = spans[place - distance]
            features = [model.distance_embedding(bucket(torch.tensor(distance)))]
            if model.speaker_embedding is not None:
                features.append(
                    model.speaker_embedding((speakers[place] == speakers[place - distance]).long())
                )
            if model.genre_embedding is not None:
                features.append(model.genre_embedding(genre))
            pair = torch.cat([span, other, span * other, *features])
            row.append(model.further_layers(model.first_layer(pair)).squeeze())
        rows.append(torch.stack(row))
    return torch.stack(rows)


@pytest.mark.parametrize("use_speakers", [True, False])
@pytest.mark.parametrize("num_genres", [0, 3])
@pytest.mark.parametrize("max_antecedents", [2, 50])
def test_scores_equal_pairwise_scores(
    use_speakers: bool, num_genres: int, max_antecedents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antecedents, "BLOCK", 4)
    model = scorer(use_speakers, num_genres, max_antecedents)
    spans = torch.randn(SPANS, SPAN_DIM, dtype=torch.float64, requires_grad=True)
    arguments = (spans, torch.randint(2, (SPANS,)), torch.tensor(1))
    found, expected = model(*arguments), literal(model, *arguments)
    torch.testing.assert_close(found, expected)
    leaves = [spans, *model.parameters()]
    gradients = [torch.autograd.grad(each.exp().sum(), leaves) for each in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_a_single_span_has_no_antecedent() -> None:
    scores = scorer()(
        torch.randn(1, SPAN_DIM, dtype=torch.float64), torch.tensor([0]), torch.tensor(0)
    )
    assert scores.tolist() == [[float("-inf")]]


def test_distances_are_sorted_into_ten_buckets() -> None:
    distances = [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 500]
    assert bucket(torch.tensor(distances)).tolist() == [1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.02), (torch.float16, 0.01)])
def test_scores_and_gradients_under_autocast_are_close_to_float32(
    dtype: torch.dtype, tolerance: float
) -> None:
    """Those of features, too, which are sums over all pairs."""
    model = scorer(max_antecedents=100).float()
    spans = torch.randn(200, SPAN_DIM, requires_grad=True)
    arguments = (spans, torch.randint(3, (200,)), torch.tensor(1))
    leaves = [spans, *model.parameters()]

    def scores_and_gradients() -> list[Tensor]:
        scores = model(*arguments)
        total = torch.nn.functional.pad(scores.float(), (1, 0)).logsumexp(dim=1).sum()
        return [scores.float().exp(), *torch.autograd.grad(total, leaves)]

    expected = scores_and_gradients()
    with torch.autocast("cpu", dtype):
        found = scores_and_gradients()
    for one, other in zip(found, expected, strict=True):
        assert relative_error(one, other) < tolerance


NONE = float("-inf")
A, B, C, D = (Span(start, start + 1) for start in (0, 2, 4, 6))
LOGITS = AntecedentLogits(
    [A, B, C],
    torch.tensor([[0.0, NONE, NONE], [0.0, 2.0, NONE], [0.0, -1.0, 3.0]], dtype=torch.float64),
)


def test_the_loss_is_the_marginal_likelihood_of_right_antecedents() -> None:
    expected = -math.log(math.exp(2) / (1 + math.exp(2)))
    both = math.exp(-1) + math.exp(3)
    expected -= math.log(both / (1 + both))
    assert marginal_loss(LOGITS, [[A, B, C]]).item() == pytest.approx(expected)


def test_spans_without_a_right_antecedent_should_choose_none() -> None:
    expected = math.log(1 + math.exp(2)) - math.log(math.exp(-1) / (1 + math.exp(-1) + math.exp(3)))
    assert marginal_loss(LOGITS, [[B, C], [D, Span(8, 9)]]).item() == pytest.approx(expected)
    alone = AntecedentLogits([A], torch.tensor([[0.0, NONE]]))
    assert marginal_loss(alone, [[A, B]]).item() == 0.0


def test_a_mention_is_linked_to_its_best_antecedent_if_that_beats_none() -> None:
    first, second = best_links(LOGITS)
    assert first[:2] == (B, A)
    assert first.probability == pytest.approx(math.exp(2) / (1 + math.exp(2)))
    assert second[:2] == (C, A)
    assert best_links(LOGITS._replace(logits=LOGITS.logits - torch.tensor([0.0, 9, 9]))) == []


def test_links_form_clusters_from_left_to_right() -> None:
    links = [Link(C, B, 0.9), Link(D, A, 0.5)]
    assert clusters_from_links(links) == [[A, D], [B, C]]
    assert clusters_from_links([*links[:1], Link(D, C, 0.5)]) == [[B, C, D]]
    assert clusters_from_links([]) == []


def test_an_ensemble_averages_probabilities_over_the_union_of_spans() -> None:
    other = AntecedentLogits([B, D], torch.tensor([[0.0, NONE], [0.0, 1.0]], dtype=torch.float64))
    average = average_antecedent_logits([LOGITS, other])
    assert average.spans == [A, B, C, D]
    found = average.logits.softmax(dim=1)
    one, two = LOGITS.logits.softmax(dim=1), other.logits.softmax(dim=1)
    expected = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0],
            [(one[1, 0] + 1) / 2, one[1, 1] / 2, 0.0, 0.0],
            [(one[2, 0] + 1) / 2, one[2, 1] / 2, one[2, 2] / 2, 0.0],
            [(1 + two[1, 0]) / 2, 0.0, two[1, 1] / 2, 0.0],
        ],
        dtype=torch.float64,
    )
    torch.testing.assert_close(found, expected)


def test_the_ensemble_loss_is_finite_even_if_no_member_has_the_right_pair() -> None:
    other = AntecedentLogits([C, D], torch.tensor([[0.0, NONE], [0.0, 1.0]]))
    one = AntecedentLogits([A, B], torch.tensor([[0.0, NONE], [0.0, 1.0]]))
    assert marginal_loss(average_antecedent_logits([one, other]), [[A, D]]).isfinite()
