"""Around the biLM in `BiLm.encode`: raw text to words, all layers to the chosen ones, words to
texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypedDict

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.bilm.encoded_text import EncodedText
from elmo_plugin.bilm.inputs import as_words, check_no_texts
from elmo_plugin.bilm.layers import Layers, select_layers
from elmo_plugin.bilm.word_frequencies import inverse_frequency_weights
from elmo_plugin.common.errors import BiLmError, check_at_least, check_choice
from elmo_plugin.common.formats.fasta import residues
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import Word


def _mean_of_words(vectors: Tensor, words: Sequence[str]) -> Tensor:
    return vectors.mean(dim=-2)


def _max_of_words(vectors: Tensor, words: Sequence[str]) -> Tensor:
    return vectors.amax(dim=-2)


def _first_word(vectors: Tensor, words: Sequence[str]) -> Tensor:
    return vectors[..., 0, :]


def _mean_by_frequency(vectors: Tensor, words: Sequence[str]) -> Tensor:
    """
    Returns the mean of the words' vectors after each was multiplied by its "smooth inverse
    frequency", a / (a + p(word)). As in Arora et al. (2017), the sum is divided by the number of
    words, not by the sum of the weights.
    """
    weights = inverse_frequency_weights(words).to(vectors)  # Shape: (words,)
    return (weights[:, None] * vectors).mean(dim=-2)


# From the vectors of a text's words, shape (..., words, dim), and the words to one vector, shape
# (..., dim).
POOLINGS: dict[str, Callable[[Tensor, Sequence[str]], Tensor]] = {
    "mean": _mean_of_words,
    "max": _max_of_words,
    "first": _first_word,
    "sif": _mean_by_frequency,
}
TOKENIZERS = ("whitespace", "spacy", "letters")
OUTPUTS = ("torch", "numpy")

Tokenizer = str | Callable[[str], Iterable[Any]]


class EncodeOptions(TypedDict, total=False):
    """The options of `BiLm.encode` that the type of its result does not depend on."""

    layers: Layers | None
    batch_size: int
    tokenizer: Tokenizer
    language: str
    show_progress_bar: bool


class WordOptions(EncodeOptions, total=False):
    """The options with which `BiLm.encode` returns a vector for each word."""

    pooling: None


class TextOptions(EncodeOptions):
    """The options with which `BiLm.encode` returns a vector for each text."""

    pooling: str


def check_encoding(
    pooling: str | None,
    output: str,
    tokenizer: Tokenizer,
    batch_size: int,
    language: str = "en",
) -> None:
    """Raises `BiLmError` if these are not options of `BiLm.encode`."""
    check_choice("pooling", pooling, (None, *POOLINGS))
    if pooling == "sif" and language != "en":
        raise BiLmError(
            f'pooling: "sif" knows how often English words occur, not those of {language!r}; take '
            '"mean"'
        )
    check_choice("output", output, OUTPUTS)
    if not callable(tokenizer):
        check_choice("tokenizer", tokenizer, TOKENIZERS)
    check_at_least("batch_size", batch_size, least=1)


def is_single_text(texts: Any) -> bool:
    """Returns whether `texts` is one text: a string, or a document of spaCy (it has a `text`)."""
    return isinstance(getattr(texts, "text", texts), str)


def encode_texts(
    vectors_of_texts: Callable[[list[list[str]]], list[Any]],
    texts: Iterable[Any],
    tokenizer: Tokenizer,
    language: str,
    batch_size: int,
) -> Iterator[EncodedText[Any]]:
    """
    Yields each text with its words and their vectors. `vectors_of_texts` computes the vectors of
    several texts from their words. Only one batch is in memory at a time.
    """
    numbered_texts = enumerate(texts)
    while True:
        batch = []
        for number, text in islice(numbered_texts, batch_size):
            batch.append(split_text(text, f"texts[{number}]", tokenizer, language))
        if not batch:  # the texts have been read to their end
            return
        all_vectors = vectors_of_texts([words for words, _ in batch])
        for (words, offsets), vectors in zip(batch, all_vectors, strict=True):
            yield EncodedText(words, offsets, vectors)


def split_text(
    text: Any, place: str, tokenizer: Tokenizer, language: str
) -> tuple[list[str], list[tuple[int, int]] | None]:
    """
    Returns the words of a text, and the offsets of each word: its beginning and its end in the
    text. The offsets are `None` if the text is already a list of words or tokens, or if a function
    of the user splits it. Errors begin with `place`.
    """
    if hasattr(text, "as_py"):  # a value of a column of Arrow
        text = text.as_py()
    if not isinstance(text, str):
        words = as_words(text, place, "a text or a list of words")
        check_no_texts(words, place)
        return words, None
    text = str(text)  # because spaCy refuses subclasses of str, such as numpy's strings
    _check_no_surrogates(text, place)
    if callable(tokenizer):
        return as_words(tokenizer(text), f"tokenizer({place})"), None
    tokenize = make_tokenizer(tokenizer, language)
    found_words = tokenize(text)
    offsets = [(word.start, word.end) for word in found_words]
    return [word.text for word in found_words], offsets


def _check_no_surrogates(text: str, place: str) -> None:
    """
    Raises `BiLmError`, beginning with `place`, if a text contains half of a character, such as
    "\\ud83d" in JSON: UTF-8 cannot represent it.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BiLmError(
            f"{place}: {text[error.start]!a} is half of a character (a surrogate)"
        ) from None


