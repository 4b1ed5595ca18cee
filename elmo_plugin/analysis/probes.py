"""Linear probes of a biLM's layers (Peters et al., 2018, section 5.3, table 6), and baselines."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_plugin.analysis.representations import Representations, batches_of_words, num_words_in
from elmo_plugin.common.integers import ceil_div

WORDS_AT_ONCE = 20_000  # about how many words are embedded at a time
_SCORED_AT_ONCE = 8192  # words
BATCH_SIZE = 256  # words
DEFAULT_EPOCHS = 10
MIN_STEPS = 2000  # of training, unless the user chooses the number of epochs
LEARNING_RATE = 0.005  # of the first step; it decreases to 0
_SMALLEST_DEVIATION = 1e-6


class TaggedSentence(NamedTuple):
    """Words, and a tag for each."""

    words: list[str]
    tags: list[str]


class ProbeScore(NamedTuple):
    """
    The accuracies of the probes of one combination of layers on test data, one for each seed: on
    the real tags, and on the control task.
    """

    name: str  # of the combination, such as "LSTM 1"
    accuracies: list[float]
    control_accuracies: list[float]


def probe_layers(
    representations: Representations,
    train: Sequence[TaggedSentence],
    test: Sequence[TaggedSentence],
    *,
    seeds: Sequence[int],
    epochs: int | None,
) -> list[ProbeScore]:
    """
    Trains `LinearProbes` on each combination of layers, once with each seed, and scores them on the
    test data, both on the real tags and on a control task. See `LinearProbes` for `epochs`.
    """
    train_vectors = word_vectors(representations, train)
    test_vectors = word_vectors(representations, test)
    scores = []
    for name in representations.combinations:
        scores.append(ProbeScore(name, accuracies=[], control_accuracies=[]))
    tags = sorted({tag for sentence in train for tag in sentence.tags})
    tag_numbers = {tag: number for number, tag in enumerate(tags)}
    for seed in seeds:
        control_train, control_test = with_control_tags(train, test, seed)
        train_labels = _labels(tag_numbers, [train, control_train])  # Shape: (2 tasks, words)
        test_labels = _labels(tag_numbers, [test, control_test])
        probes = LinearProbes(len(tags), epochs=epochs)
        probes.fit(train_vectors, train_labels, seed)
        accuracies = probes.accuracies(test_vectors, test_labels)  # Shape: (combinations, 2 tasks)
        for score, accuracies_of_tasks in zip(scores, accuracies.tolist(), strict=True):
            accuracy, control_accuracy = accuracies_of_tasks
            score.accuracies.append(accuracy)
            score.control_accuracies.append(control_accuracy)
    return scores


def word_vectors(representations: Representations, sentences: Sequence[TaggedSentence]) -> Tensor:
    """
    Returns the vectors of all words, sentence after sentence. Shape (combinations, words, dim).
    """
    parts = []
    for batch in batches_of_words(sentences, WORDS_AT_ONCE, num_words_in):
        layers = representations.embed([sentence.words for sentence in batch])
        parts.append(representations.combine(torch.cat(layers, dim=1)))
    return torch.cat(parts, dim=1)


def with_control_tags(
    train: Sequence[TaggedSentence], test: Sequence[TaggedSentence], seed: int
) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """
    Returns the same sentences with the tags of a control task (Hewitt and Liang, 2019): each
    distinct word has one tag, drawn at random by the tags' frequencies in the training data.
    Vectors can predict such tags only by identifying the word.
    """
    counts: Counter[str] = Counter()
    for sentence in train:
        counts.update(sentence.tags)
    vocabulary: set[str] = set()
    for sentence in [*train, *test]:
        vocabulary.update(sentence.words)
    words = sorted(vocabulary)  # the order of a set differs from process to process
    drawn = random.Random(seed).choices(list(counts), weights=list(counts.values()), k=len(words))
    tag_of_word = dict(zip(words, drawn, strict=True))

    def retag(sentences: Sequence[TaggedSentence]) -> list[TaggedSentence]:
        """Returns the sentences with the drawn tags."""
        retagged = []
        for sentence in sentences:
            tags = [tag_of_word[word] for word in sentence.words]
            retagged.append(TaggedSentence(sentence.words, tags))
        return retagged

    return retag(train), retag(test)


def _labels(tag_numbers: Mapping[str, int], tasks: Sequence[Sequence[TaggedSentence]]) -> Tensor:
    """
    Returns the number of each word's tag in each of several tasks over the same words, or -1 for a
    tag without a number. Shape (tasks, words).
    """
    rows = []
    for sentences in tasks:
        row = []
        for sentence in sentences:
            row += [tag_numbers.get(tag, -1) for tag in sentence.tags]
        rows.append(row)
    return torch.tensor(rows)


class LinearProbes:
    """
    Linear softmax classifiers, one for each combination of layers and each task, all trained at
    the same time by Adam. They begin with the same weights and read the words in the same order, so
    each learns as if it were alone. Features are standardized: over the training data each has
    mean 0 and variance 1.

    The learning rate decreases linearly to 0 over `epochs`. If this is `None`, there are
    `DEFAULT_EPOCHS`, or as many more as `MIN_STEPS` steps need.
    """

    def __init__(self, num_classes: int, *, epochs: int | None) -> None:
        self._num_classes = num_classes
        self._epochs = epochs

    def fit(self, vectors: Tensor, labels: Tensor, seed: int) -> "LinearProbes":
        """
        Trains on vectors of shape (combinations, words, dim) and labels of shape (tasks, words).
        """
        generator = torch.Generator().manual_seed(seed)
        self._standardize(vectors)
        self._initialize(vectors, len(labels), generator)
        optimizer = torch.optim.Adam([self._weight, self._bias], lr=LEARNING_RATE)
        num_words = vectors.size(1)
        steps_per_epoch = ceil_div(num_words, BATCH_SIZE)
        epochs = self._epochs
        if epochs is None:
            epochs = max(DEFAULT_EPOCHS, ceil_div(MIN_STEPS, steps_per_epoch))
        num_steps = epochs * steps_per_epoch

        def share_of_first_rate(step: int) -> float:
            """Returns the learning rate of a step as a share of the first one: from 1 to 0."""
            return 1 - step / num_steps

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share_of_first_rate)
        for _ in range(epochs):
            shuffled = torch.randperm(num_words, generator=generator)
            for words in shuffled.split(BATCH_SIZE):
                optimizer.zero_grad()
                self._loss(vectors[:, words], labels[:, words]).backward()
                optimizer.step()
                schedule.step()
        return self

    def _standardize(self, vectors: Tensor) -> None:
        """Sets the means and the factors by which `_logits` standardizes each feature."""
        self._mean = vectors.mean(dim=1, keepdim=True)  # Shape: (combinations, 1, dim)
        deviation = vectors.std(dim=1, correction=0, keepdim=True)  # Shape: (combinations, 1, dim)
        # A constant feature has the deviation 0, and 1 / 0 is infinite.
        self._scale = 1 / deviation.clamp(min=_SMALLEST_DEVIATION)

    def _initialize(self, vectors: Tensor, num_tasks: int, generator: torch.Generator) -> None:
        """Sets the parameters: all classifiers begin with the same weights, drawn at random."""
        num_combinations, _, dim = vectors.shape
        bound = dim**-0.5  # as in `nn.Linear`
        weight = torch.empty(self._num_classes, dim)
        weight.uniform_(-bound, bound, generator=generator)
        # Shape: (combinations, dim, tasks * classes)
        self._weight = nn.Parameter(weight.t().repeat(num_combinations, 1, num_tasks))
        self._bias = nn.Parameter(torch.zeros(num_combinations, 1, num_tasks * self._num_classes))

    def _loss(self, vectors: Tensor, labels: Tensor) -> Tensor:
        """
        Returns each classifier's mean loss over a batch, added up. A classifier's gradient is not
        affected by the other losses, because no parameter belongs to two classifiers. `vectors`
        have the shape (combinations, batch, dim), and `labels` (tasks, batch).
        """
        num_combinations, batch_size, _ = vectors.shape
        logits = self._logits(vectors)  # Shape: (combinations, batch, tasks, classes)
        # Shape: (combinations, batch, tasks)
        targets = labels.t().expand(num_combinations, -1, -1)
        summed = functional.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="sum")
        return summed / batch_size

    @torch.no_grad()
    def accuracies(self, vectors: Tensor, labels: Tensor) -> Tensor:
        """
        Returns the share of words that get their label, shape (combinations, tasks). The label -1,
        a tag that is not in the training data, is never predicted and counts as an error.
        """
        correct = torch.zeros(len(vectors), len(labels), dtype=torch.long, device=vectors.device)
        parts_of_vectors = vectors.split(_SCORED_AT_ONCE, dim=1)
        parts_of_labels = labels.split(_SCORED_AT_ONCE, dim=1)
        for some_vectors, some_labels in zip(parts_of_vectors, parts_of_labels, strict=True):
            predicted = self._logits(some_vectors).argmax(dim=3)
            # Shape of `predicted`: (combinations, words, tasks)
            correct += (predicted == some_labels.t()).sum(dim=1)
        return correct / labels.size(1)

    def _logits(self, vectors: Tensor) -> Tensor:
        """Returns a score for each class, shape (combinations, words, tasks, classes)."""
        features = (vectors - self._mean) * self._scale  # Shape: (combinations, words, dim)
        logits = torch.baddbmm(self._bias, features, self._weight)
        return logits.unflatten(2, (-1, self._num_classes))


def baseline_accuracies(
    train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]
) -> dict[str, float]:
    """
    Returns the accuracies of two guesses that need no vectors. `majority` is always to guess the
    most frequent tag of the training data. `word` is to guess the most frequent tag of the same
    word, or the majority tag if the word is not in the training data.
    """
    tags_of_word: dict[str, Counter[str]] = defaultdict(Counter)
    all_tags: Counter[str] = Counter()
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            tags_of_word[word][tag] += 1
            all_tags[tag] += 1
    majority = _most_frequent(all_tags)
    guess_for_word = {word: _most_frequent(tags) for word, tags in tags_of_word.items()}
    right_by_majority = 0
    right_by_word = 0
    total = 0
    for sentence in test:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            total += 1
            if tag == majority:
                right_by_majority += 1
            if tag == guess_for_word.get(word, majority):
                right_by_word += 1
    return {"majority": right_by_majority / total, "word": right_by_word / total}


def _most_frequent(tags: Counter[str]) -> str:
    """Returns the most frequent tag; of equally frequent tags, the one counted first."""
    return max(tags, key=tags.__getitem__)
