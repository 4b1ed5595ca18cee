"""Counts of a corpus's words, from which a vocabulary is made and by which it is checked."""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice

import numpy as np
from allennlp.common.checks import ConfigurationError
from allennlp.data import Field, Instance, Vocabulary
from overrides import overrides

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, MAX_CHARACTERS_PER_TOKEN
from elmo_plugin.language_model.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    RESERVED_WORDS,
    CorpusChunk,
)
from elmo_plugin.language_model.corpus import Corpus

_MAKE = "make one with `allennlp elmo-vocab`"
_CHECKED_CHUNKS = 64
_CHECKED_WORDS = 1000
_MIN_SHARE_OF_FIRST_HALF = 0.8


def vocabulary_counts(corpus: Corpus) -> dict[str, int]:
    """Counts each word of the corpus, sentence boundaries included, in the order of first appearance."""
    counts: dict[str, int] = {}
    for chunk in _opened(corpus):
        for word, count in _counts(chunk):
            counts[word] = counts.get(word, 0) + count
    return counts


def counting_instances(corpus: Corpus, namespace: str = "words") -> Iterator[Instance]:
    """Yields one instance; `Vocabulary.from_instances` counts it like one for each sentence."""
    yield Instance({"words": _CountsField(vocabulary_counts(corpus), namespace)})


class _CountsField(Field):
    """Words that are counted already."""

    __slots__ = ["counts", "namespace"]

    def __init__(self, counts: dict[str, int], namespace: str) -> None:
        self.counts = counts
        self.namespace = namespace

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        words = counter[self.namespace]
        for word, count in self.counts.items():
            words[word] += count


def _opened(corpus: Corpus) -> Iterator[CorpusChunk]:
    return (files.open(MAX_CHARACTERS_PER_TOKEN) for files in corpus.chunks)


def _counts(chunk: CorpusChunk) -> Iterator[tuple[str, int]]:
    """Yields each word and its count, in the order of first appearance in the text with its boundaries."""
    first_sentence = chunk.types[: chunk.starts[1]]
    ends = np.flatnonzero(first_sentence == END_SENTENCE_TYPE)  # if `</S>` is a word of the text
    before_end = first_sentence[: ends[0]] if len(ends) > 0 else first_sentence
    first_after_end = max(before_end.max(initial=0) + 1, len(RESERVED_WORDS))
    order = [
        BEGIN_SENTENCE_TYPE,
        *range(len(RESERVED_WORDS), first_after_end),
        END_SENTENCE_TYPE,
        *range(first_after_end, len(chunk.words)),
    ]
    counts = chunk.counts.tolist()
    return ((chunk.words[number], counts[number]) for number in order)


def vocabulary_fingerprint(vocabulary: Vocabulary, namespace: str) -> str:
    """Digests the words in their order."""
    words = vocabulary.get_token_to_index_vocabulary(namespace)
    return blake2b("\n".join(sorted(words, key=words.__getitem__)).encode(), digest_size=16).hexdigest()


def check_vocabulary(vocabulary: Vocabulary, namespace: str, corpus: Corpus) -> None:
    """
    Raises `ConfigurationError` if the vocabulary lacks a special word, or if its words are not in the order
    of descending frequency, on which the sampled softmax relies. The first half of the numbers must have at
    least 80 % of the occurrences of known words: in alphabetical order it has about half of them, in the
    order of another text far more than 80 %. A small vocabulary may be in any order.
    """
    numbers = vocabulary.get_token_to_index_vocabulary(namespace)
    for word in (vocabulary._oov_token, BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN):
        if word not in numbers:
            raise ConfigurationError(f"the vocabulary lacks {word} in its namespace {namespace}; {_MAKE}")
    if len(numbers) < _CHECKED_WORDS:
        return
    unknown = numbers[vocabulary._oov_token]
    occurrences = np.zeros(len(numbers))
    for chunk in islice(_opened(corpus), _CHECKED_CHUNKS):
        type_numbers = chunk.vocabulary_numbers(numbers, unknown)
        occurrences += np.bincount(type_numbers, weights=chunk.counts, minlength=len(numbers))
    occurrences[[0, unknown]] = 0
    share = occurrences[: len(numbers) // 2].sum() / occurrences.sum()
    if share < _MIN_SHARE_OF_FIRST_HALF:
        raise ConfigurationError(
            f"the words in the vocabulary's namespace {namespace} are not in the order of descending "
            f"frequency: the first half has only {share:.0%} of their occurrences in the text; {_MAKE}"
        )
