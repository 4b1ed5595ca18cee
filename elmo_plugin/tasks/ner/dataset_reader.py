"""Sentences with named entities, from the columns of CoNLL-2003."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, MetadataField, SequenceLabelField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.text_files import decode, read_lines
from elmo_plugin.tasks.ner.tags import PREFIXES, spans_to_tags, tags_to_spans, validate_tags

DOCUMENT_START = "-DOCSTART-"


class Row(NamedTuple):
    """A word, its tag, and the number of their line in the file."""

    line: int
    word: str
    tag: str


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(DatasetReader):
    """
    Reads the four columns of CoNLL-2003, separated by spaces or tabs: word, part of speech, chunk and entity
    tag, with a blank line behind each sentence. Part of speech and chunk are not used. A line of `-DOCSTART-`
    only ends a sentence.

    The files are UTF-8, and gzipped if their names end in `.gz`.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"BIO"`)
        The tags in the files: "BIO", "IOB1" (CoNLL-2003 as it was published) or "BIOUL".
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances: "BIO" or "BIOUL".

    Raises `ConfigurationError`, naming the file and the line, where a line is not UTF-8, has another number
    of columns or a tag that cannot be there, and where a file holds no sentence.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        source_encoding: str = "BIO",
        tag_encoding: str = "BIOUL",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if source_encoding not in PREFIXES:
            raise ConfigurationError(
                f"ner_conll2003: source_encoding is one of {', '.join(PREFIXES)}, not {source_encoding!r}"
            )
        if tag_encoding not in ("BIO", "BIOUL"):
            raise ConfigurationError(f"ner_conll2003: tag_encoding is BIO or BIOUL, not {tag_encoding!r}")
        self._token_indexers = token_indexers
        self._source_encoding = source_encoding
        self._tag_encoding = tag_encoding

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        sentence = None
        for sentence in _read_sentences(str(file_path)):
            tags = [row.tag for row in sentence]
            mistake = validate_tags(tags, self._source_encoding)
            if mistake is not None:
                raise ConfigurationError(f"{file_path}, line {sentence[mistake[0]].line}: {mistake[1]}")
            spans = tags_to_spans(tags, self._source_encoding)
            yield self.text_to_instance(
                [Token(row.word) for row in sentence], spans_to_tags(spans, len(tags), self._tag_encoding)
            )
        if sentence is None:
            raise ConfigurationError(f"{file_path}: there is no sentence in this file")

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        # Parameters

        tokens : `list[Token]`
            The words of a sentence.
        tags : `list[str] | None`, optional (default = `None`)
            A tag for each word, in `tag_encoding`.

        # Returns

        `Instance`
            With the fields `tokens`, `words` (as strings) and, where they are given, `tags`.
        """
        text = TextField(tokens)
        fields: dict[str, Field] = {
            "tokens": text,
            "words": MetadataField([token.text for token in tokens]),
        }
        if tags is not None:
            fields["tags"] = SequenceLabelField(tags, text)
        return Instance(fields)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        cast(TextField, instance["tokens"]).token_indexers = self._token_indexers


def _read_sentences(file_path: str) -> Iterator[list[Row]]:
    """The rows of each sentence that has any."""
    sentence: list[Row] = []
    for number, line in enumerate(read_lines(file_path), start=1):
        columns = _split(line, f"{file_path}, line {number}")
        if columns and columns[0] != DOCUMENT_START:
            sentence.append(Row(number, word=columns[0], tag=columns[-1]))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _split(line: bytes, place: str) -> list[str]:
    """The four columns of a line, or none of a blank one. Only ASCII spaces divide it, no other spaces."""
    columns = [decode(column, place) for column in line.split()]
    if len(columns) not in (0, 4) and columns[0] != DOCUMENT_START:
        raise ConfigurationError(
            f"{place}: expected 4 columns (word, part of speech, chunk, entity tag), found {len(columns)}"
        )
    return columns
