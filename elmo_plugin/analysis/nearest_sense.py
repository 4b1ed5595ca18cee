"""
Word senses by their nearest mean vector (Melamud et al., 2016; Peters et al., 2018, section 5.3).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.analysis.representations import Representations, batches_of_words, num_words_in
from elmo_plugin.analysis.sense_corpus import LemmaKey, SenseSentence, Target

WORDS_AT_ONCE = 20_000
# The biLM computes in float32. Cosines that differ by less than this differ only by rounding.
ROUNDING = 1e-6


class NearestSense:
    """
    Chooses a word's sense among the senses that its lemma and part of speech have in a training
    corpus: the one whose mean vector has the largest cosine with the word's vector. A target of
    several words has the mean of their vectors.

    Of equally near senses the most frequent is chosen. In the token layer all senses of a single
    word are equally near, because the layer gives the word the same vector in every sentence.
    """

    def __init__(self, representations: Representations) -> None:
        self.representations = representations
        # How often each sense occurs in the training corpus.
        self._counts: dict[LemmaKey, Counter[str]] = defaultdict(Counter)
        # The sum of each sense's vectors. Its cosines are the same as those of their mean.
        self._sums: dict[LemmaKey, dict[str, Tensor]] = defaultdict(dict)

    def fit(self, sentences: Iterable[SenseSentence]) -> int:
        """Learns from the targets of a training corpus, and returns their number."""
        num_targets = 0
        for target, vectors in self._embed_targets(sentences):
            sums = self._sums[target.lemma_key]
            for sense in target.senses:
                if sense in sums:
                    sums[sense] = sums[sense] + vectors
                else:
                    sums[sense] = vectors
            self._counts[target.lemma_key].update(target.senses)
            num_targets += 1
        return num_targets

    def predict(
        self, sentences: Iterable[SenseSentence]
    ) -> Iterator[tuple[Target, list[str] | None]]:
        """
        Yields each target with a list of senses, the choice of each combination of layers, or with
        `None` if its lemma and part of speech are not in the training corpus.
        """
        for target, vectors in self._embed_targets(sentences):
            if target.lemma_key not in self._sums:
                yield target, None
                continue
            sums = self._sums[target.lemma_key]
            senses = [sense for sense, _ in self._counts[target.lemma_key].most_common()]
            # Shape: (senses, combinations, dim)
            sums_of_senses = torch.stack([sums[sense] for sense in senses])
            # Shape: (senses, combinations)
            similarity = torch.cosine_similarity(sums_of_senses, vectors, dim=2)
            is_nearest = similarity > similarity.amax(dim=0) - ROUNDING
            # `argmax` finds the first of the nearest senses. It is their most frequent one, because
            # the senses are in the order of their counts.
            chosen = is_nearest.int().argmax(dim=0)  # Shape: (combinations,)
            yield target, [senses[number] for number in chosen.tolist()]

    def _embed_targets(self, sentences: Iterable[SenseSentence]) -> Iterator[tuple[Target, Tensor]]:
        """
        Yields each target with a vector for each combination of layers, shape (combinations, dim),
        float64.
        """
        with_targets = (sentence for sentence in sentences if sentence.targets)
        for batch in batches_of_words(with_targets, WORDS_AT_ONCE, num_words_in):
            layers = self.representations.embed([sentence.words for sentence in batch])
            for sentence, sentence_layers in zip(batch, layers, strict=True):
                for target in sentence.targets:
                    end = target.first + target.length
                    layers_of_target = sentence_layers[:, target.first : end].double()
                    # Shape: (combinations, words, dim)
                    combined = self.representations.combine(layers_of_target)
                    yield target, combined.mean(dim=1)


class SenseScore(NamedTuple):
    """The counts of one method: correct senses, targets with a sense, and all targets."""

    name: str  # the method, such as "LSTM 1" or "first sense"
    correct: int
    answered: int
    total: int

    @property
    def f1(self) -> float:
        """The harmonic mean of correct / answered and correct / total, from 0 to 1."""
        if self.answered == 0:
            return 0.0
        return 2 * self.correct / (self.answered + self.total)


def score_senses(
    model: NearestSense,
    sentences: Iterable[SenseSentence],
    first_sense: Callable[[LemmaKey], str | None],
) -> list[SenseScore]:
    """
    Scores several methods on a corpus: the baseline that always takes the first sense of a lemma in
    a dictionary, then the nearest sense by each combination of layers. `first_sense` looks up the
    dictionary, and returns `None` if it does not have the lemma.
    """
    methods = ["first sense", *model.representations.combinations]
    correct: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    total = 0
    for target, nearest in model.predict(sentences):
        total += 1
        first = first_sense(target.lemma_key)
        senses: list[str | None]  # the answer of each method
        if nearest is None:  # without training data, every method falls back on the first sense
            senses = [first] * len(methods)
        else:
            senses = [first, *nearest]
        for method, sense in zip(methods, senses, strict=True):
            if sense is not None:
                answered[method] += 1
            if sense in target.senses:
                correct[method] += 1
    return [SenseScore(method, correct[method], answered[method], total) for method in methods]
