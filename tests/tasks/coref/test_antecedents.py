"""Scores of pairs of spans against those of vectors that are put together one pair at a time, in float64."""

import pytest
import torch
from torch import Tensor

from elmo_plugin.tasks.coref import antecedents
from elmo_plugin.tasks.coref.antecedents import AntecedentScorer, bucket
from tests.bilm.rounding import relative_error

SPANS, SPAN_DIM = 13, 4


def scorer(use_speakers: bool = True, num_genres: int = 3, max_antecedents: int = 5) -> AntecedentScorer:
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
def test_scores_are_those_of_each_pair(
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


def test_the_dropout_of_features_is_another_one_for_each_pair() -> None:
    torch.manual_seed(0)
    model = AntecedentScorer(
        span_dim=SPAN_DIM,
        hidden_dim=6,
        max_antecedents=5,
        feature_dim=30,
        num_genres=3,
        use_speakers=True,
        dropout=0.5,
    )
    distances, same_speaker = torch.ones(7, 4, dtype=torch.long), torch.ones(7, 4, dtype=torch.bool)
    features = model._features(distances, same_speaker, torch.tensor(1))
    kept = features != 0
    for of_one_feature in kept.chunk(3, dim=-1):
        assert len(of_one_feature.flatten(0, 1).unique(dim=0)) == 7 * 4
        assert 0.4 < of_one_feature.float().mean() < 0.6
    whole = model.eval()._features(distances, same_speaker, torch.tensor(1))
    torch.testing.assert_close(features[kept], 2 * whole[kept])


def test_one_span_has_no_antecedent() -> None:
    scores = scorer()(torch.randn(1, SPAN_DIM, dtype=torch.float64), torch.tensor([0]), torch.tensor(0))
    assert scores.tolist() == [[float("-inf")]]


def test_distances_are_in_ten_buckets() -> None:
    distances = [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 500]
    assert bucket(torch.tensor(distances)).tolist() == [1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.02), (torch.float16, 0.01)])
def test_under_autocast_scores_and_gradients_are_near_those_of_float32(
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
