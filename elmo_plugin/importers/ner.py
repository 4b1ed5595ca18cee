"""Words and their tags, such as named entities, from the files of public data sets and tools."""

import re
from collections.abc import Iterable, Iterator, Sequence

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.common.typography import SEPARATE
from elmo_plugin.importers.column_finder import ColumnFinder
from elmo_plugin.importers.entities_in_brackets import is_conll2012, sentences_with_brackets
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.parallel_lines import other_file, parallel_sentences
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.slashed_words import find_mark, slashed_sentences
from elmo_plugin.importers.tables import (
    Table,
    is_binary_table,
    is_table_file,
    read_table,
    read_text_table,
)
from elmo_plugin.importers.tag_encodings import CHOICES, PLAIN, find_kind, to_bio
from elmo_plugin.importers.tagged_json import as_list, sentences_of_records
from elmo_plugin.importers.tagged_sentence import TaggedSentence, entity_types
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.text import read_lines, read_text
from elmo_plugin.importers.webanno import is_webanno, webanno_sentences
from elmo_plugin.importers.word_columns import WordColumns, columns_of_table, columns_of_text
from elmo_plugin.importers.word_prefixes import without_prefixes
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

MOST_WORDS = 1_000  # of a sentence
_BEGINNING_OF_LIST = re.compile(r"""\"?\[['"\d]""")
_MOST_CHARACTERS = 15  # Han or kana, of a word


