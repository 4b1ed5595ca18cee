"""Linear classifiers on frozen vectors, of several kinds of vectors and for several tasks at once."""

import torch
from torch import Tensor, nn
from torch.nn import functional

BATCH_SIZE = 256
MIN_STEPS = 2000
LEARNING_RATE = 0.005  # of the first step


class LinearProbes:
    """
    Classify vectors by a linear layer and a softmax, trained by Adam on features with a mean of 0 and a
    variance of 1 over the training data. Each kind of vectors has a layer of its own for each task, which
    learns what it would learn alone: all have the same initial weights, and see the words in the same order.

    # Parameters

    num_classes : `int`
        The number of classes of each task.
    epochs : `int`, optional (default = `10`)
        How often the training data are seen; more often if there would be fewer than `MIN_STEPS` steps. The
        learning rate decreases linearly to 0.
    """

    def __init__(self, num_classes: int, *, epochs: int = 10) -> None:
        self._num_classes = num_classes
        self._epochs = epochs

    def fit(self, vectors: Tensor, labels: Tensor, seed: int) -> "LinearProbes":
        """
        Trains on vectors of shape (kinds, words, dim) and labels of shape (tasks, words). The seed decides
        the initial weights and the order of the words.
        """
        (kinds, words, dim), tasks = vectors.shape, len(labels)
        generator = torch.Generator().manual_seed(seed)
        self._mean = vectors.mean(dim=1, keepdim=True)
        self._scale = 1 / vectors.std(dim=1, correction=0, keepdim=True).clamp(min=1e-6)
        weight = torch.empty(self._num_classes, dim).uniform_(-(dim**-0.5), dim**-0.5, generator=generator)
        self._weight = nn.Parameter(
            weight.t().repeat(kinds, 1, tasks)
        )  # Shape: (kinds, dim, tasks * classes)
        self._bias = nn.Parameter(torch.zeros(kinds, 1, tasks * self._num_classes))
        optimizer = torch.optim.Adam([self._weight, self._bias], lr=LEARNING_RATE)
        steps_of_epoch = -(-words // BATCH_SIZE)
        epochs = max(self._epochs, -(-MIN_STEPS // steps_of_epoch))
        steps = epochs * steps_of_epoch
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
        for _ in range(epochs):
            for rows in torch.randperm(words, generator=generator).split(BATCH_SIZE):
                optimizer.zero_grad()
                logits = self._logits(vectors[:, rows])
                wanted = labels[:, rows].t().expand(kinds, -1, -1)  # Shape: (kinds, batch, tasks)
                # The loss of each layer is its mean over the batch, independent of the others.
                loss = functional.cross_entropy(logits.flatten(0, 2), wanted.flatten(), reduction="sum")
                (loss / len(rows)).backward()
                optimizer.step()
                schedule.step()
        return self

    @torch.no_grad()
    def accuracies(self, vectors: Tensor, labels: Tensor) -> Tensor:
        """
        Returns the part of the vectors whose label is the most probable class, shape (kinds, tasks). Unknown
        labels are -1.
        """
        right = [
            (self._logits(some).argmax(dim=3) == of_some.t()).sum(dim=1)
            for some, of_some in zip(vectors.split(8192, dim=1), labels.split(8192, dim=1), strict=True)
        ]
        return torch.stack(right).sum(dim=0) / labels.size(1)

    def _logits(self, vectors: Tensor) -> Tensor:
        """Returns shape (kinds, words, tasks, classes)."""
        logits = torch.baddbmm(self._bias, (vectors - self._mean) * self._scale, self._weight)
        return logits.unflatten(2, (-1, self._num_classes))
