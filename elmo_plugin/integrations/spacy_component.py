"""spaCy's pipeline component `elmo`: the vectors of a document's words, in `doc._.elmo`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
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
    """Makes the component. See `WordVectors` and `ElmoComponent` for the settings."""
    # Imported here because it imports torch: spaCy imports this file for every pipeline, also for
    # those that do not use ELMo.
    from elmo_plugin.integrations.word_vectors import WordVectors

    return ElmoComponent(WordVectors(bilm, layers, precision), vectors)


class ElmoComponent:
    """
    Embeds the tokens of a document, each sentence separately if an earlier component sets the
    boundaries of sentences. `doc._.elmo` is a numpy array of shape (words, dim), or (num_layers,
    words, dim) for `layers="all"`. It is `None` after tokens were merged or split. `span._.elmo`
    and `token._.elmo` are parts of it. Tokens of white space are embedded as zeros.

    If `vectors` is true, spaCy's `vector`, `has_vector` and `similarity` of tokens, spans and
    documents are computed from these vectors. The vector of a span or document is the mean of its
    words' vectors. With `layers="all"` a token does not have a single vector, so `vectors` is
    ignored.
    """

    def __init__(self, word_vectors: "WordVectors", vectors: bool) -> None:
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
            # The index of each token's first character shows whether tokens were merged or split.
            starts = doc.to_array([IDX])
            doc.user_data[_user_data_key(doc)] = (starts, array)
            if self.vectors:
                # spaCy keeps the rows of the tensor when it copies, divides or joins documents, and
                # when it sends them to other processes.
                doc.tensor = array
                for hooks in (doc.user_token_hooks, doc.user_span_hooks, doc.user_hooks):
                    hooks["vector"] = _vector
                    hooks["has_vector"] = _has_vector
                    hooks["similarity"] = _similarity


def _user_data_key(doc: Doc) -> Any:
    """
    Returns the key under which a document's user data contain its vectors, together with the
    indices where the embedded tokens start.
    """
    # This is how spaCy stores an extension's value for the characters from 0 to the end. When it
    # divides or joins documents it shifts these numbers, so `get_vectors` does not find the vectors
    # of other tokens under the key of the new document.
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
    key = _user_data_key(doc)
    if key not in doc.user_data:
        return None
    starts, vectors = doc.user_data[key]
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
    """Returns the vector of a token, or the mean of the words' vectors in a span or document."""
    if isinstance(item, Token):
        return item.doc.tensor[item.i]
    if isinstance(item, Span):
        rows = item.doc.tensor[item.start : item.end]
    else:
        rows = item.tensor
    is_word = rows.any(axis=1)  # tokens of white space are embedded as zeros
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
    """Returns the biLM in the msgpack format, as spaCy stores other parts of a pipeline."""
    # Imported here because it imports torch, see `make_elmo`.
    from safetensors.torch import save

    bilm = word_vectors.bilm
    weights = {name: weight.cpu().contiguous() for name, weight in bilm.state_dict().items()}
    return srsly.msgpack_dumps({"options": bilm.options.to_dict(), "weights": save(weights)})


def bilm_from_bytes(word_vectors: "WordVectors", content: bytes) -> None:
    """
    Gives `word_vectors` the biLM in `content`, the bytes that `bilm_to_bytes` returned. Raises
    `BiLmError` if its weights contain NaN or infinite numbers.
    """
    # Imported here because it imports torch, see `make_elmo`.
    from safetensors.torch import load

    stored = srsly.msgpack_loads(content)
    word_vectors.restore(stored["options"], load(stored["weights"]))


def embed_sentences(
    word_vectors: "WordVectors", documents: Sequence[Sequence[Sequence[str]]]
) -> list[np.ndarray]:
    """
    Returns the vectors of each document's tokens, see `WordVectors.embed`. A document is a list of
    one or more sentences. A sentence may be empty.

    As in `BiLm.encode`, typographic characters are read as ASCII, and white space is not read. A
    token of nothing but white space gets zeros. The biLM runs on spaCy's device: on the GPU after
    `spacy.require_gpu()`.
    """
    word_vectors.to(str(get_torch_default_device()))
    sentences = []  # of all documents
    words_of_sentences = []
    for document in documents:
        for sentence in document:
            tokens = [normalize_text(token).strip() for token in sentence]
            sentences.append(tokens)
            # White space became an empty string, which is not a word.
            words_of_sentences.append([token for token in tokens if token])
    vectors_of_sentences = []
    for word_rows, tokens in zip(word_vectors.embed(words_of_sentences), sentences, strict=True):
        vectors_of_sentences.append(_rows_of_tokens(tokens, word_rows))
    remaining = iter(vectors_of_sentences)
    vectors_of_documents = []
    for document in documents:
        vectors_in_document = list(islice(remaining, len(document)))
        vectors_of_documents.append(np.concatenate(vectors_in_document, axis=-2))
    return vectors_of_documents


def _rows_of_tokens(tokens: Sequence[str], word_rows: np.ndarray) -> np.ndarray:
    """
    Returns a row for each token: the next row of `word_rows` if it is a word, and zeros if it is
    empty. Shape (tokens, dim) or (num_layers, tokens, dim), as `word_rows`.
    """
    rows = np.zeros((*word_rows.shape[:-2], len(tokens), word_rows.shape[-1]), word_rows.dtype)
    positions = [position for position, token in enumerate(tokens) if token]
    rows[..., positions, :] = word_rows
    return rows


def _sentences(doc: Doc) -> list[list[str]]:
    """
    Returns the tokens of each sentence; a document without sentence boundaries is one sentence.
    """
    spans: Iterable[Doc | Span] = [doc]
    # An empty document is excluded, because spaCy says that it has every annotation, but then
    # yields no sentence.
    if len(doc) > 0 and doc.has_annotation("SENT_START"):
        spans = doc.sents
    return [[token.text for token in span] for span in spans]