class TagImporter(TaskImporter[TaggedSentence]):
    """Imports sentences whose words have tags of any kind."""

    examples = "sentences"
    suffix = ".txt"
    roles = ("word", "tag")
    kind_of_labels = "tags"
    needs_two_labels = True

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[TaggedSentence]:
        if options.tag_encoding is not None:
            check_choice("--tags", options.tag_encoding, CHOICES, ConfigurationError)
        found = list(self._sentences(file, options, report))
        usable = without_prefixes(list(_usable(file, found, report)), report)
        if usable:
            yield from self.convert(file, usable, options, report)

    def convert(
        self,
        file: str,
        sentences: Sequence[TaggedSentence],
        options: ImportOptions,
        report: Report,
    ) -> Iterable[TaggedSentence]:
        """Returns the sentences with the tags that are written, by default as they are."""
        return sentences

    def _sentences(
        self, file: str, options: ImportOptions, report: Report
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences of a file as its form has them."""
        if is_binary_table(file):
            yield from _of_table(read_table(file, options, report), options, report)
            return
        text = read_text(file, options, report)
        lines = text.split("\n")
        other = other_file(file)
        mark = find_mark(lines)
        if is_json(text):
            yield from _of_records(read_objects(file, text), options, report)
        elif other is not None:
            report.took(f"the tags are in {other}")
            tags = read_lines(other, options, report)
            yield from parallel_sentences(file, text.rstrip("\n").split("\n"), other, tags)
        elif is_webanno(lines):
            report.took("WebAnno TSV 3, which INCEpTION writes")
            yield from webanno_sentences(file, lines, options.columns.get("tag"))
        elif mark is not None and options.separator in (None, mark):
            report.took(f"a sentence in each line, {mark!r} between a word and its tag")
            yield from slashed_sentences(lines, mark)
        elif is_conll2012(lines) and "tag" not in options.columns:
            report.took("CoNLL-2012 with entities in brackets")
            yield from sentences_with_brackets(file, lines)
        elif options.separator not in (None, "\t", " ") or _is_csv(file, text):
            yield from _of_table(read_text_table(file, text, options, report), options, report)
        else:
            chosen = options.columns.values()
            columns = columns_of_text(file, lines, options.separator, chosen)
            yield from _of_columns(columns, options, report)

    @overrides
    def write(self, examples: Sequence[TaggedSentence]) -> Iterator[str]:
        """Yields a word and its tag in each line, with a tab between them."""
        for sentence in examples:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                yield f"{word}\t{tag}\n"
            yield "\n"

    @overrides
    def labels(self, example: TaggedSentence) -> Iterable[str]:
        return example.tags

    @overrides
    def document(self, example: TaggedSentence) -> str | None:
        return example.document

    @overrides
    def text(self, example: TaggedSentence) -> str:
        return " ".join(example.words)


class NerImporter(TagImporter):
    """Imports sentences with named entities, or other chunks, in any usual encoding, as BIO."""

    kind_of_labels = "entities"
    needs_two_labels = False

    @overrides
    def convert(
        self,
        file: str,
        sentences: Sequence[TaggedSentence],
        options: ImportOptions,
        report: Report,
    ) -> Iterable[TaggedSentence]:
        encoding = options.tag_encoding
        tags = [tag for sentence in sentences for tag in sentence.tags]
        if encoding is None:
            encoding = find_kind(tags)
        if encoding == PLAIN:
            shown = ", ".join(sorted(set(tags))[:5])
            raise ConfigurationError(
                f"{file}: tags such as {shown} mark no entities: `elmo import tag` takes tags of "
                "any kind, --column tag=NAME another column, and --tags IO types without a letter"
            )
        converted, found = to_bio(file, sentences, encoding)
        report.took(f"the tags are {found}")
        return converted

    @overrides
    def labels(self, example: TaggedSentence) -> Iterable[str]:
        return entity_types(example.tags)


def _is_csv(file: str, text: str) -> bool:
    """Returns whether the name says that it is CSV, or a table whose second row has lists."""
    if not is_table_file(file):
        return False
    is_tsv = ".tsv" in file.lower() or ".tab" in file.lower()
    second = [*text.split("\n", 2), ""][1]
    return not is_tsv or any(_BEGINNING_OF_LIST.match(field) for field in second.split("\t"))


def _of_records(
    records: Iterable[Record], options: ImportOptions, report: Report
) -> Iterator[TaggedSentence]:
    tokenizer = SpacyRulesTokenizer(options.language)
    yield from sentences_of_records(records, options, tokenizer, report)


def _of_table(table: Table, options: ImportOptions, report: Report) -> Iterator[TaggedSentence]:
    """Yields the sentences of a table: one in each row, as lists, or a word in each."""
    rows = [row for row in table.rows if not row.is_blank]
    if len(rows) > 1 and any(isinstance(as_list(field), list) for field in rows[1].fields):
        names = rows[0].fields
        records = [
            Record(table.file, row.place, dict(zip(names, row.fields, strict=True)))
            for row in rows[1:]
        ]
        yield from _of_records(records, options, report)
        return
    columns = columns_of_table(table, options.columns.values())
    yield from _of_columns(columns, options, report)


def _of_columns(
    columns: WordColumns, options: ImportOptions, report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of columns, with their documents if there are several. An empty tag is O
    where others are tags.
    """
    if not columns.sentences:
        return
    finder = ColumnFinder(columns)
    word, tag = options.columns.get("word"), options.columns.get("tag")
    word_column = None if word is None else finder.resolve(word, "word")
    tag_column = finder.find_tags(word_column) if tag is None else finder.resolve(tag, "tag")
    if word_column is None:
        word_column = finder.find_words(tag_column)
    if word_column == tag_column:
        raise finder.error(f"--column: word and tag are the same column, {tag_column}")
    report.took(
        f"the words are in column {columns.name(word_column)!r}, the tags in column "
        f"{columns.name(tag_column)!r}"
    )
    empty = 0
    documents = {rows[0].document for rows in columns.sentences}
    for rows in columns.sentences:
        tags = []
        for row in rows:
            value = row.fields[tag_column]
            empty += not value
            tags.append(value or "O")
        places = [row.place for row in rows]
        words = [row.fields[word_column] for row in rows]
        document = None
        if len(documents) > 1:
            document = rows[0].document or None
        yield TaggedSentence(places, words, tags, document)
    if len(documents) > 1:
        report.took(f"{len(documents):,} documents, which --split keeps whole")
    if empty:
        report.took(f"{empty:,} words without a tag are O")


def _usable(
    file: str, sentences: Sequence[TaggedSentence], report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences with a text for each word. Raises `ConfigurationError`, naming file and
    place, for words that are texts, tags of a whole sentence, and sentences that are documents.
    """
    for sentence in sentences:
        place = sentence.places[0] if sentence.places else ""
        if len(sentence.words) > MOST_WORDS:
            raise ConfigurationError(
                f"{file}, {place}: a sentence of {len(sentence.words):,} words; a blank line, or a "
                "column with the number of the sentence, ends one"
            )
        if not sentence.words:
            report.leave_out("without a word", place)
            continue
        blank = [n for n, word in enumerate(sentence.words) if not word.strip(" \t\r\n")]
        if blank:
            sentence = _without_words(sentence, blank, report)
        for number, word in enumerate(sentence.words):
            where = f"{file}, {sentence.places[number]}"
            if len(SEPARATE.findall(word)) > _MOST_CHARACTERS:
                raise ConfigurationError(
                    f"{where}: expected words, got a whole text, {word!r:.60}; text between its "
                    "words must be split first"
                )
            tag = sentence.tags[number]
            if " " in tag or tag.startswith(("[", "(")):
                raise ConfigurationError(
                    f"{where}: expected a word and its tag in each line, got the tag {tag!r:.50}; "
                    "--separator or --column tag=NAME chooses another, and JSON lines have all "
                    "words and tags of a sentence"
                )
        if sentence.words:
            yield sentence


def _without_words(
    sentence: TaggedSentence, numbers: Sequence[int], report: Report
) -> TaggedSentence:
    """Returns a sentence without the words that are blank."""
    for number in numbers:
        report.took(f"the blank word in {sentence.places[number]} is left out")
    kept = [n for n in range(len(sentence.words)) if n not in numbers]
    return sentence._replace(
        places=[sentence.places[n] for n in kept],
        words=[sentence.words[n] for n in kept],
        tags=[sentence.tags[n] for n in kept],
    )
