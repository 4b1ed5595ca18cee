"""Linear probes against scikit-learn's logistic regression, and many at once against each alone."""

import pytest
import torch

from elmo_plugin.analysis import probes
from elmo_plugin.analysis.probes import LinearProbes

linear_model = pytest.importorskip("sklearn.linear_model")


def data(words: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Classes that overlap, and features of very different sizes."""
    centers = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(5, (words,), generator=generator)
    vectors = centers[labels] + torch.randn(words, 8, generator=generator)
    return vectors * torch.logspace(-3, 3, 8) + 100, labels


@pytest.mark.slow
def test_the_accuracy_equals_that_of_logistic_regression() -> None:
    (vectors, labels), (test_vectors, test_labels) = data(6000, seed=1), data(3000, seed=2)
    trained = LinearProbes(5, epochs=None).fit(vectors[None], labels[None], seed=1)
    mean, deviation = vectors.mean(dim=0), vectors.std(dim=0)
    peer = linear_model.LogisticRegression(C=1e4, max_iter=500)
    peer.fit(((vectors - mean) / deviation).numpy(), labels.numpy())
    expected = peer.score(((test_vectors - mean) / deviation).numpy(), test_labels.numpy())
    assert expected > 0.6
    accuracy = trained.accuracies(test_vectors[None], test_labels[None]).item()
    assert accuracy == pytest.approx(expected, abs=0.01)
    few = LinearProbes(5, epochs=1).fit(
        vectors[None], labels[None], seed=1
    )  # as many as were asked
    assert few.accuracies(test_vectors[None], test_labels[None]).item() < accuracy - 0.05


def test_probes_trained_together_learn_what_each_learns_separately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probes, "MIN_STEPS", 20)
    kinds = torch.stack([data(600, seed)[0] for seed in (1, 2, 3)])
    tasks = torch.stack([data(600, seed)[1] for seed in (1, 2)])
    together = LinearProbes(5, epochs=2).fit(kinds, tasks, seed=1).accuracies(kinds, tasks)
    for kind, vectors in enumerate(kinds):
        for task, labels in enumerate(tasks):
            alone = LinearProbes(5, epochs=2).fit(vectors[None], labels[None], seed=1)
            expected = alone.accuracies(vectors[None], labels[None]).item()
            assert together[kind, task].item() == pytest.approx(expected, abs=2 / 600)
