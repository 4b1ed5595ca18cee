"""Words and their tags, such as named entities, from the files of public data sets and tools."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.common.errors import check_choice
from elmo_plugin.importers.entities_in_brackets import is_conll2012, sentences_with_brackets
from elmo_plugin.importers.inline_entities import has_inline_entities, inline_sentences
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.parallel_lines import other_file, parallel_sentences
from elmo_plugin.importers.python_examples import is_python, read_examples
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.slashed_words import find_mark, slashed_sentences
from elmo_plugin.importers.spacy_documents import (
    is_doc_bin,
    is_training_json,
    sentences_of_doc_bin,
    sentences_of_training_json,
)
from elmo_plugin.importers.table_text import has_quoted_fields
from elmo_plugin.importers.tables import Table, is_binary_table, read_table, read_text_table
from elmo_plugin.importers.tag_encodings import (
    CHOICES,
    PLAIN,
    find_kind,
    outside_tag,
    to_bio,
    with_usual_outside,
)
from elmo_plugin.importers.tagged_columns import (
    check_rows,
    is_csv,
    records_of_table,
    sentences_of_columns,
)
from elmo_plugin.importers.tagged_json import sentences_of_records
from elmo_plugin.importers.tagged_sentence import TaggedSentence, entity_types
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.text import read_lines, read_text
from elmo_plugin.importers.usable_sentences import usable_sentences
from elmo_plugin.importers.webanno import is_webanno, webanno_sentences
from elmo_plugin.importers.word_columns import columns_of_table, columns_of_text, have_tabs
from elmo_plugin.importers.word_prefixes import without_prefixes
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

_MOST_TAGS = 5  # that a message lists


class TagImporter(TaskImporter[TaggedSentence]):
    """Imports sentences whose words have tags of any kind."""

    examples = "sentences"
    suffix = ".txt"
    roles = ("word", "tag")
    kind_of_labels = "tags"
    needs_two_labels = True
    prefers_entities = False
    """Whether types of entities without letters are the tags, if a file has other tags too."""

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[TaggedSentence]:
        if options.tag_encoding is not None:
            check_choice("--tags", options.tag_encoding, CHOICES, ConfigurationError)
        found = list(self._sentences(file, options, report))
        usable = list(usable_sentences(file, found, report))
        if usable:
            yield from self.convert(file, without_prefixes(usable, report), options, report)

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
        if is_doc_bin(file):
            yield from sentences_of_doc_bin(file, self.prefers_entities)
        elif is_binary_table(file):
            yield from self._of_table(read_table(file, options, report), options, report)
        else:
            yield from self._of_text(file, read_text(file, options, report), options, report)

    def _of_text(
        self, file: str, text: str, options: ImportOptions, report: Report
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences of a text. Its beginning shows its form, or its name."""
        lines = text.split("\n")
        other = other_file(file)
        mark = find_mark(lines)
        if is_json(text) and is_training_json(text):
            report.took("the JSON by which spaCy 2 was trained")
            yield from sentences_of_training_json(text, self.prefers_entities)
        elif is_json(text):
            yield from self._of_records(read_objects(file, text), options, report)
        elif is_python(text):
            report.took("Python's examples, as spaCy 2 was trained with")
            yield from self._of_records(read_examples(file, text), options, report)
        elif other is not None:
            report.took(f"the tags are in {other}")
            tags = read_lines(other, options, report)
            yield from parallel_sentences(file, text.rstrip("\n").split("\n"), other, tags)
        elif is_webanno(lines):
            report.took("WebAnno TSV 3, which INCEpTION writes")
            yield from webanno_sentences(file, lines, report, options.columns.get("tag"))
        elif has_inline_entities(text):
            report.took("a text in each line, with elements of XML around its entities")
            yield from inline_sentences(lines, SpacyRulesTokenizer(options.language), report)
        elif mark is not None and options.separator in (None, mark):
            report.took(f"a sentence in each line, {mark!r} between a word and its tag")
            yield from slashed_sentences(lines, mark)
        elif is_conll2012(lines) and "tag" not in options.columns:
            report.took("CoNLL-2012 with entities in brackets")
            yield from sentences_with_brackets(file, lines)
        elif options.separator not in (None, "\t", " ") or is_csv(file, lines):
            yield from self._of_table(read_text_table(file, text, options, report), options, report)
        elif have_tabs(lines) and has_quoted_fields(text, "\t"):
            with_tabs = replace(options, separator="\t")
            table = read_text_table(file, text, with_tabs, report)
            yield from self._of_table(table, options, report)
        else:
            chosen = options.columns.values()
            columns = columns_of_text(file, lines, options.separator, chosen)
            yield from sentences_of_columns(columns, options, report, self.prefers_entities)

    def _of_records(
        self, records: Iterable[Record], options: ImportOptions, report: Report
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences of records. Texts become words by spaCy's rules."""
        tokenizer = SpacyRulesTokenizer(options.language)
        yield from sentences_of_records(records, options, tokenizer, report)

    def _of_table(
        self, table: Table, options: ImportOptions, report: Report
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences of a table: one in each row, or a word in each."""
        records = records_of_table(table)
        if records:
            yield from self._of_records(records, options, report)
            return
        check_rows(table, report)
        columns = columns_of_table(table, options.columns.values())
        yield from sentences_of_columns(columns, options, report, self.prefers_entities)

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
    prefers_entities = True

    @overrides
    def convert(
        self,
        file: str,
        sentences: Sequence[TaggedSentence],
        options: ImportOptions,
        report: Report,
    ) -> Iterable[TaggedSentence]:
        encoding = options.tag_encoding
        sentences = with_usual_outside(sentences)
        tags = [tag for sentence in sentences for tag in sentence.tags]
        if encoding is None:
            encoding = find_kind(tags)
        if encoding == PLAIN:
            raise _no_entities(file, tags)
        converted, found = to_bio(file, sentences, encoding)
        report.took(f"the tags are {found}")
        return converted

    @overrides
    def labels(self, example: TaggedSentence) -> Iterable[str]:
        return entity_types(example.tags)


def _no_entities(file: str, tags: Sequence[str]) -> ConfigurationError:
    """Returns the error that tags mark no entities, with the options that may help."""
    shown = ", ".join(sorted(set(tags))[:_MOST_TAGS])
    outside = outside_tag(tags)
    hint = ""
    # O needs no hint, and a frequent tag in capitals, such as NOUN, is a part of speech.
    if not outside.isupper():
        hint = f", and {outside!r} as no entity"
    return ConfigurationError(
        f"{file}: tags such as {shown} mark no entities: `elmo import tag` takes tags of any kind, "
        f"--column tag=NAME another column, and --tags IO types without a letter{hint}"
    )
