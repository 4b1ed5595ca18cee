"""Documents of CoNLL-2012 as instances."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer, Vocabulary
from allennlp.data.fields import LabelField, ListField, MetadataField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.conll2012 import FOLDER_PATTERNS
from elmo_plugin.tasks.coref.conll import parse_documents
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader

logger = get_logger(__name__)

GENRES = "genre_labels"  # the namespace of genres in the vocabulary


class GenreField(LabelField):
    """
    The genre of a document. An unknown genre gets the index after the last genre.
    """

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        genres = vocab.get_token_to_index_vocabulary(GENRES)
        self._label_id = genres.get(cast(str, self.label), len(genres))

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.label:  # empty if the genre is not known
            super().count_vocab_items(counter)


@DatasetReader.register("coref_conll2012")
class CorefReader(TaskDatasetReader):
    """
    Makes an instance of each document, or part of a document, in the columns of CoNLL-2012 (see
    `parse_documents`; `elmo import coref` makes such files of other forms): a file, or all files
    below a folder whose names end in `gold_conll`, or else in `auto_conll` or `.conll`.
    `TaskDatasetReader` describes encoding and compression. Brackets and quotation marks escaped by
    the Penn Treebank become plain text, as in the training of biLMs. The model trains on a window
    of the sentences, see `CorefSpanRanking`.

    Registered as a `DatasetReader` with name "coref_conll2012".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    genre_pattern : `str`, optional (default = `None`)
        A regex whose first group, found in the name of a document, is the genre, such as
        "gum/([^_]+)" for OntoGUM. By default the genre is the part of the name before the first
        "/", as in OntoNotes.

    Raises `ConfigurationError`, naming file and line, if a line is malformed, and if a file
    contains no document. Warns of a file without clusters.
    """

    example_names = "documents"
    folder_patterns = FOLDER_PATTERNS

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        genre_pattern: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self._genre_pattern: re.Pattern[str] | None = None
        if genre_pattern:
            self._genre_pattern = _compile_genre_pattern(genre_pattern)

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[CorefDocument]]:
        """
        Yields each document of a file, in a tuple of the arguments of `text_to_instance`. Warns at
        the end if no document has clusters.
        """
        num_documents = 0
        has_clusters = False
        for document in parse_documents(lines):
            num_documents += 1
            if document.clusters:
                has_clusters = True
            if self._genre_pattern is not None:
                genre = _find_genre(self._genre_pattern, document.name)
                document = document._replace(genre=genre)
            yield (document,)
        # `TaskDatasetReader` raises an error if a file contains no document.
        if num_documents and not has_clusters:
            logger.warning(
                "%s: no clusters to learn or to score, in %d documents",
                document.file,
                num_documents,
            )

    def text_to_instance(self, document: CorefDocument, has_answers: bool = True) -> Instance:
        """
        Makes an instance with the fields `sentences` and `genre`, and the metadata `document` (the
        `CorefDocument`) and `clusters` (the gold clusters). If `has_answers` is `False`, as for a
        document to predict, `clusters` is left out.
        """
        sentences = []
        for words in document.sentences:
            tokens = [Token(word) for word in words]
            sentences.append(TextField(tokens))
        fields = {
            "sentences": ListField(sentences),
            "genre": GenreField(document.genre, label_namespace=GENRES),
            "document": MetadataField(document),
        }
        if has_answers:
            fields["clusters"] = MetadataField(document.clusters)
        return Instance(fields)


def _find_genre(pattern: re.Pattern[str], name: str) -> str:
    """
    Returns the first group of the pattern in a document's name; an empty string if the pattern is
    not in the name, or matches without this group.
    """
    match = pattern.search(name)
    if match is None:
        return ""
    return match[1] or ""


def _compile_genre_pattern(pattern: str) -> re.Pattern[str]:
    """
    Compiles the option `genre_pattern`. Raises `ConfigurationError` if it is not a regex, or lacks
    a group for the genre.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(f"genre_pattern: {pattern!r} is not a regex: {error}") from None
    if not compiled.groups:
        raise ConfigurationError(f"genre_pattern: expected a group for the genre in {pattern!r}")
    return compiled
