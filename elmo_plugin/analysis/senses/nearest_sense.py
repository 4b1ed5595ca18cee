"""Word senses by their nearest mean vector (Melamud et al., 2016; Peters et al., 2018, section 5.3)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from elmo_plugin.analysis.mixes import LayerMixes
from elmo_plugin.analysis.senses.corpus import SenseSentence, Target
from elmo_plugin.analysis.subjects import EmbedsWords

WORDS_AT_ONCE = 20_000
ROUNDING = 1e-6  # that cosines of the same directions may be apart, as the biLM computes in float32
TIES: dict[str, Callable[[int], int]] = {
    "frequent": lambda count: -count,
    "first": lambda count: 0,
    "rare": lambda count: count,
}
"""By which number, from that of a sense's words in training, equally near senses are ordered."""


class HasFirstSenses(Protocol):
    """What gives the first sense of a lemma and part of speech, such as a dictionary."""

    def get(self, entry: tuple[str, str], /) -> str | None:
        """Returns its key, if there is one."""


class NearestSense:
    """
    Gives a word the sense, among those of its lemma and part of speech, whose mean vector over a training
    corpus is the most similar to the word's own, by cosine.

    # Parameters

    vectors : `EmbedsWords`
        A biLM, or what it is compared with. The vector of several words is their mean.
    mixes : `LayerMixes`
        Of its layers: the vectors that senses are told by.
    ties : `str`, optional (default = `"frequent"`)
        Which of several senses is given where their cosines are equal but for rounding, as they are for
        vectors that do not depend on the sentence: the most "frequent" one in the training corpus, the
        "first" one there, or the most "rare" one. Of equally frequent ones it is the first.
    """

    def __init__(self, vectors: EmbedsWords, mixes: LayerMixes, ties: str = "frequent") -> None:
        self._embeds_words = vectors
        self._mixes = mixes
        self._order_of_ties = TIES[ties]
        # By lemma and part of speech, then by sense. A mean and a sum have the same direction.
        self._counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._sums: dict[tuple[str, str], dict[str, Tensor]] = defaultdict(dict)

    def fit(self, sentences: Iterable[SenseSentence]) -> int:
        """Adds the words of a training corpus. Returns how many there are."""
        count = 0
        for target, vectors in self._vectors(sentences):
            sums = self._sums[target.entry]
            for sense in target.senses:
                sums[sense] = sums[sense] + vectors if sense in sums else vectors
            self._counts[target.entry].update(target.senses)
            count += 1
        return count

    def predict(self, sentences: Iterable[SenseSentence]) -> Iterable[tuple[Target, list[str] | None]]:
        """
        Yields each word with its sense by each of the mixes, or `None` for a lemma that the training corpus
        does not have.
        """
        for target, vectors in self._vectors(sentences):
            if target.entry not in self._sums:
                yield target, None
                continue
            counts, sums = self._counts[target.entry], self._sums[target.entry]
            senses = sorted(counts, key=lambda sense: self._order_of_ties(counts[sense]))
            means = torch.stack([sums[sense] for sense in senses])
            similarity = torch.cosine_similarity(means, vectors, dim=2)  # Shape: (senses, mixes)
            are_nearest = similarity > similarity.amax(dim=0) - ROUNDING
            yield target, [senses[first] for first in are_nearest.int().argmax(dim=0).tolist()]

    def _vectors(self, sentences: Iterable[SenseSentence]) -> Iterable[tuple[Target, Tensor]]:
        """Yields each target with its vectors, of shape (mixes, dim) and type float64."""
        for batch in _batches(sentences):
            layers = self._embeds_words.embed([sentence.words for sentence in batch])
            for sentence, of_sentence in zip(batch, layers, strict=True):
                for target in sentence.targets:
                    of_words = of_sentence[:, target.first : target.first + target.length].double()
                    yield target, self._mixes.mix(of_words).mean(dim=1)


def _batches(sentences: Iterable[SenseSentence]) -> Iterable[list[SenseSentence]]:
    batch: list[SenseSentence] = []
    words = 0
    for sentence in sentences:
        if not sentence.targets:
            continue
        batch.append(sentence)
        words += len(sentence.words)
        if words >= WORDS_AT_ONCE:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


class SenseScore(NamedTuple):
    """
    name: what gave the senses, such as "LSTM 1" or "first sense"
    correct: the words that have a right sense
    answered: those that have a sense
    total: all
    """

    name: str
    correct: int
    answered: int
    total: int

    @property
    def f1(self) -> float:
        """Precision and recall combined, from 0 to 1."""
        return 2 * self.correct / (self.answered + self.total) if self.answered else 0.0


def score_senses(
    model: NearestSense,
    names: Sequence[str],
    sentences: Iterable[SenseSentence],
    first_senses: HasFirstSenses,
) -> list[SenseScore]:
    """
    Scores the senses of a corpus by each mix, where a lemma that was not trained on has its first sense; and
    the first sense of all words.

    # Parameters

    model : `NearestSense`
        After `fit`.
    names : `Sequence[str]`
        Those of the mixes.
    sentences : `Iterable[SenseSentence]`
        The corpus.
    first_senses : `HasFirstSenses`
        The first senses.

    # Returns

    `list[SenseScore]`
        That of the first sense, then those of the mixes.
    """
    correct = [0] * (1 + len(names))
    answered = [0] * (1 + len(names))
    total = 0
    for target, found in model.predict(sentences):
        first = first_senses.get(target.entry)
        total += 1
        of_mixes: Sequence[str | None] = found or [first] * len(names)
        for number, sense in enumerate([first, *of_mixes]):
            answered[number] += sense is not None
            correct[number] += sense in target.senses
    return [
        SenseScore(name, right, given, total)
        for name, right, given in zip(["first sense", *names], correct, answered, strict=True)
    ]
