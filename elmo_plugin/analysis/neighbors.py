"""The nearest neighbors of a word in its sentence (Peters et al., 2018, section 5.3, table 4)."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from elmo_plugin.analysis.representations import batches_of_words
from elmo_plugin.bilm import BiLm
from elmo_plugin.common.progress import progress_bar

WORDS_AT_ONCE = 10_000


class Occurrence(NamedTuple):
    """A word in its sentence, by its position there."""

    words: list[str]
    position: int

    def __str__(self) -> str:
        marked = list(self.words)
        marked[self.position] = f"[{marked[self.position]}]"
        return " ".join(marked)


class Neighbor(NamedTuple):
    """A word in its sentence, and the cosine of its vector with the vector of a query."""

    occurrence: Occurrence
    cosine: float


def nearest_words(
    bilm: BiLm, queries: Sequence[Occurrence], sentences: Sequence[list[str]], k: int, layer: int
) -> list[list[Neighbor]]:
    """
    Returns, for each query, the `k` words of the `sentences` whose vectors in a layer have the
    largest cosines with the query's vector. A sentence with the same words as the query's sentence
    is left out.
    """
    query_vectors = _query_vectors(bilm, queries, layer)
    cosines = _cosines(bilm, query_vectors, sentences, layer)
    nearest = []
    for query, cosines_of_query in zip(queries, cosines, strict=True):
        neighbors = words_by_cosine(sentences, cosines_of_query)
        in_other_sentences = (
            neighbor for neighbor in neighbors if neighbor.occurrence.words != query.words
        )
        nearest.append(list(islice(in_other_sentences, k)))
    return nearest


def _query_vectors(bilm: BiLm, queries: Sequence[Occurrence], layer: int) -> Tensor:
    """Returns the vector of each query in its sentence, shape (queries, dim)."""
    vectors = []
    for query in queries:
        (layers,) = bilm.embed([query.words])
        vectors.append(layers[layer, query.position])
    return torch.stack(vectors)


def _cosines(
    bilm: BiLm, query_vectors: Tensor, sentences: Sequence[list[str]], layer: int
) -> Tensor:
    """
    Returns the cosine of each query with each word of the sentences, shape (queries, words), and
    shows a progress bar.
    """
    query_directions = normalize(query_vectors, dim=-1)
    cosines_of_batches = []  # each of shape (queries, words of the batch)
    num_words = sum(len(sentence) for sentence in sentences)
    with progress_bar(total=num_words, unit=" words", unit_scale=True) as progress:
        for batch in batches_of_words(sentences, WORDS_AT_ONCE, len):
            word_vectors = torch.cat([layers[layer] for layers in bilm.embed(batch)])
            word_directions = normalize(word_vectors, dim=-1)
            cosines_of_batches.append(query_directions @ word_directions.t())
            progress.update(len(word_vectors))
    return torch.cat(cosines_of_batches, dim=1)


def words_by_cosine(sentences: Sequence[list[str]], cosines: Tensor) -> Iterator[Neighbor]:
    """
    Yields all words of the sentences in the order of their cosines, the largest first. `cosines`,
    shape (words,), is in the order of the text.
    """
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    # For each word of the text: the number of its sentence. Shape: (words,)
    sentence_numbers = torch.arange(len(sentences)).repeat_interleave(lengths)
    # For each sentence: how many words come before it. Shape: (sentences,)
    words_before = lengths.cumsum(dim=0) - lengths
    for word in cosines.argsort(descending=True).tolist():
        sentence = int(sentence_numbers[word])
        position = word - int(words_before[sentence])
        yield Neighbor(Occurrence(sentences[sentence], position), float(cosines[word]))
