"""spaCy's pipeline component `elmo`: the vectors of a document's words, in `doc._.elmo`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import srsly
from spacy.attrs import IDX
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.util import minibatch
from thinc.util import get_torch_default_device

from elmo_plugin.common.typography import normalize_text

if TYPE_CHECKING:
    from elmo_plugin.integrations.word_vectors import WordVectors


@Language.factory(
    "elmo",
    assigns=["doc._.elmo", "span._.elmo", "token._.elmo", "token.vector"],
    default_config={"bilm": "base", "layers": "mean", "vectors": True, "precision": "float32"},
)
def make_elmo(
    nlp: Language,
    name: str,
    bilm: str | dict[str, str],
    layers: int | str | list[float],
    vectors: bool,
    precision: str,
) -> "ElmoComponent":
    """
    Makes the component, see `WordVectors` and `ElmoComponent`. spaCy imports this file for any
    pipeline, so torch is imported only here.
    """
    from elmo_plugin.integrations.word_vectors import WordVectors

    return ElmoComponent(WordVectors(bilm, layers, precision), vectors)


class ElmoComponent:
    """
    Embeds the tokens of a document, each sentence separately if an earlier component sets
    boundaries. `doc._.elmo` is a numpy array of shape (words, dim), or (num_layers, words, dim) for
    `layers="all"`, and `None` after tokens were merged or split. `span._.elmo` and `token._.elmo`
    are parts of it. White space is not a word: its rows are zeros.

    With `vectors`, if the layers are not "all", `vector`, `has_vector` and `similarity` of tokens,
    spans and documents are ELMo's: a span or a document has the mean of its words.
    """

    def __init__(self, word_vectors: "WordVectors", vectors: bool = True) -> None:
        self.word_vectors = word_vectors
        self.vectors = vectors and word_vectors.layers != "all"

    def __call__(self, doc: Doc) -> Doc:
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Yields the documents with their vectors, computed for `batch_size` of them together."""
        for docs in minibatch(stream, batch_size):
            self._annotate(docs)
            yield from docs

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Returns the biLM, to be stored with the pipeline."""
        return bilm_to_bytes(self.word_vectors)

    def from_bytes(self, content: bytes, *, exclude: Sequence[str] = ()) -> "ElmoComponent":
        """Restores the biLM that `to_bytes` returned."""
        bilm_from_bytes(self.word_vectors, content)
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Writes the biLM to a file of the pipeline."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> "ElmoComponent":
        """Reads the biLM that `to_disk` wrote."""
        return self.from_bytes(Path(path).read_bytes())

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Embeds documents together, and stores the vectors in them."""
        sentences = [_sentences(doc) for doc in docs]
        for doc, array in zip(docs, embed_sentences(self.word_vectors, sentences), strict=True):
            starts = doc.to_array([IDX])  # the index of each token's first character
            doc.user_data[_key(doc)] = (starts, array)
            if self.vectors:
                doc.tensor = array  # spaCy takes its rows along to other documents and processes
                for hooks in (doc.user_token_hooks, doc.user_span_hooks, doc.user_hooks):
                    hooks["vector"] = _vector
                    hooks["has_vector"] = _has_vector
                    hooks["similarity"] = _similarity


def _key(doc: Doc) -> Any:
    """
    Returns the key, in a document's user data, of a pair: where its tokens began when their vectors
    were made, and the vectors.
    """
    # As the keys of spaCy's extensions: a name, and the characters from 0 to the end.
    return "._.", "elmo", 0, len(doc.text)


def get_vectors(item: Doc | Span | Token) -> np.ndarray | None:
    """
    Returns the vectors of all tokens of a document or a span, or the vector of a token. `None` if
    no `ElmoComponent` has made them, or if tokens were merged or split since.
    """
    if isinstance(item, Doc):
        doc = item
    else:
        doc = item.doc
    if _key(doc) not in doc.user_data:
        return None
    starts, vectors = doc.user_data[_key(doc)]
    if not np.array_equal(starts, doc.to_array([IDX])):  # tokens were merged or split
        return None
    if isinstance(item, Token):
        return vectors[..., item.i, :]
    if isinstance(item, Span):
        return vectors[..., item.start : item.end, :]
    return vectors


# Makes `doc._.elmo`, `span._.elmo` and `token._.elmo`.
for kind in (Doc, Span, Token):
    kind.set_extension("elmo", getter=get_vectors, force=True)


