"""The loss, clusters and averages of antecedents, by hand."""

import math

import pytest
import torch

from elmo_plugin.tasks.coref.links import (
    AntecedentLogits,
    Link,
    average_antecedent_logits,
    best_links,
    link_clusters,
    marginal_loss,
)
from elmo_plugin.tasks.spans import Span

NONE = float("-inf")
A, B, C, D = (Span(start, start + 1) for start in (0, 2, 4, 6))
LOGITS = AntecedentLogits(
    [A, B, C], torch.tensor([[0.0, NONE, NONE], [0.0, 2.0, NONE], [0.0, -1.0, 3.0]], dtype=torch.float64)
)


def test_the_loss_is_the_marginal_likelihood_of_right_antecedents() -> None:
    expected = -math.log(math.exp(2) / (1 + math.exp(2)))
    both = math.exp(-1) + math.exp(3)
    expected -= math.log(both / (1 + both))
    assert marginal_loss(LOGITS, [[A, B, C]]).item() == pytest.approx(expected)


def test_what_has_no_right_antecedent_should_have_none() -> None:
    expected = math.log(1 + math.exp(2)) - math.log(math.exp(-1) / (1 + math.exp(-1) + math.exp(3)))
    assert marginal_loss(LOGITS, [[B, C], [D, Span(8, 9)]]).item() == pytest.approx(expected)
    alone = AntecedentLogits([A], torch.tensor([[0.0, NONE]]))
    assert marginal_loss(alone, [[A, B]]).item() == 0.0


def test_the_best_antecedent_links_a_mention_where_it_is_better_than_none() -> None:
    first, second = best_links(LOGITS)
    assert first[:2] == (B, A)
    assert first.probability == pytest.approx(math.exp(2) / (1 + math.exp(2)))
    assert second[:2] == (C, A)
    assert best_links(LOGITS._replace(logits=LOGITS.logits - torch.tensor([0.0, 9, 9]))) == []


def test_links_make_clusters_from_left_to_right() -> None:
    links = [Link(C, B, 0.9), Link(D, A, 0.5)]
    assert link_clusters(links) == [[A, D], [B, C]]
    assert link_clusters([*links[:1], Link(D, C, 0.5)]) == [[B, C, D]]
    assert link_clusters([]) == []


def test_the_average_is_that_of_probabilities_over_the_union_of_spans() -> None:
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


def test_the_loss_of_an_average_is_finite_where_no_member_has_the_right_pair() -> None:
    other = AntecedentLogits([C, D], torch.tensor([[0.0, NONE], [0.0, 1.0]]))
    one = AntecedentLogits([A, B], torch.tensor([[0.0, NONE], [0.0, 1.0]]))
    assert marginal_loss(average_antecedent_logits([one, other]), [[A, D]]).isfinite()
