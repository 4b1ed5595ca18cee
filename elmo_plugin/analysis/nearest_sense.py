"""
Word senses by their nearest mean vector (Melamud et al., 2016; Peters et al., 2018, section 5.3).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.analysis.representations import Representations, batches_of_words
from elmo_plugin.analysis.sense_corpus import SenseSentence, Target

WORDS_AT_ONCE = 20_000
ROUNDING = 1e-6  # cosines of equal directions differ by less, as the biLM computes in float32


class NearestSense:
    """
    Gives a word the sense of its lemma and part of speech whose mean vector over a training corpus
    is the most similar, by cosine. The vector of several words is their mean. Of equally near
    senses (the token layer has one vector for a word) the most frequent is taken.
    """

    def __init__(self, representations: Representations) -> None:
        self.representations = representations
        # By lemma and part of speech, then by sense. A mean and a sum have the same direction.
        self._counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._sums: dict[tuple[str, str], dict[str, Tensor]] = defaultdict(dict)

    def fit(self, sentences: Iterable[SenseSentence]) -> int:
        """Adds the words of a training corpus, and returns their number."""
        count = 0
        for target, vectors in self._vectors(sentences):
            sums = self._sums[target.entry]
            for sense in target.senses:
                sums[sense] = sums.get(sense, 0) + vectors
            self._counts[target.entry].update(target.senses)
            count += 1
        return count

    def predict(
        self, sentences: Iterable[SenseSentence]
    ) -> Iterable[tuple[Target, list[str] | None]]:
        """
        Yields each word with its sense by each combination of layers, or `None` for an unknown
        lemma.
        """
        for target, vectors in self._vectors(sentences):
            if target.entry not in self._sums:
                yield target, None
                continue
            sums = self._sums[target.entry]
            senses = [sense for sense, _ in self._counts[target.entry].most_common()]
            means = torch.stack([sums[sense] for sense in senses])
            # Shape: (senses, combinations)
            similarity = torch.cosine_similarity(means, vectors, dim=2)
            are_nearest = similarity > similarity.amax(dim=0) - ROUNDING
            yield target, [senses[first] for first in are_nearest.int().argmax(dim=0).tolist()]

    def _vectors(self, sentences: Iterable[SenseSentence]) -> Iterable[tuple[Target, Tensor]]:
        """Yields each target with its vectors, of shape (combinations, dim) and type float64."""
        with_targets = (sentence for sentence in sentences if sentence.targets)
        for batch in batches_of_words(with_targets, WORDS_AT_ONCE, _num_words):
            layers = self.representations.embed([sentence.words for sentence in batch])
            for sentence, sentence_layers in zip(batch, layers, strict=True):
                for target in sentence.targets:
                    words = sentence_layers[:, target.first : target.first + target.length].double()
                    yield target, self.representations.combine(words).mean(dim=1)


def _num_words(sentence: SenseSentence) -> int:
    return len(sentence.words)


class SenseScore(NamedTuple):
    """How many words a method gives their sense."""

    name: str  # of the method, such as "LSTM 1" or "first sense"
    correct: int
    answered: int
    total: int

    @property
    def f1(self) -> float:
        """Precision and recall combined, from 0 to 1."""
        if self.answered == 0:
            return 0.0
        return 2 * self.correct / (self.answered + self.total)


def score_senses(
    model: NearestSense,
    sentences: Iterable[SenseSentence],
    first_sense: Callable[[tuple[str, str]], str | None],
) -> list[SenseScore]:
    """
    Scores the first sense of all words of a corpus, then the senses by each combination of layers,
    with the first sense for lemmas without training data. `first_sense` takes a lemma and its part
    of speech.
    """
    combinations = model.representations.combinations
    counts = {name: Counter[str]() for name in ["first sense", *combinations]}
    total = 0
    for target, nearest in model.predict(sentences):
        first = first_sense(target.entry)
        total += 1
        senses: Sequence[str | None] = nearest or [first] * len(combinations)
        for count, sense in zip(counts.values(), [first, *senses], strict=True):
            if sense is not None:
                count["answered"] += 1
            if sense in target.senses:
                count["correct"] += 1
    return [
        SenseScore(name, each["correct"], each["answered"], total) for name, each in counts.items()
    ]
