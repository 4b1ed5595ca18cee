"""Counts of a corpus's words, and the files of a vocabulary made from them. AllenNLP is not needed."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from elmo_plugin.bilm import MAX_CHARACTERS_PER_TOKEN
from elmo_plugin.language_model.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    RESERVED_WORDS,
    CorpusChunk,
)
from elmo_plugin.language_model.corpus import Corpus

NAMESPACE = "words"
PADDING_WORD = "@@PADDING@@"  # of AllenNLP's vocabularies, in row 0
UNKNOWN_WORD = "@@UNKNOWN@@"


def vocabulary_counts(corpus: Corpus) -> dict[str, int]:
    """Counts each word of the corpus, sentence boundaries included, in the order of first appearance."""
    counts: dict[str, int] = {}
    for chunk in opened_chunks(corpus):
        for word, count in _counts(chunk):
            counts[word] = counts.get(word, 0) + count
    return counts


def opened_chunks(corpus: Corpus) -> Iterator[CorpusChunk]:
    """Opens the chunks, one after the other."""
    return (files.open(MAX_CHARACTERS_PER_TOKEN) for files in corpus.chunks)


def _counts(chunk: CorpusChunk) -> Iterator[tuple[str, int]]:
    """Yields each word and its count, in the order of first appearance in the text with its boundaries."""
    first_sentence = chunk.types[: chunk.starts[1]]
    first_after_end = max(first_sentence.max(initial=0) + 1, len(RESERVED_WORDS))
    order = [
        BEGIN_SENTENCE_TYPE,
        *range(len(RESERVED_WORDS), first_after_end),
        END_SENTENCE_TYPE,
        *range(first_after_end, len(chunk.words)),
    ]
    counts = chunk.counts.tolist()
    return ((chunk.words[number], counts[number]) for number in order)


def frequent_words(counts: Mapping[str, int], min_count: int, max_size: int | None) -> list[str]:
    """Returns the words in the order of descending frequency, as `Vocabulary` chooses them."""
    by_frequency = sorted(counts, key=counts.__getitem__, reverse=True)[:max_size]
    special = (PADDING_WORD, UNKNOWN_WORD)  # they may also be in the text
    return [word for word in by_frequency if counts[word] >= min_count and word not in special]


def write_vocabulary(words: list[str], folder: Path) -> None:
    """Writes the files of a `Vocabulary`."""
    folder.mkdir()
    lines = {NAMESPACE: [UNKNOWN_WORD, *words], "non_padded_namespaces": ["*labels", "*tags"]}
    for name, content in lines.items():
        text = "".join(f"{line}\n" for line in content)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
