"""Word senses by their nearest mean vector (Melamud et al., 2016; Peters et al., 2018, section 5.3)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from elmo_plugin.analysis.senses.corpus import SenseSentence, Target
from elmo_plugin.analysis.subjects import EmbedsWords

WORDS_AT_ONCE = 20_000


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
    mixes : `Tensor`
        The weights of the layers in each of the vectors that senses are told by. Shape (mixes, num_layers).
    """

    def __init__(self, vectors: EmbedsWords, mixes: Tensor) -> None:
        self._embeds_words = vectors
        self._mixes = mixes
        self._sums: dict[tuple[str, str], dict[str, Tensor]] = defaultdict(dict)
        self._means: dict[tuple[str, str], tuple[list[str], Tensor]] = {}

    def fit(self, sentences: Iterable[SenseSentence]) -> int:
        """Adds the words of a training corpus. Returns how many there are."""
        count = 0
        for target, vectors in self._vectors(sentences):
            senses = self._sums[target.entry]
            for sense in target.senses:
                senses[sense] = senses[sense] + vectors if sense in senses else vectors
            count += 1
        self._means = {
            # The mean and the sum have the same direction. Shape: (senses, mixes, dim)
            entry: (list(senses), torch.stack(list(senses.values())))
            for entry, senses in self._sums.items()
        }
        return count

    def predict(self, sentences: Iterable[SenseSentence]) -> Iterable[tuple[Target, list[str] | None]]:
        """
        Yields each word with its sense by each of the mixes, or `None` for a lemma that the training corpus
        does not have.
        """
        for target, vectors in self._vectors(sentences):
            if target.entry not in self._means:
                yield target, None
                continue
            senses, means = self._means[target.entry]
            similarity = torch.cosine_similarity(means, vectors, dim=2)  # Shape: (senses, mixes)
            yield target, [senses[best] for best in similarity.argmax(dim=0).tolist()]

    def _vectors(self, sentences: Iterable[SenseSentence]) -> Iterable[tuple[Target, Tensor]]:
        """Yields each target with its vectors, of shape (mixes, dim)."""
        for batch in _batches(sentences):
            layers = self._embeds_words.embed([sentence.words for sentence in batch])
            for sentence, of_sentence in zip(batch, layers, strict=True):
                for target in sentence.targets:
                    of_target = of_sentence[:, target.first : target.first + target.length].mean(dim=1)
                    yield target, self._mixes @ of_target


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
