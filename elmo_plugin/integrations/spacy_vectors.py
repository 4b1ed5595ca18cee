"""The vectors of a document's words in `doc._.elmo`; they follow the words through spaCy's operations.

`span._.elmo` has the vectors of a span, `token._.elmo` of one word.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, Span, Token


def store_vectors(doc: Doc, vectors: np.ndarray) -> None:
    """
    Stores the vectors of all words, shape (..., words, dim), with the position of each word in the text.

    They are stored in the document's user data under the key of a span over the whole text. spaCy moves it
    when a span becomes a document (`Span.as_doc`) or documents are joined (`Doc.from_docs`).
    """
    user_data: dict[Any, Any] = doc.user_data
    for text in list(_embedded_texts(doc)):
        del user_data["._.", "elmo", text.start, text.end]
    starts, _ = _positions(doc)
    user_data["._.", "elmo", 0, len(doc.text)] = (starts, vectors)


def get_vectors(doc: Doc) -> np.ndarray | None:
    """
    Returns the vectors of the present tokens, shape (..., tokens, dim), or `None` if some have no vector. A
    merged token has the mean of its words; each part of a split token has the vector of the whole.
    """
    parts = [_of_tokens(*_positions(doc), text) for text in _embedded_texts(doc)]
    vectors = np.concatenate(parts, axis=-2) if len(parts) > 1 else next(iter(parts), None)
    return vectors if vectors is not None and vectors.shape[-2] == len(doc) else None


def get_span_vectors(span: Span) -> np.ndarray | None:
    """Returns the vectors of a span's tokens, shape (..., tokens, dim), or `None` as `get_vectors` does."""
    vectors = get_vectors(span.doc)
    return None if vectors is None else vectors[..., span.start : span.end, :]


def get_token_vector(token: Token) -> np.ndarray | None:
    """Returns the vector of a token, shape (..., dim), or `None` if it has none."""
    start, end = np.array([token.idx]), np.array([token.idx + len(token)])
    for text in _embedded_texts(token.doc):
        rows = _of_tokens(start, end, text)
        if rows.shape[-2]:
            return rows[..., 0, :]
    return None


Doc.set_extension("elmo", getter=get_vectors, force=True)
Span.set_extension("elmo", getter=get_span_vectors, force=True)
Token.set_extension("elmo", getter=get_token_vector, force=True)


def set_hooks(doc: Doc) -> None:
    """Makes `vector`, `has_vector` and `similarity` of a document, its spans and its tokens use ELMo."""
    doc.tensor = _all_vectors(doc)  # token.vector reads it in processes that the hooks do not reach
    for hooks, vector in (
        (doc.user_token_hooks, _token_vector),
        (doc.user_span_hooks, _span_vector),
        (doc.user_hooks, _doc_vector),
    ):
        hooks.update(vector=vector, has_vector=_has_vector, similarity=_similarity)


class _EmbeddedText(NamedTuple):
    """
    start, end: its position in the document's text
    words: the start of each of its words, relative to `start`
    vectors: of its words, shape (..., words, dim)
    """

    start: int
    end: int
    words: np.ndarray
    vectors: np.ndarray


def _embedded_texts(doc: Doc) -> Iterator[_EmbeddedText]:
    user_data: dict[Any, Any] = doc.user_data
    for key, value in user_data.items():
        if isinstance(key, tuple) and key[:2] == ("._.", "elmo"):
            yield _EmbeddedText(*key[2:], *value)


def _positions(doc: Doc) -> tuple[np.ndarray, np.ndarray]:
    """Returns the start and the end of each token in the text."""
    positions = doc.to_array([IDX, LENGTH]).astype(np.int64).reshape(len(doc), 2)
    return positions[:, 0], positions.sum(axis=1)


def _of_tokens(starts: np.ndarray, ends: np.ndarray, text: _EmbeddedText) -> np.ndarray:
    """Returns the vectors of the tokens that lie in the text."""
    words, vectors = text.words + text.start, text.vectors
    if np.array_equal(starts, words):
        return vectors
    is_inside = (starts >= text.start) & (ends <= text.end)
    first = np.searchsorted(words, starts[is_inside], side="right") - 1
    last = np.maximum(np.searchsorted(words, ends[is_inside], side="left"), first + 1)
    rows = [vectors[..., a:b, :].mean(axis=-2) for a, b in zip(first, last, strict=True)]
    return np.stack(rows, axis=-2) if rows else vectors[..., :0, :]


def _token_vector(token: Token) -> np.ndarray:
    vector = get_token_vector(token)
    return token.doc.tensor[token.i] if vector is None else vector


def _span_vector(span: Span) -> np.ndarray:
    vectors = _all_vectors(span.doc)
    # `Span.as_doc` asks for this vector, drops the user data and copies rows of doc.tensor, where spaCy has
    # put other rows for merged and split tokens. A tensor of another width is not ELMo's.
    if span.doc.tensor.shape[1:] == vectors.shape[1:]:
        span.doc.tensor = vectors
    return _mean(vectors[span.start : span.end])


def _doc_vector(doc: Doc) -> np.ndarray:
    return _mean(_all_vectors(doc))


def _all_vectors(doc: Doc) -> np.ndarray:
    vectors = get_vectors(doc)
    return doc.tensor if vectors is None else vectors


def _mean(rows: np.ndarray) -> np.ndarray:
    return rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)


def _has_vector(_: Doc | Span | Token) -> bool:
    return True


def _similarity(one: Doc | Span | Token, other: Any) -> float:
    """Returns the cosine of two vectors, 0 if one of them is zero."""
    a, b = np.asarray(one.vector), np.asarray(other.vector)
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norms) if norms else 0.0
