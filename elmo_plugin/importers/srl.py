"""The importer of semantic roles: CoNLL-2012 of any kind, Universal Propositions and JSON."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from overrides import overrides

from elmo_plugin.importers.json_records import is_json, read_objects
from elmo_plugin.importers.lines import files_in, first_text, numbered_lines
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.srl_columns import read_srl_columns
from elmo_plugin.importers.srl_conll2005 import find_lemmas, has_number_of_word, read_conll2005
from elmo_plugin.importers.srl_dependencies import is_dependencies, read_dependencies
from elmo_plugin.importers.srl_example import NO_DOCUMENT, SrlExample, example_of
from elmo_plugin.importers.srl_json import sentence_in
from elmo_plugin.importers.srl_misc import has_roles_in_misc, read_roles_in_misc
from elmo_plugin.importers.srl_propositions import read_propositions
from elmo_plugin.importers.srl_universal import BEGINNING_OF_UNIVERSAL, read_universal
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.tasks.conll2012 import (
    END,
    FOLDER_PATTERNS,
    format_begin,
    format_sentence,
)
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.srl.sentences import VERB, SrlSentence, sentence_of

_PATTERNS = (*FOLDER_PATTERNS, "*.conll09", "*.conllup", "*.conllu", "*.jsonl", "*.json")
"""The names of files in a folder."""


class SrlImporter(TaskImporter[SrlExample]):
    """Imports sentences with their predicates, and writes them in the columns of CoNLL-2012."""

    examples = "sentences"
    suffix = ".gold_conll"
    kind_of_labels = "roles"

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[SrlExample]:
        for path in files_in(file, _PATTERNS):
            yield from self._read_file(path, options, report)

    def _read_file(self, path: str, options: ImportOptions, report: Report) -> Iterator[SrlExample]:
        """Yields the sentences of a file in any of the known forms."""
        lines = numbered_lines(path, options, report)
        sentences = _sentences_of_other_forms(path, lines, report)
        if sentences is None:
            report.took("the columns of CoNLL-2012")
            for example in read_srl_columns(lines, report):
                sentence_of(example.words)  # raises errors if brackets or predicates are malformed
                yield example
            return
        for first_line, sentence in sentences:
            try:
                yield example_of(sentence, first_line)
            except Unusable as error:
                place = first_line.place
                if path != report.file:  # the report is about the folder of this file
                    place = first_line.location
                report.leave_out(error.reason, place)

    @overrides
    def write(self, examples: Sequence[SrlExample]) -> Iterator[str]:
        by_document = groupby(examples, key=lambda example: (example.document, example.part))
        for (document, part), sentences in by_document:
            yield format_begin(document, part.zfill(3))
            for sentence in sentences:
                yield format_sentence(sentence.words)
            yield END

    @overrides
    def labels(self, example: SrlExample) -> Iterator[str]:
        for predicate in sentence_of(example.words).predicates:
            for argument in predicate.arguments:
                if argument.label != VERB:  # the predicate itself, no role
                    yield argument.label

    @overrides
    def document(self, example: SrlExample) -> str:
        if example.document == NO_DOCUMENT:
            return ""  # a split may separate such sentences
        return example.document

    @overrides
    def text(self, example: SrlExample) -> str:
        return " ".join(word.plain for word in example.words)


def _sentences_of_other_forms(
    path: str, lines: Sequence[Line], report: Report
) -> Iterator[tuple[Line, SrlSentence]] | None:
    """
    Returns the sentences of a file in a form other than CoNLL-2012, each with its first line.
    Returns `None` if the file has none of these forms; it is then read as CoNLL-2012.
    """
    first = first_text(lines)
    if is_json(first):
        report.took("JSON with words and frames")
        return _json_sentences(path, lines)
    if first.startswith(BEGINNING_OF_UNIVERSAL):
        report.took("Universal Propositions in CoNLL-U Plus")
        return read_universal(lines, report)
    if is_dependencies(lines):
        report.took("CoNLL-2009, or CoNLL-U with columns of predicates")
        return read_dependencies(lines, report)
    if has_roles_in_misc(lines):
        report.took("CoNLL-U with Roleset and Args in its last column")
        return read_roles_in_misc(lines, report)
    lemma_column = find_lemmas(lines)
    if lemma_column is None:
        return None
    report.took(f"the columns of CoNLL-2005, the lemmas of predicates in column {lemma_column + 1}")
    return read_conll2005(lines, lemma_column)


def _json_sentences(path: str, lines: Sequence[Line]) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the sentence of each record, after a `Line` without a text: reports take the place of the
    record from it.
    """
    text = "\n".join(line.text for line in lines)
    for record in read_objects(path, text):
        unit, number = record.place.split(" ")  # "line 7", or "item 7" if the file is a list
        yield Line("", path, int(number), unit), sentence_in(record)


def read_scored_srl(path: str) -> Iterator[SrlSentence]:
    """
    Reads the correct or the predicted roles of sentences, to score them. The file has CoNLL-2005's
    propositions, columns like CoNLL-2012's, Universal Propositions, or JSON. Raises
    `ConfigurationError`, naming file and line, if a line is malformed.
    """
    lines = list(read_text_lines(path))
    first = first_text(lines)
    if is_json(first):
        for record in read_objects(path, "".join(line.text for line in lines)):
            yield sentence_in(record)
    elif first.startswith(BEGINNING_OF_UNIVERSAL):
        for _, sentence in read_universal(lines, Report(path)):
            yield sentence
    elif first.startswith("#") or has_number_of_word(first.split()):  # CoNLL-2012
        for example in read_srl_columns(lines, Report(path)):  # a report that is not shown
            yield sentence_of(example.words)
    else:
        yield from read_propositions(lines)
