"""A linear classifier on frozen vectors."""

import torch
from torch import Tensor, nn
from torch.nn import functional

BATCH_SIZE = 256
MIN_STEPS = 2000


class LinearProbe:
    """
    Classifies vectors by a linear layer and a softmax, trained by Adam on vectors whose features have a mean
    of 0 and a variance of 1 over the training data.

    # Parameters

    num_classes : `int`
        The number of classes.
    epochs : `int`, optional (default = `10`)
        How often the training data are seen; more often where they are few, so that there are `MIN_STEPS`.
        The learning rate falls to 0 in a straight line.
    learning_rate : `float`, optional (default = `0.005`)
        That of the first step.
    """

    def __init__(self, num_classes: int, *, epochs: int = 10, learning_rate: float = 0.005) -> None:
        self._num_classes = num_classes
        self._epochs = epochs
        self._learning_rate = learning_rate

    def fit(self, vectors: Tensor, labels: Tensor, seed: int) -> "LinearProbe":
        """
        Trains on vectors of shape (words, dim) and labels of shape (words,). The seed is that of the initial
        weights and of the order of the words.
        """
        generator = torch.Generator().manual_seed(seed)
        self._mean = vectors.mean(dim=0)
        self._scale = 1 / vectors.std(dim=0, correction=0).clamp(min=1e-6)
        bound = vectors.size(1) ** -0.5
        weight = torch.empty(self._num_classes, vectors.size(1)).uniform_(-bound, bound, generator=generator)
        self._weight = nn.Parameter(weight)
        self._bias = nn.Parameter(torch.zeros(self._num_classes))
        optimizer = torch.optim.Adam([self._weight, self._bias], lr=self._learning_rate)
        steps_of_epoch = -(-len(vectors) // BATCH_SIZE)
        epochs = max(self._epochs, -(-MIN_STEPS // steps_of_epoch))
        steps = epochs * steps_of_epoch
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
        for _ in range(epochs):
            for rows in torch.randperm(len(vectors), generator=generator).split(BATCH_SIZE):
                optimizer.zero_grad()
                functional.cross_entropy(self._logits(vectors[rows]), labels[rows]).backward()
                optimizer.step()
                schedule.step()
        return self

    @torch.no_grad()
    def accuracy(self, vectors: Tensor, labels: Tensor) -> float:
        """Returns the part of the vectors whose label is the most probable one. Labels may be unknown: -1."""
        right = sum(
            int((self._logits(some).argmax(dim=1) == of_some).sum())
            for some, of_some in zip(vectors.split(8192), labels.split(8192), strict=True)
        )
        return right / len(labels)

    def _logits(self, vectors: Tensor) -> Tensor:
        return functional.linear((vectors - self._mean) * self._scale, self._weight, self._bias)
