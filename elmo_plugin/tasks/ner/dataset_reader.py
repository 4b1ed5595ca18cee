"""Words and their tags, such as named entities, from the formats of public data sets."""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TagsField,
    TaskDatasetReader,
    read_text_lines,
    sentence_fields,
)
from elmo_plugin.tasks.ner.encodings import SOURCE_ENCODINGS, find_kind, read_tags
from elmo_plugin.tasks.ner.layout import find_columns
from elmo_plugin.tasks.ner.sentences import TaggedSentence, sentences_of_json, sentences_of_table
from elmo_plugin.tasks.ner.table import gather_lines, read_table
from elmo_plugin.tasks.ner.tags import ENCODINGS
from elmo_plugin.tasks.spans import spans_to_tags, tags_to_spans

logger = logging.getLogger(__name__)

_GMB = "Sentence #,Word,POS,Tag"  # as Kaggle has it, the only usual format that is not in UTF-8


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(TaskDatasetReader):
    """
    Reads sentences whose words have tags: named entities or chunks, in any usual encoding, or plain tags such
    as parts of speech. Files have columns separated by tabs or spaces, as CoNLL-2000 to 2003, WNUT, Wikigold,
    CoNLL-U and many others, with a blank line after each sentence; or they are CSV with a header; or JSON
    lines with lists of words and of tags. The columns and the encoding are found from the whole file, and
    logged. `TaskDatasetReader` describes compression.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"auto"`)
        The tags in the files: "BIO", "IOB1" (the published CoNLL-2003, and Wikigold), "BIOUL", "BIOES" or
        "BMES"; "mixed" for entities that begin with either B or I; "IO" for types without a letter; "plain"
        for tags that mark no entities. By default one that fits all tags of a file: "IO" if most are "O".
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances, unless they are plain: "BIO" or "BIOUL".
    word_column, tag_column : `int | str`, optional (default = `None`)
        The number of a column, from 0, or from the end if it is negative; or its name in the header of a file
        or in JSON lines.
    separator : `str`, optional (default = `None`)
        The separator of columns: a tab, a space, or the delimiter of CSV.
    label_names : `list[str]`, optional (default = `None`)
        The names of tags that JSON lines have as numbers.
    file_encoding : `str`, optional (default = `"utf-8"`)
        The character encoding of the files, as Python names it.

    Raises `ConfigurationError`, naming file and line, if a file cannot be decoded, the number of columns
    changes, columns of words and tags are not certain, or a tag is illegal, and if a file has no sentence.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        source_encoding: str = "auto",
        tag_encoding: str = "BIOUL",
        word_column: int | str | None = None,
        tag_column: int | str | None = None,
        separator: str | None = None,
        label_names: list[str] | None = None,
        file_encoding: str = "utf-8",
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        for option, value, known in (
            ("source_encoding", source_encoding, SOURCE_ENCODINGS),
            ("tag_encoding", tag_encoding, ("BIO", "BIOUL")),
        ):
            check_choice(f"ner_conll2003: {option}", value, known, ConfigurationError)
        if separator is not None and len(separator) != 1:
            raise ConfigurationError(f"ner_conll2003: separator: expected one character, got {separator!r}")
        self._source_encoding = source_encoding
        self._tag_encoding = tag_encoding
        self._word_column, self._tag_column = word_column, tag_column
        self._separator = separator
        self._label_names = label_names
        self._file_encoding = file_encoding
        # as found in the first file, for others of the same data set
        self._columns: tuple[list[str], int, int, int] | None = None
        self._kind: str | None = None
        self._encoding = source_encoding if source_encoding in (*ENCODINGS, "IO") else None

    @overrides
    def read_lines(self, file_path: str) -> Iterator[Line]:
        number = 0
        try:
            for line in read_text_lines(file_path, self._file_encoding):
                yield line
                number = line.number
        except LookupError as error:
            raise ConfigurationError(f"ner_conll2003: file_encoding: {error}") from None
        except ConfigurationError as error:
            if "UTF-8 text (" not in str(error):
                raise
            lines = read_text_lines(file_path, "latin-1")
            if not next(iter(lines)).text.startswith(_GMB):
                message = f"{error}; the option file_encoding names another, as 'cp1252'"
                raise ConfigurationError(message) from None
            yield from (line for line in lines if line.number > number)

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[str]]]:
        """Yields the words of each sentence and their tags, entities in `tag_encoding`."""
        file, texts = gather_lines(lines)
        sentences, columns = self._sentences(file, texts)
        if not sentences:
            return
        source = self._source_encoding
        if source == "auto":
            values = [tag for sentence in sentences for tag in sentence.tags]
            source = self._kind or find_kind(values)
            self._kind = self._kind or (None if set(values) == {"O"} else source)
        tags, encoding = read_tags(file, sentences, source)
        logger.info("%s: %s, %s", file, columns, encoding)
        found = encoding.partition(" ")[0]
        self._encoding = self._encoding or (found if found in (*ENCODINGS, "IO") else None)
        for sentence in sentences:
            labels = sentence.tags
            if tags is not None and not {"O"}.issuperset(labels):
                spans = tags_to_spans([tags[label] for label in labels])
                labels = spans_to_tags(spans, len(labels), self._tag_encoding)
            yield [Token(word) for word in sentence.words], labels

    def _sentences(self, file: str, texts: list[str]) -> tuple[list[TaggedSentence], str]:
        """Returns the sentences of a file, and a description of its columns."""
        columns = (self._word_column, self._tag_column)
        if _is_json(file, texts):
            lines = (Line(text, file, number) for number, text in enumerate(texts, start=1))
            return list(sentences_of_json(lines, *columns, self._label_names)), "JSON lines"
        chosen = [column for column in columns if isinstance(column, str)]
        table = read_table(file, texts, self._separator, chosen)
        if not table.sentences:
            return [], ""
        width = len(table.sentences[0][0][1])
        if self._columns is None or self._columns[:2] != (table.names, width):
            self._columns = (table.names, width, *find_columns(table, *columns))
        word, tag = self._columns[2:]
        found = f"words in column {table.name(word)!r}, tags in column {table.name(tag)!r}"
        return sentences_of_table(table, word, tag), found

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        Makes an instance of the words of a sentence, with the fields `tokens`, `words` (as strings) and, if
        there are tags, in `tag_encoding`, `tags` and, as strings, `gold_tags`.
        """
        fields = sentence_fields(tokens)
        if tags is not None:
            fields["tags"] = TagsField(tags, cast(TextField, fields["tokens"]), encoding=self._encoding)
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)


def _is_json(file: str, texts: list[str]) -> bool:
    """Returns whether a file has JSON lines, by its name or its first object or list."""
    is_named = file.removesuffix(compression(file)).lower().endswith((".json", ".jsonl", ".ndjson"))
    first = next((text.strip() for text in texts if text.strip()), "")
    return is_named or (first[:1] + first[-1:] in ("{}", "[]") and '"' in first)
