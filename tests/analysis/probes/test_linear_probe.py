"""The linear probe against scikit-learn's logistic regression."""

import pytest
import torch

from elmo_plugin.analysis.probes import LinearProbe, linear_probe

linear_model = pytest.importorskip("sklearn.linear_model")


def data(words: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Classes that overlap, and features of very different sizes."""
    centers = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(5, (words,), generator=generator)
    vectors = centers[labels] + torch.randn(words, 8, generator=generator)
    return vectors * torch.logspace(-3, 3, 8) + 100, labels


def test_the_accuracy_is_that_of_logistic_regression() -> None:
    (vectors, labels), (test_vectors, test_labels) = data(6000, seed=1), data(3000, seed=2)
    probe = LinearProbe(5, epochs=10).fit(vectors, labels, seed=1)
    mean, deviation = vectors.mean(dim=0), vectors.std(dim=0)
    peer = linear_model.LogisticRegression(C=1e4, max_iter=500)
    peer.fit(((vectors - mean) / deviation).numpy(), labels.numpy())
    expected = peer.score(((test_vectors - mean) / deviation).numpy(), test_labels.numpy())
    assert expected > 0.6
    assert probe.accuracy(test_vectors, test_labels) == pytest.approx(expected, abs=0.01)


def test_a_seed_gives_the_same_probe_and_another_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = data(600, seed=1)
    monkeypatch.setattr(linear_probe, "MIN_STEPS", 20)
    probes = [LinearProbe(5, epochs=1).fit(vectors, labels, seed) for seed in (1, 1, 2)]
    assert probes[0]._weight.equal(probes[1]._weight)
    assert not probes[0]._weight.equal(probes[2]._weight)


def test_unknown_labels_are_errors_and_a_constant_feature_does_no_harm() -> None:
    vectors, labels = data(600, seed=1)
    vectors[:, 0] = 7.0
    probe = LinearProbe(5).fit(vectors, labels, seed=1)
    accuracy = probe.accuracy(vectors, labels)
    assert accuracy > 0.5
    assert probe.accuracy(vectors, torch.full_like(labels, -1)) == 0.0
