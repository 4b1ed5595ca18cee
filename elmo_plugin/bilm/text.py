"""Raw text to words and their vectors: `BiLm.encode`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from torch import Tensor

from elmo_plugin.bilm.characters import check_words
from elmo_plugin.bilm.layers import Layers, select_layers
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules

POOLINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda vectors: vectors.mean(dim=-2),
    "max": lambda vectors: vectors.amax(dim=-2),
}


class EncodedText(NamedTuple):
    """
    words: the text's words, as the biLM reads them (see `normalize_text`)
    offsets: the first character of each word in the text as typed, and the one after its last; `None` for a
        list of words
    vectors: (num_layers, words, dim) for all layers, else (words, dim); pooled, without the words
    """

    words: list[str]
    offsets: list[tuple[int, int]] | None
    vectors: Tensor


def encode_texts(
    embed: Callable[[Sequence[Sequence[str]]], list[Tensor]],
    texts: Iterable[str | Sequence[str]],
    layers: Layers,
    pooling: str | None,
    batch_size: int,
    language: str,
) -> Iterator[EncodedText]:
    """Yields each text with its vectors, with one batch in memory, see `BiLm.encode`."""
    if not isinstance(texts, Iterable):
        check_words(texts)
    rest = iter([texts] if isinstance(texts, str) else texts)
    while batch := [split_text(text, language) for text in islice(rest, batch_size)]:
        embedded = embed([words for words, _ in batch])
        for (words, offsets), vectors in zip(batch, embedded, strict=True):
            selected = select_layers(vectors, layers)
            if pooling is not None:
                if not words:
                    raise BiLmError("cannot pool a text without words")
                selected = POOLINGS[pooling](selected)
            yield EncodedText(words, offsets, selected)


def split_text(text: str | Sequence[str], language: str) -> tuple[list[str], list[tuple[int, int]] | None]:
    """Returns the words of a text by spaCy's rules, and their offsets; a list of words unchanged."""
    if not isinstance(text, str):
        check_words(text)
        return list(text), None
    words = spacy_rules(language).words(text)
    return [word.text for word in words], [(word.start, word.end) for word in words]


@lru_cache(maxsize=8)
def spacy_rules(language: str) -> SpacyRules:
    return SpacyRules(language)
