"""Words and their tags, such as named entities, in columns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_plugin.common.errors import check_choice
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TaskDatasetReader,
    sentence_fields,
)
from elmo_plugin.tasks.labels import TagsField
from elmo_plugin.tasks.ner.tags import is_legal
from elmo_plugin.tasks.spans import (
    ENCODINGS,
    OUTSIDE,
    EntityTag,
    parse_tag,
    spans_to_tags,
    tags_to_spans,
)
from elmo_plugin.tasks.tokenizers import as_raw_text_tokenizer

PLAIN = "plain"  # in place of an encoding: tags that mark no entities
DOCUMENT = "-DOCSTART-"
_IMPORT_HINT = "`elmo import ner` (or tag) reads other files"


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(TaskDatasetReader):
    """
    Reads a word and its tag in each line, separated by a tab or spaces, with a blank line after
    each sentence. `elmo import ner` and `elmo import tag` write this form. `TaskDatasetReader`
    describes compression.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"BIO"`)
        The tags in the files: "BIO", "IOB1" (the published CoNLL-2003), "BIOUL", "BIOES" or "BMES";
        or "plain" for tags that mark no entities.
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances, if they are not plain: "BIO" or "BIOUL".
    word_column, tag_column : `int`, optional (default = `None`)
        Where word and tag are in files with more than two columns. Columns are counted from 0;
        negative numbers count from the end. The published files of CoNLL-2003 have `tag_column: 3`.
    tokenizer : `Tokenizer`, optional (default = `SpacyRulesTokenizer()`)
        How the predictor splits plain sentences into words; the reader itself does not need it.

    Raises `ConfigurationError`, naming file and line, if a line has other columns or an illegal
    tag, and if a file contains no sentence.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        source_encoding: str = "BIO",
        tag_encoding: str = "BIOUL",
        word_column: int | None = None,
        tag_column: int | None = None,
        tokenizer: Tokenizer = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_choice(
            "ner_conll2003: source_encoding",
            source_encoding,
            (*ENCODINGS, PLAIN),
            ConfigurationError,
        )
        check_choice(
            "ner_conll2003: tag_encoding", tag_encoding, ("BIO", "BIOUL"), ConfigurationError
        )
        _check_column_number("word_column", word_column)
        _check_column_number("tag_column", tag_column)
        self._source_encoding = source_encoding
        self._tag_encoding = tag_encoding
        self._expects_two_columns = word_column is None and tag_column is None
        self._word_column = 0
        if word_column is not None:
            self._word_column = word_column
        self._tag_column = 1
        if tag_column is not None:
            self._tag_column = tag_column
        # Only the predictor tokenizes. It has a default tokenizer for a reader without one.
        self.tokenizer = None
        if tokenizer is not None:
            self.tokenizer = as_raw_text_tokenizer(tokenizer)

    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[list[Token], list[str]]]:
        """
        Yields the words of each sentence and their tags. Tags that mark entities are converted to
        `tag_encoding`.
        """
        for lines_of_sentence in split_sentences(lines):
            words = []
            tags = []
            for line in lines_of_sentence:
                fields = line.fields
                self._check_columns(line, fields)
                words.append(Token(fields[self._word_column]))
                tags.append(fields[self._tag_column])
            if self._source_encoding != PLAIN:
                tags = self._convert_tags(lines_of_sentence, tags)
            yield words, tags

    def _check_columns(self, line: Line, fields: Sequence[str]) -> None:
        """
        Raises `ConfigurationError`, naming file and line, if a line does not have the columns that
        are read, or if they are blank.
        """
        width = len(fields)
        if self._expects_two_columns and width != 2:
            columns = f"{width} columns"
            if width == 1:
                columns = "one column"
            # Perhaps the file is meant for another command.
            hint = (
                f"{_IMPORT_HINT}, tag_column chooses a column, and `elmo predict` takes texts, or "
                "JSON with a list of words"
            )
            raise line.error(f"expected a word and its tag, got {columns}; {hint}")
        for option, column in (
            ("word_column", self._word_column),
            ("tag_column", self._tag_column),
        ):
            if not -width <= column < width:
                raise line.error(f"expected {option} {column}, got {width} columns")
            if not fields[column]:
                raise line.error(f"{option} {column} is blank; {_IMPORT_HINT}")

    def _convert_tags(self, lines: Sequence[Line], tags: Sequence[str]) -> list[str]:
        """
        Converts the tags of a sentence from `source_encoding` to `tag_encoding`. Raises
        `ConfigurationError`, naming the file and the tag's line, if a tag is not legal in
        `source_encoding`.
        """
        entity_tags: list[EntityTag] = []
        previous = OUTSIDE
        for line, tag in zip(lines, tags, strict=True):
            entity_tag = parse_tag(tag)
            if entity_tag is None or not is_legal(self._source_encoding, previous, entity_tag):
                raise self._illegal_tag_error(line, tag)
            entity_tags.append(entity_tag)
            previous = entity_tag
        # A sentence may not end in the middle of an entity, as after a `B` in BIOUL.
        if not is_legal(self._source_encoding, previous, OUTSIDE):
            raise self._illegal_tag_error(lines[-1], tags[-1])
        return spans_to_tags(tags_to_spans(entity_tags), len(tags), self._tag_encoding)

    def _illegal_tag_error(self, line: Line, tag: str) -> ConfigurationError:
        """Returns the error for a tag that may not stand where it does."""
        return line.error(
            f"expected a tag in {self._source_encoding} that may stand here, got {tag!r}; "
            f"source_encoding chooses another encoding, and {_IMPORT_HINT}"
        )

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        Makes an instance of the words of a sentence, with the fields `tokens` and `words` (the
        strings). With `tags`, in `tag_encoding`, it also has the fields `tags` and `gold_tags` (the
        strings).
        """
        fields = sentence_fields(tokens)
        if tags is not None:
            # The field adds the encoding of the files to the vocabulary, so that the predictor can
            # return tags in this encoding. Plain tags have none.
            encoding_of_files = None
            if self._source_encoding != PLAIN:
                encoding_of_files = self._source_encoding
            fields["tags"] = TagsField(
                tags, cast(TextField, fields["tokens"]), encoding=encoding_of_files
            )
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)


def _check_column_number(option: str, column: int | None) -> None:
    """Raises `ConfigurationError` if a column is given by its name, not by its number."""
    if not isinstance(column, int | None):
        raise ConfigurationError(
            f"ner_conll2003: {option}: expected the number of a column, got {column!r}; "
            f"{_IMPORT_HINT} and finds columns by their names"
        )


def split_sentences(
    lines: Iterable[Line], boundaries: Sequence[str] = (DOCUMENT,)
) -> Iterator[list[Line]]:
    """
    Yields the lines of each sentence. A sentence ends at a blank line, and at a line whose first
    word is one of the `boundaries`.
    """
    sentence: list[Line] = []
    for line in lines:
        words = line.columns
        is_end = not words or words[0] in boundaries
        if not is_end:
            sentence.append(line)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence
