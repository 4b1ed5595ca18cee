"""The forms of text files with tagged words. The text of a file shows its form, or its name does.

`FORMS` lists them in the order in which they are tried.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from elmo_plugin.importers.entities_in_brackets import is_conll2012, sentences_with_brackets
from elmo_plugin.importers.inline_entities import (
    has_inline_elements,
    has_inline_entities,
    inline_sentences,
)
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.parallel_lines import parallel_sentences, tags_beside
from elmo_plugin.importers.pubtator import is_pubtator, pubtator_sentences
from elmo_plugin.importers.python_examples import is_python, read_examples
from elmo_plugin.importers.rasa import (
    is_rasa_markdown,
    is_rasa_yaml,
    records_of_markdown,
    records_of_yaml,
)
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.slashed_words import find_tag_mark, slashed_sentences
from elmo_plugin.importers.spacy_documents import is_training_json, sentences_of_training_json
from elmo_plugin.importers.table_text import has_quoted_fields
from elmo_plugin.importers.tables import Table, read_text_table
from elmo_plugin.importers.tagged_columns import (
    is_read_as_table,
    records_of_table,
    refuse_left_out_rows,
    sentences_of_columns,
)
from elmo_plugin.importers.tagged_json import sentences_of_records
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.text import read_text
from elmo_plugin.importers.webanno import is_webanno, webanno_sentences
from elmo_plugin.importers.word_columns import columns_of_table, columns_of_text, have_tabs
from elmo_plugin.importers.xml_documents import is_xml, sentences_of_xml
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer

Sentences = Iterator[TaggedSentence]


@dataclass(frozen=True)
class TaggedText:
    """The text of a file, and how it is to be read."""

    file: str
    text: str
    options: ImportOptions
    report: Report
    prefers_entities: bool
    """Whether types of entities without letters are the tags, if a file has other tags too."""

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @cached_property
    def tokenizer(self) -> SpacyRulesTokenizer:
        """The rules that split the texts of a language into words."""
        return SpacyRulesTokenizer(self.options.language)

    def sentences_of(self, records: Iterable[Record]) -> Sentences:
        """Yields the sentences of records. Their texts become words by spaCy's rules."""
        yield from sentences_of_records(records, self.options, self.tokenizer, self.report)


@dataclass(frozen=True)
class Form:
    """A form of text: how it is recognized and read."""

    fits: Callable[[TaggedText], bool]
    read: Callable[[TaggedText], Sentences]
    description: str = ""
    """The name of the form in the report; empty if `read` itself reports how it read the text."""


def sentences_of_text(source: TaggedText) -> Sentences:
    """Yields the sentences of a text, read in the first of the `FORMS` that fits it."""
    for form in FORMS:
        if form.fits(source):
            if form.description:
                source.report.took(form.description)
            yield from form.read(source)
            return
    raise AssertionError("the last form fits every text")


def sentences_of_table(
    table: Table, options: ImportOptions, report: Report, prefers_entities: bool
) -> Sentences:
    """Yields the sentences of a table whose rows are whole sentences, or else words."""
    records = records_of_table(table)  # one for each row, or none if rows are words
    if records:
        tokenizer = SpacyRulesTokenizer(options.language)
        yield from sentences_of_records(records, options, tokenizer, report)
        return
    refuse_left_out_rows(table, report)  # such a row would be missing from its sentence
    columns = columns_of_table(table, chosen=options.columns.values())
    yield from sentences_of_columns(columns, options, report, prefers_entities)


def _has_training_json(source: TaggedText) -> bool:
    return is_json(source.text) and is_training_json(source.text)


def _read_training_json(source: TaggedText) -> Sentences:
    return sentences_of_training_json(source.file, source.text, source.prefers_entities)


def _has_json(source: TaggedText) -> bool:
    return is_json(source.text)


def _read_json(source: TaggedText) -> Sentences:
    return source.sentences_of(read_objects(source.file, source.text))


def _has_python(source: TaggedText) -> bool:
    return is_python(source.text)


def _read_python(source: TaggedText) -> Sentences:
    return source.sentences_of(read_examples(source.file, source.text))


def _has_file_of_tags(source: TaggedText) -> bool:
    return tags_beside(source.file) is not None


def _read_two_files(source: TaggedText) -> Sentences:
    tag_file = tags_beside(source.file)
    assert tag_file is not None  # `_has_file_of_tags` has found it
    source.report.took(f"the tags are in {tag_file}")
    tags = read_text(tag_file, source.options, source.report)
    # The number of lines must be the same, but either file may end in blank lines.
    lines_of_words = source.text.rstrip().split("\n")
    lines_of_tags = tags.rstrip().split("\n")
    return parallel_sentences(source.file, lines_of_words, tag_file, lines_of_tags)


def _has_webanno(source: TaggedText) -> bool:
    return is_webanno(source.lines)


