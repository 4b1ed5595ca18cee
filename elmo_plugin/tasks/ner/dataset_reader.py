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
    sentence_fields,
    sentence_rows,
)
from elmo_plugin.tasks.ner.tags import PREFIXES, spans_to_tags, tags_to_spans, validate_tags

DOCUMENT_START = "-DOCSTART-"


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(TaskDatasetReader):
    """
    Reads the four columns of CoNLL-2003, separated by spaces or tabs: word, part of speech, chunk and entity
    tag, with a blank line after each sentence; or the word and its tag alone, as in WNUT-17, Wikigold and
    re3d. Part of speech and chunk are not used. A line of `-DOCSTART-` only ends a sentence.
    `TaskDatasetReader` says how the files are encoded and may be compressed.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"BIO"`)
        The tags in the files: "BIO", "IOB1" (CoNLL-2003 as it was published, and
        Wikigold) or "BIOUL".
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances: "BIO" or "BIOUL".

    Raises `ConfigurationError`, naming file and line, where a line is not UTF-8, has another number of
    columns or a tag that cannot be there, and where a file holds no sentence.
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
        expected = 0
        for sentence in sentence_rows(lines, lambda columns: columns and columns[0] != DOCUMENT_START):
            for line, columns in sentence:
                expected = expected or (2 if len(columns) == 2 else 4)
                if len(columns) != expected:
                    names = "word, part of speech, chunk, entity tag" if expected == 4 else "word, entity tag"
                    raise ConfigurationError(
                        f"{line.location}: expected {expected} columns ({names}), found {len(columns)}"
                    )
            tags = [columns[-1] for _, columns in sentence]
            mistake = validate_tags(tags, self._source_encoding)
            if mistake is not None:
                word, message = mistake
                fitting = [each for each in PREFIXES if validate_tags(tags, each) is None]
                advice = f"; source_encoding: {fitting[0]!r} reads this sentence" if fitting else ""
                raise ConfigurationError(f"{sentence[word][0].location}: {message}{advice}")
            spans = tags_to_spans(tags, self._source_encoding)
            words = [Token(columns[0]) for _, columns in sentence]
            yield words, spans_to_tags(spans, len(tags), self._tag_encoding)

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        # Parameters

        tokens : `list[Token]`
            The words of a sentence.
        tags : `list[str] | None`, optional (default = `None`)
            A tag for each word, in `tag_encoding`.

        # Returns

        `Instance`
            With the fields `tokens`, `words` (as strings) and, where they are given, `tags` and, as strings,
            `gold_tags`.
        """
        fields = sentence_fields(tokens)
        if tags is not None:
            fields["tags"] = TagsField(tags, cast(TextField, fields["tokens"]))
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)
