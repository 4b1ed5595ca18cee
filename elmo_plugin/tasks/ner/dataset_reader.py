"""Sentences with named entities, from the columns of CoNLL-2003."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.dataset_reader import (
    Line,
    TagsField,
    TaskDatasetReader,
    check_columns,
    sentence_fields,
    sentence_rows,
)
from elmo_plugin.tasks.ner.tags import PREFIXES, spans_to_tags, tags_to_spans, validate_tags

DOCUMENT_START = "-DOCSTART-"
COLUMNS = {2: "word, entity tag", 4: "word, part of speech, chunk, entity tag"}


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(TaskDatasetReader):
    """
    Reads the four columns of CoNLL-2003, separated by spaces or tabs: word, part of speech, chunk and entity
    tag, with a blank line after each sentence; or only the word and its tag, as in WNUT-17, Wikigold and
    re3d. Part of speech and chunk are not used. A line of `-DOCSTART-` only ends a sentence.
    `TaskDatasetReader` describes encoding and compression.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"BIO"`)
        The tags in the files: "BIO", "IOB1" (the published CoNLL-2003, and Wikigold) or "BIOUL".
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances: "BIO" or "BIOUL".

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8, the number of columns changes
    or a tag is illegal, and if a file contains no sentence.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        source_encoding: str = "BIO",
        tag_encoding: str = "BIOUL",
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        if source_encoding not in PREFIXES:
            raise ConfigurationError(
                f"ner_conll2003: source_encoding is one of {', '.join(PREFIXES)}, not {source_encoding!r}"
            )
        if tag_encoding not in ("BIO", "BIOUL"):
            raise ConfigurationError(f"ner_conll2003: tag_encoding is BIO or BIOUL, not {tag_encoding!r}")
        self._source_encoding = source_encoding
        self._tag_encoding = tag_encoding

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[str]]]:
        """Yields the words of each sentence and their tags, in `tag_encoding`."""
        num_columns = 0
        for sentence in sentence_rows(lines, lambda columns: columns and columns[0] != DOCUMENT_START):
            num_columns = num_columns or (2 if len(sentence[0][1]) == 2 else 4)
            check_columns(sentence, num_columns, COLUMNS[num_columns])
            tags = [columns[-1] for _, columns in sentence]
            mistake = validate_tags(tags, self._source_encoding)
            if mistake is not None:
                word, message = mistake
                legal = [encoding for encoding in PREFIXES if validate_tags(tags, encoding) is None]
                advice = f"; source_encoding: {legal[0]!r} reads this sentence" if legal else ""
                raise ConfigurationError(f"{sentence[word][0].location}: {message}{advice}")
            spans = tags_to_spans(tags, self._source_encoding)
            words = [Token(columns[0]) for _, columns in sentence]
            yield words, spans_to_tags(spans, len(tags), self._tag_encoding)

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        Makes an instance of the words of a sentence, with the fields `tokens`, `words` (as strings) and, if
        there are tags, in `tag_encoding`, `tags` and, as strings, `gold_tags`.
        """
        fields = sentence_fields(tokens)
        if tags is not None:
            fields["tags"] = TagsField(tags, cast(TextField, fields["tokens"]))
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)
