"""Words and their tags, such as named entities, from the formats of public data sets."""

import logging
import re
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, cast

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.formats.text_files import warn_of_long_sentence
from elmo_plugin.tasks.dataset_reader import (
    Line,
    TagsField,
    TaskDatasetReader,
    read_text_lines,
    sentence_fields,
)
from elmo_plugin.tasks.ner.columns import ColumnFinder, Table, read_table
from elmo_plugin.tasks.ner.records import find_keys, sentence_in
from elmo_plugin.tasks.ner.tags import (
    ENCODINGS,
    SOURCE_ENCODINGS,
    TaggedSentence,
    find_kind,
    read_tags,
)
from elmo_plugin.tasks.records import Skipped, UnusableExample, detect_format, parse_records
from elmo_plugin.tasks.spans import spans_to_tags, tags_to_spans
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer, raw_text_tokenizer

logger = logging.getLogger(__name__)

_NOT_ONE_TAG = re.compile(r".*\s.*|\[.+|\(.*\*.*")  # tags of a whole sentence, or spans in brackets
_LIST = re.compile(r"""(?:^|[,;\t|])["']?\[\s*(?:'|""|"\w|\d)""")  # in a field of a table
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-\w+)?:")
_PREFIX = re.compile(r"[^\W\d_][^\W_]{0,11}(?:[-_][^\W_]{2,8})?(?:\[\w+\])?[:=|/#_]")