def _read_webanno(source: TaggedText) -> Sentences:
    column = source.options.columns.get("tag")
    return webanno_sentences(source.file, source.lines, source.report, column)


def _has_muc(source: TaggedText) -> bool:
    return has_inline_entities(source.text)


def _has_elements_in_lines(source: TaggedText) -> bool:
    # With `--separator`, the lines are columns, and elements are words.
    return source.options.separator is None and has_inline_elements(source.lines)


def _read_elements_in_lines(source: TaggedText) -> Sentences:
    return inline_sentences(source.lines, source.tokenizer, source.report)


def _has_xml(source: TaggedText) -> bool:
    return is_xml(source.text)


def _read_xml(source: TaggedText) -> Sentences:
    return sentences_of_xml(source.file, source.text, source.tokenizer, source.report)


def _has_rasa_markdown(source: TaggedText) -> bool:
    return is_rasa_markdown(source.text)


def _read_rasa_markdown(source: TaggedText) -> Sentences:
    return source.sentences_of(records_of_markdown(source.file, source.text))


def _has_rasa_yaml(source: TaggedText) -> bool:
    return is_rasa_yaml(source.text)


def _read_rasa_yaml(source: TaggedText) -> Sentences:
    return source.sentences_of(records_of_yaml(source.file, source.text))


def _has_pubtator(source: TaggedText) -> bool:
    return is_pubtator(source.lines)


def _read_pubtator(source: TaggedText) -> Sentences:
    return pubtator_sentences(source.lines, source.tokenizer, source.report)


def _has_tags_behind_marks(source: TaggedText) -> bool:
    mark = find_tag_mark(source.lines)
    return mark is not None and source.options.separator in (None, mark)


def _read_tags_behind_marks(source: TaggedText) -> Sentences:
    mark = find_tag_mark(source.lines)
    assert mark is not None  # `_has_tags_behind_marks` has found it
    source.report.took(f"a sentence in each line, {mark!r} between a word and its tag")
    return slashed_sentences(source.lines, mark)


def _has_brackets(source: TaggedText) -> bool:
    # With `--column tag=NAME`, one of the other columns has the tags.
    return "tag" not in source.options.columns and is_conll2012(source.lines)


def _read_brackets(source: TaggedText) -> Sentences:
    return sentences_with_brackets(source.file, source.lines)


def _has_csv(source: TaggedText) -> bool:
    # `_read_columns` reads columns between tabs or spaces.
    has_other_separator = source.options.separator not in (None, "\t", " ")
    return has_other_separator or is_read_as_table(source.file, source.lines)


def _read_csv(source: TaggedText) -> Sentences:
    return _read_table(source, source.options)


def _has_quoted_tabs(source: TaggedText) -> bool:
    return have_tabs(source.lines) and has_quoted_fields(source.text, "\t")


def _read_quoted_tabs(source: TaggedText) -> Sentences:
    return _read_table(source, replace(source.options, separator="\t"))


def _read_table(source: TaggedText, options: ImportOptions) -> Sentences:
    """Yields the sentences of a text that is a table, separated as the options say."""
    table = read_text_table(source.file, source.text, options, source.report)
    return sentences_of_table(table, options, source.report, source.prefers_entities)


def _has_columns(source: TaggedText) -> bool:
    return True  # the last form of `FORMS` fits every text


def _read_columns(source: TaggedText) -> Sentences:
    options = source.options
    columns = columns_of_text(
        source.file, source.lines, options.separator, chosen=options.columns.values()
    )
    return sentences_of_columns(columns, options, source.report, source.prefers_entities)


FORMS = (
    Form(_has_training_json, _read_training_json, "the JSON by which spaCy 2 was trained"),
    Form(_has_json, _read_json),
    Form(_has_python, _read_python, "Python's examples, as spaCy 2 was trained with"),
    Form(_has_file_of_tags, _read_two_files),
    Form(_has_webanno, _read_webanno, "WebAnno TSV 3, as INCEpTION writes"),
    Form(
        _has_muc,
        _read_elements_in_lines,
        "a text in each line, with elements of XML around its entities",
    ),
    Form(_has_xml, _read_xml),
    Form(_has_rasa_markdown, _read_rasa_markdown, "Rasa's examples in Markdown"),
    Form(_has_rasa_yaml, _read_rasa_yaml, "Rasa's examples in YAML"),
    Form(_has_pubtator, _read_pubtator, "PubTator's titles and abstracts, each a sentence"),
    Form(_has_tags_behind_marks, _read_tags_behind_marks),
    Form(_has_brackets, _read_brackets, "CoNLL-2012 with entities in brackets"),
    Form(
        _has_elements_in_lines,
        _read_elements_in_lines,
        "a text in each line, with elements of XML around its entities",
    ),
    Form(_has_csv, _read_csv),
    Form(_has_quoted_tabs, _read_quoted_tabs),
    Form(_has_columns, _read_columns),
)
