"""Around the biLM in `BiLm.encode`: raw text to words, all layers to the chosen ones, words to
texts.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypedDict, TypeGuard, cast

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.bilm.encoded_text import EncodedText
from elmo_plugin.bilm.inputs import as_words, check_no_texts
from elmo_plugin.bilm.word_frequencies import inverse_frequency_weights
from elmo_plugin.common.errors import BiLmError, check_at_least, check_choice
from elmo_plugin.common.formats.fasta import residues
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import Word

Layers = str | int | Sequence[float]
LAYER_NAMES = ("all", "mean", "sum", "top", "token")
_SUM_TOLERANCE = 0.01  # for the sum of rounded weights, such as three times 0.333


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


def layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """
    Returns the numbers of the layers that a learned mix weighs; 0 is the token layer.

    Raises `BiLmError` for anything but "all", "top", "token", a layer's number or a list of such
    numbers.
    """
    # "mean" and "sum" are no choice here, because the mix learns its weights.
    named = {"all": list(range(num_layers)), "top": [num_layers - 1], "token": [0]}
    if isinstance(layers, str) and layers in named:
        return named[layers]
    numbers: list[Any] = list(layers) if isinstance(layers, list | tuple) else [layers]
    are_layers = all(is_layer(number, num_layers) for number in numbers)
    if not are_layers or not numbers or len(set(numbers)) < len(numbers):
        raise BiLmError(
            f'layers: expected "all", "top", "token", a layer from 0 to {num_layers - 1} or a '
            f"list of different such layers, got {layers!r}"
        )
    return numbers


def is_layer(value: Any, num_layers: float) -> bool:
    """Returns whether a value is the number of one of the `num_layers` layers."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return 0 <= int(value) < num_layers


def check_layers(layers: Layers, num_layers: int | None = None) -> None:
    """
    Raises `BiLmError` unless `select_layers` accepts the layers. `num_layers` is `None` as long as
    the biLM is not known.
    """
    if _are_weights(layers):
        mixing_weights(layers, num_layers)  # called only for its check
        return
    if num_layers is None:
        is_number = is_layer(layers, math.inf)
        expected_number = "a layer's number"
    else:
        is_number = is_layer(layers, num_layers)
        expected_number = f"a layer's number from 0 to {num_layers - 1}"
    is_name = isinstance(layers, str) and layers in LAYER_NAMES
    if not is_name and not is_number:
        raise BiLmError(
            f"layers: expected {', '.join(LAYER_NAMES)}, {expected_number} or a weight for each "
            f"layer, got {layers!r}"
        )


def select_layers(vectors: Tensor, layers: Layers) -> Tensor:
    """
    Selects `layers` from the vectors of all layers, shape (num_layers, ..., dim).

    "all" returns all layers, "mean" their average, "sum" their sum, "top" the last layer and
    "token" the first. A number returns that layer. A list with a weight for each layer returns
    their weighted average. The shape of the result is (..., dim), except for "all".
    """
    check_layers(layers, len(vectors))
    if _are_weights(layers):
        weights = vectors.new_tensor(mixing_weights(layers, len(vectors)))
        return torch.tensordot(weights, vectors, dims=1)
    if layers == "all":
        return vectors
    if layers == "mean":
        return vectors.mean(dim=0)
    if layers == "sum":
        return vectors.sum(dim=0)
    if layers == "top":
        return vectors[-1]
    if layers == "token":
        return vectors[0]
    return vectors[cast(int, layers)]


def _are_weights(layers: Any) -> TypeGuard[Sequence[float]]:
    """Returns whether these are weights, in a list, an array or a tensor, instead of a layer."""
    return isinstance(layers, list | tuple) or getattr(layers, "ndim", 0) == 1


def mixing_weights(weights: Sequence[float], num_layers: int | None = None) -> list[float]:
    """
    Returns the weights of layers, given as a list, an array or a tensor. They are divided by their
    sum, so that rounded weights have the sum 1 too.

    Raises `BiLmError` unless there is a weight for each layer, none is negative, and their sum is
    about 1.
    """
    if isinstance(weights, np.ndarray | Tensor):
        weights = weights.tolist()
    # NaN is refused too, because `weight >= 0` is false for it.
    are_weights = all(isinstance(weight, Real) and weight >= 0 for weight in weights)
    is_one_per_layer = num_layers is None or len(weights) == num_layers
    if not are_weights or not is_one_per_layer or abs(sum(weights) - 1) > _SUM_TOLERANCE:
        expected = "numbers"
        if num_layers is not None:
            expected = f"{num_layers} numbers"
        raise BiLmError(
            f"mixing weights: expected {expected}, one for each layer, not negative and of sum 1, "
            f"got {list(weights)}"
        )
    total = sum(weights)
    return [float(weight) / total for weight in weights]