@lru_cache(maxsize=8)
def make_tokenizer(name: str, language: str) -> Callable[[str], list[Word]]:
    """
    Returns a function that splits a text into words: at "whitespace" only, by the rules of "spacy"
    for the language, or into the "letters" of a protein. Raises `BiLmError` if spaCy is not
    installed or does not know the language.
    """
    if name == "spacy":
        return SpacyRules(language).words
    if name == "letters":
        return residues
    return _between_spaces


def _between_spaces(text: str) -> list[Word]:
    return [Word(match[0], match.start(), match.end()) for match in re.finditer(r"\S+", text)]


def default_layers(pooling: str | None) -> Layers:
    """
    Returns the layers that are taken for a pooling if none are given. For "sif" it is the token
    layer, with which texts of similar meaning are most alike (`benchmarks/similarity.py`).
    """
    if pooling == "sif":
        return "token"
    return "mean"


def select_vectors(
    vectors: Tensor, words: Sequence[str], layers: Layers, pooling: str | None, output: str
) -> Any:
    """
    Selects layers and pools words. Without words, the pooled vector is zeros. The result is a copy,
    because the vectors may belong to a cache or to a large batch.
    """
    selected = select_layers(vectors, layers)
    if pooling is not None:
        num_words = selected.size(-2)
        if num_words == 0:
            selected = selected.sum(dim=-2)  # a sum of nothing is zeros
        else:
            selected = POOLINGS[pooling](selected, words)
    selected = selected.clone()
    if output == "numpy":
        return selected.numpy(force=True)
    return selected


def cosine_similarities(first: Any, second: Any) -> Any:
    """Returns the cosine of each vector of `first` with each vector of `second`."""
    try:
        first_rows = _as_matrix(first)
        second_rows = _as_matrix(second).to(first_rows)  # perhaps they are on different devices
        first_directions = nn.functional.normalize(first_rows)
        second_directions = nn.functional.normalize(second_rows)
        cosines = first_directions @ second_directions.T
    except (TypeError, ValueError, RuntimeError, IndexError):
        got = f"{_shape_or_text(first)} and {_shape_or_text(second)}"
        raise BiLmError(
            'similarity: expected vectors of one size, as encode(texts, pooling="mean") returns, '
            f"got {got}"
        ) from None
    if not cosines.isfinite().all():
        raise BiLmError("similarity: a vector has NaN or an infinite number in it")
    are_arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    if are_arrays:
        return cosines.numpy(force=True)
    return cosines


def _shape_or_text(vectors: Any) -> str:
    """Returns the shape of a tensor or an array; of anything else, the beginning of its text."""
    return str(getattr(vectors, "shape", None) or f"{vectors!r:.40}")


def _as_matrix(vectors: Any) -> Tensor:
    """
    Returns one vector or several as a matrix, shape (vectors, dim). Raises one of torch's errors,
    or a `ValueError` without a message, if they are anything else.
    """
    if isinstance(vectors, list | tuple):
        vectors = torch.stack([torch.as_tensor(vector) for vector in vectors])
    rows = torch.atleast_2d(torch.as_tensor(vectors)).float()
    if rows.dim() != 2:
        raise ValueError  # the caller writes the message
    return rows