@DatasetReader.register("ner_conll2003")
class Conll2003Reader(TaskDatasetReader):
    """
    Reads sentences whose words have tags: named entities or chunks, in any usual encoding, or plain
    tags such as parts of speech. Files have columns separated by tabs or spaces, as CoNLL-2000 to
    2003, WNUT, Wikigold, CoNLL-U and many others, with a blank line after each sentence; or they
    are CSV with a header; or JSON with lists of words and of tags, or with texts and their entities
    as characters. The columns and the encoding are found from the whole file, and logged.
    `TaskDatasetReader` describes compression.

    Registered as a `DatasetReader` with name "ner_conll2003".

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    source_encoding : `str`, optional (default = `"auto"`)
        The tags in the files: "BIO", "IOB1" (the published CoNLL-2003, and Wikigold), "BIOUL",
        "BIOES" or "BMES"; "mixed" for entities that begin with either B or I; "IO" for types
        without a letter; "plain" for tags that mark no entities. By default one that fits all tags
        of a file: "IO" if most are "O".
    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The tags of the instances, unless they are plain: "BIO" or "BIOUL".
    word_column, tag_column : `int | str`, optional (default = `None`)
        The number of a column, from 0, or from the end if it is negative; or its name in the header
        of a file or in JSON lines.
    separator : `str`, optional (default = `None`)
        The separator of columns: a tab, a space, or the delimiter of CSV.
    label_names : `list[str]`, optional (default = `None`)
        The names of tags that JSON lines have as numbers.
    file_encoding : `str`, optional (default = `"utf-8"`)
        The character encoding of the files, as Python names it.
    tokenizer : `Tokenizer`, optional (default = `SpacyRulesTokenizer()`)
        How a text with entities as characters becomes words; the predictor's for plain sentences.
    skip_bad : `bool`, optional (default = `False`)
        Skip sentences that cannot be used, such as those with a blank word. The log has their
        number.

    Raises `ConfigurationError`, naming file and line, if a file cannot be decoded, the number of
    columns changes, columns of words and tags are not certain, or a tag is illegal, and if a file
    has no sentence.
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
        tokenizer: Tokenizer = None,
        skip_bad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_choice(
            "ner_conll2003: source_encoding", source_encoding, SOURCE_ENCODINGS, ConfigurationError
        )
        check_choice(
            "ner_conll2003: tag_encoding", tag_encoding, ("BIO", "BIOUL"), ConfigurationError
        )
        if separator is not None and len(separator) != 1:
            raise ConfigurationError(
                f"ner_conll2003: separator: expected one character, got {separator!r}"
            )
        self._source_encoding = source_encoding
        self._tag_encoding = tag_encoding
        self._word_column, self._tag_column = word_column, tag_column
        self._separator = separator
        self._label_names = label_names
        self._file_encoding = file_encoding
        self._skip_bad = skip_bad
        self.tokenizer = tokenizer and raw_text_tokenizer(tokenizer, SpacyRulesTokenizer)
        self.other_columns: list[int | str] = []
        # as found in the first file, for others of the same data set
        self._columns: tuple[list[str], int, int, int | None] | None = None
        self._prefixes: set[str] | None = None
        self._kind: str | None = None
        self._encoding = source_encoding if source_encoding in (*ENCODINGS, "IO") else None

    @overrides
    def read_lines(self, file_path: str) -> Iterator[Line]:
        try:
            yield from read_text_lines(file_path, self._file_encoding)
        except LookupError as error:
            raise ConfigurationError(f"ner_conll2003: file_encoding: {error}") from None
        except ConfigurationError as error:
            hint = "; the option file_encoding names another, as 'latin-1'" * (
                "-8 text (" in str(error)
            )
            raise ConfigurationError(f"{error}{hint}") from None

    def read_examples(
        self, lines: Iterable[Line]
    ) -> Iterator[tuple[list[Token], list[str] | None]]:
        """Yields the words of each sentence and their tags, entities in `tag_encoding`."""
        file, texts = "", []  # texts burden the garbage collector less than lines do
        for line in lines:
            file = line.file
            texts.append(line.text)
        skipped = Skipped(self._skip_bad, file)
        found, columns = self._sentences(file, texts, skipped)
        sentences = list(self._usable(file, found, columns, skipped))
        skipped.log("sentences")
        if not sentences:
            return
        if not sentences[0].tags:
            logger.info("%s: %s, no tags", file, columns)
            yield from (([Token(word) for word in sentence.words], None) for sentence in sentences)
            return
        source = self._source_encoding
        if source == "auto":
            values = [tag for sentence in sentences for tag in sentence.tags]
            source = self._kind or find_kind(values)
            self._kind = self._kind or (None if set(values) == {"O"} else source)
        tags, encoding = read_tags(file, sentences, source)
        logger.info("%s: %s, %s", file, columns, encoding)
        encoding = encoding.partition(" ")[0]
        self._encoding = self._encoding or (encoding if encoding in (*ENCODINGS, "IO") else None)
        for sentence in sentences:
            labels = sentence.tags
            if tags is not None and not {"O"}.issuperset(labels):
                spans = tags_to_spans([tags[label] for label in labels])
                labels = spans_to_tags(spans, len(labels), self._tag_encoding)
            yield [Token(word) for word in sentence.words], labels

    def _sentences(
        self, file: str, texts: list[str], skipped: Skipped
    ) -> tuple[list[TaggedSentence], str]:
        """Returns the sentences of a file, and a description of its columns."""
        rest = (
            Line(text, file, number) for number, text in enumerate(texts, start=1) if text.strip()
        )
        first, second = next(rest, None), next(rest, None)
        lines = chain(filter(None, (first, second)), rest)
        if (
            first
            and file.endswith(".in")
            and Path(other := file.removesuffix("in") + "out").exists()
        ):
            found = _sentences_of_two_files(list(lines), list(self.read_lines(other)))
            return list(found), f"tags of {other}"
        chosen = (self._word_column, self._tag_column)
        kind = detect_format(first) if first else None
        if kind == "jsonl" or (kind in ("csv", "tsv") and second and _LIST.search(second.text)):
            return list(self._sentences_of_json(lines, skipped)), "JSON"
        table = read_table(file, texts, self._separator, chosen, self._skip_bad)
        if not table.sentences:
            return [], ""
        width = len(table.sentences[0][0][1])
        if self._columns is None or self._columns[:2] != (table.names, width):
            self._columns = (table.names, width, *self._find_columns(table))
        word, tag = self._columns[2:]
        self.other_columns = [
            table.name(column) for column in range(width) if column not in (word, tag)
        ]
        sentences = []
        for rows in table.sentences:
            numbers, fields = zip(*rows, strict=True)
            tags = [] if tag is None else [row[tag] for row in fields]
            sentences.append(TaggedSentence(list(numbers), [row[word] for row in fields], tags))
        warn_of_long_sentence(file, max(map(len, table.sentences)))
        tags_in = "" if tag is None else f", tags in column {table.name(tag)!r}"
        return sentences, f"words in column {table.name(word)!r}{tags_in}"

    def _sentences_of_json(
        self, lines: Iterable[Line], skipped: Skipped
    ) -> Iterator[TaggedSentence]:
        tokenizer = self.tokenizer or SpacyRulesTokenizer()
        keys: tuple[str, str | None] | None = None
        for line, fields in parse_records(lines):
            if isinstance(fields.get("data"), dict):  # of Label Studio
                fields = fields["data"] | fields
            record = line, fields
            keys = keys or find_keys(record, self._word_column, self._tag_column, self.needs_labels)
            if _is_rejected(fields):
                skipped.add("that were rejected", line.place)
                continue
            try:
                yield sentence_in(record, *keys, self._label_names, tokenizer)
            except UnusableExample as error:
                skipped.skip_or_raise(error, line.location, line.place)

    def _find_columns(self, table: Table) -> tuple[int, int | None]:
        """Returns the columns of the words and of the tags."""
        finder, word, tag = ColumnFinder(table), self._word_column, self._tag_column
        word = None if word is None else finder.resolve(word, "word_column")
        try:
            tag = finder.find_tags(word) if tag is None else finder.resolve(tag, "tag_column")
        except ConfigurationError:
            if self.needs_labels:
                raise
            tag = None
        word = finder.find_words(tag) if word is None else word
        if word == tag and self.needs_labels:
            raise finder.error(f"word_column and tag_column are the same column, {tag}")
        return word, None if word == tag else tag

    def _usable(
        self, file: str, sentences: list[TaggedSentence], columns: str, skipped: Skipped
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences with a text for each word and tag, without prefixes of the words."""
        distinct = {word for sentence in sentences for word in sentence.words}
        prefixes = {match[0] if (match := _PREFIX.match(word)) else "" for word in distinct}
        if len(distinct) > 1 and (prefixes == self._prefixes or _are_prefixes(prefixes, distinct)):
            self._prefixes = prefixes
            logger.info("%s: the words lose their prefix, %s", file, " or ".join(sorted(prefixes)))
            sentences = [
                each._replace(words=list(map(_without_prefix, each.words))) for each in sentences
            ]
        for sentence in sentences:
            lines, words, tags = sentence
            blank = [
                n
                for n, texts in enumerate(zip(words, tags or words, strict=True))
                if not all(texts)
            ]
            wrong = next(filter(_NOT_ONE_TAG.fullmatch, tags), None)
            if wrong is not None:
                raise ConfigurationError(
                    f"{file}, line {lines[tags.index(wrong)]}: expected a word and its tag in "
                    f"each line, got the tag {wrong!r:.50}; separator or tag_column chooses "
                    "another, and JSON lines have all words and tags of a sentence"
                )
            if blank:
                place = f"line {lines[blank[0]]}"
                what = "tag" if words[blank[0]] else "word"
                error = UnusableExample(f"with a blank {what}", f"the {what} is blank ({columns})")
                skipped.skip_or_raise(error, f"{file}, {place}", place)
            elif words:
                yield sentence

    def text_to_instance(self, tokens: list[Token], tags: list[str] | None = None) -> Instance:
        """
        Makes an instance of the words of a sentence, with the fields `tokens`, `words` (as strings)
        and, if there are tags, in `tag_encoding`, `tags` and, as strings, `gold_tags`.
        """
        fields = sentence_fields(tokens)
        if tags is not None:
            fields["tags"] = TagsField(
                tags, cast(TextField, fields["tokens"]), encoding=self._encoding
            )
            fields["gold_tags"] = MetadataField(tags)
        return Instance(fields)


