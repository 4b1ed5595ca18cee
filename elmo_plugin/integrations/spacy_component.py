"""spaCy's pipeline component `elmo`: the vectors of a document's words, in `doc._.elmo`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from elmo_plugin.bilm import BiLmError
from elmo_plugin.integrations.spacy_vectors import set_hooks, store_vectors
from elmo_plugin.integrations.word_vectors import ALL, MIX, WordVectors


@Language.factory(
    "elmo",
    assigns=["doc._.elmo", "token.vector"],
    default_config={
        "bilm": "tiny",
        "layers": MIX,
        "mixing_weights": None,
        "vectors": False,
        "precision": "float32",
    },
)
def make_elmo(
    nlp: Language,
    name: str,
    bilm: str | dict[str, str],
    layers: int | str,
    mixing_weights: list[float] | None,
    vectors: bool,
    precision: str,
) -> "ElmoComponent":
    """
    Makes the component of a configuration. For `bilm`, `layers`, `mixing_weights` and `precision` see
    `WordVectors`, for `vectors` `ElmoComponent`.
    """
    return ElmoComponent(WordVectors(bilm, layers, mixing_weights, precision), vectors)


class ElmoComponent:
    """
    Embeds the words that spaCy's tokenizer has made, white space among them. Each sentence is read by itself
    where the document has boundaries of sentences by then (of a parser, a sentencizer), else the document as
    one sentence.

    `doc._.elmo` is a numpy array of shape (words, dim), or (num_layers, words, dim) for `layers="all"`. It
    follows the tokens that are merged or split later, see `get_vectors`.

    # Parameters

    word_vectors : `WordVectors`
        Whose biLM is stored with the pipeline.
    vectors : `bool`
        Whether `vector`, `has_vector` and `similarity` of tokens, spans and documents are ELMo's: a span or a
        document has the mean of its words.

    Raises `BiLmError` where `vectors` is asked for with all layers.
    """

    def __init__(self, word_vectors: WordVectors, vectors: bool = False) -> None:
        if vectors and word_vectors.layers == ALL:
            raise BiLmError('a word has one vector: vectors does not go with layers "all"')
        self.word_vectors = word_vectors
        self.vectors = vectors

    def __call__(self, doc: Doc) -> Doc:
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Embeds the sentences of `batch_size` documents together."""
        for docs in minibatch(stream, batch_size):
            self._annotate(docs)
            yield from docs

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        return self.word_vectors.to_bytes()

    def from_bytes(self, content: bytes, *, exclude: Sequence[str] = ()) -> "ElmoComponent":
        self.word_vectors.from_bytes(content)
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> "ElmoComponent":
        return self.from_bytes(Path(path).read_bytes())

    def _annotate(self, docs: Sequence[Doc]) -> None:
        sentences = [_sentences(doc) for doc in docs]
        for doc, array in zip(docs, embed_sentences(self.word_vectors, sentences), strict=True):
            store_vectors(doc, array)
            if self.vectors:
                set_hooks(doc)


def embed_sentences(
    word_vectors: WordVectors, sentences: Sequence[Sequence[Sequence[str]]]
) -> list[np.ndarray]:
    """
    Returns what `WordVectors.embed` gives for the words of each document, sentence by sentence. A document
    has one sentence at least, which may be empty.
    """
    vectors = iter(word_vectors.embed([sentence for of_doc in sentences for sentence in of_doc]))
    return [np.concatenate([next(vectors) for _ in of_doc], axis=-2) for of_doc in sentences]


def _sentences(doc: Doc) -> list[list[str]]:
    """Returns the words of one sentence at least."""
    spans: Iterable[Any] = doc.sents if len(doc) and doc.has_annotation("SENT_START") else [doc]
    return [[token.text for token in span] for span in spans]