def _vector(item: Doc | Span | Token) -> np.ndarray:
    """Returns the vector of a token, or the mean of the vectors of all words."""
    if isinstance(item, Token):
        return item.doc.tensor[item.i]
    if isinstance(item, Span):
        rows = item.doc.tensor[item.start : item.end]
    else:
        rows = item.tensor
    is_word = rows.any(axis=1)  # the rows of white space are zeros
    words = rows[is_word]
    if len(words) == 0:
        return np.zeros(rows.shape[1], np.float32)
    return words.mean(axis=0)


def _has_vector(item: Doc | Span | Token) -> bool:
    """Returns whether the vector of a token, span or document is not zero."""
    return bool(_vector(item).any())


def _similarity(one: Doc | Span | Token, other: Doc | Span | Token) -> float:
    """Returns the cosine of two vectors, 0 if one of them is zero."""
    a = np.asarray(one.vector)
    b = np.asarray(other.vector)
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    if norms == 0:
        return 0.0
    return float(a @ b / norms)


def bilm_to_bytes(word_vectors: "WordVectors") -> bytes:
    """Returns the biLM in msgpack: spaCy stores everything else in this format."""
    # Imported here because it imports torch, see `make_elmo`.
    from safetensors.torch import save

    bilm = word_vectors.bilm
    weights = {name: weight.cpu().contiguous() for name, weight in bilm.state_dict().items()}
    return srsly.msgpack_dumps({"options": bilm.options.to_dict(), "weights": save(weights)})


def bilm_from_bytes(word_vectors: "WordVectors", content: bytes) -> None:
    """
    Uses the biLM that `bilm_to_bytes` stored. Raises `BiLmError` if it has NaN or infinite numbers.
    """
    # Imported here because they import torch, see `make_elmo`.
    from safetensors.torch import load

    from elmo_plugin.bilm import BiLm, BiLmOptions
    from elmo_plugin.common.formats.torch_files import check_all_finite

    stored = srsly.msgpack_loads(content)
    weights = load(stored["weights"])
    check_all_finite(weights.items(), "the stored biLM")
    options = BiLmOptions.from_dict(stored["options"])
    word_vectors.bilm = BiLm(options, precision=word_vectors.precision, weights=weights.items())


def embed_sentences(
    word_vectors: "WordVectors", documents: Sequence[Sequence[Sequence[str]]]
) -> list[np.ndarray]:
    """
    Returns the vectors of the tokens of each document, see `WordVectors.embed`. A document is a
    list of one or more sentences, which may be empty. Tokens are read as `BiLm.encode` reads a
    text: typographic characters as ASCII, without white space; a token of white space only gets
    zeros. The biLM computes where spaCy does: on the GPU after `spacy.require_gpu()`.
    """
    word_vectors.to(str(get_torch_default_device()))
    # For each sentence of all documents: its tokens, where white space is an empty string, and its
    # words, without the empty strings.
    tokens = []
    words = []
    for document in documents:
        for sentence in document:
            normalized = [normalize_text(token).strip() for token in sentence]
            tokens.append(normalized)
            words.append([token for token in normalized if token])
    vectors_of_sentences = []
    for embedded, sentence_tokens in zip(word_vectors.embed(words), tokens, strict=True):
        vectors_of_sentences.append(_with_zeros(embedded, sentence_tokens))
    vectors_of_documents = []
    start = 0  # the first sentence of the document
    for document in documents:
        stop = start + len(document)
        vectors_of_documents.append(np.concatenate(vectors_of_sentences[start:stop], axis=-2))
        start = stop
    return vectors_of_documents


def _with_zeros(vectors: np.ndarray, tokens: Sequence[str]) -> np.ndarray:
    """
    Returns a row for each token: the vectors of words in their order, and zeros for empty tokens.
    """
    rows = np.zeros((*vectors.shape[:-2], len(tokens), vectors.shape[-1]), vectors.dtype)
    positions = [position for position, token in enumerate(tokens) if token]
    rows[..., positions, :] = vectors
    return rows


def _sentences(doc: Doc) -> list[list[str]]:
    """
    Returns the tokens of each sentence; a document without sentence boundaries is one sentence.
    """
    spans: Iterable[Doc | Span] = [doc]
    # spaCy says that an empty document has all annotations, but it has zero sentences.
    if len(doc) > 0 and doc.has_annotation("SENT_START"):
        spans = doc.sents
    return [[token.text for token in span] for span in spans]