def _sentences_of_two_files(words: list[Line], tags: list[Line]) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of lines of words and, in another file, of tags, such as seq.in and
    seq.out.
    """
    tags = [line for line in tags if line.text.strip()]
    for line, other in zip_longest(words, tags, fillvalue=words[-1]):
        if len(line.columns) != len(other.columns) or len(words) != len(tags):
            raise line.error(
                f"expected a tag for each word in {tags[0].file}, got {len(words)} lines "
                f"and {len(tags)}, {len(line.columns)} words and {len(other.columns)} tags"
            )
        yield TaggedSentence([line.number] * len(line.columns), line.columns, other.columns)


def _is_rejected(fields: dict[str, Any]) -> bool:
    """Returns whether an annotator rejected an example, in Prodigy or in Label Studio."""
    annotations: Any = fields.get("annotations")
    cancelled = is_list_of(annotations, dict) and [
        each.get("was_cancelled") for each in annotations
    ]
    return fields.get("answer") in ("reject", "ignore") or bool(cancelled and all(cancelled))


def _are_prefixes(prefixes: set[str], words: set[str]) -> bool:
    """Returns whether all words begin with a language, such as `en:`, or three with one prefix."""
    is_one_of_three = len(prefixes) == 1 and len(words) > 2
    return "" not in prefixes and (all(map(_LANGUAGE.fullmatch, prefixes)) or is_one_of_three)


def _without_prefix(word: str) -> str:
    return _PREFIX.sub("", word, count=1)
