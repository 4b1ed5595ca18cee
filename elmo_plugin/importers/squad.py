"""The importer of questions about passages: SQuAD's relatives, MRQA, CMRC, JSON lines, tables."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.nested_fields import rows_in_object
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.squad_articles import questions_of_article
from elmo_plugin.importers.squad_fields import ROLES, question_of_fields, questions_of_table
from elmo_plugin.importers.squad_mrqa import is_mrqa, questions_of_mrqa
from elmo_plugin.importers.squad_passages import questions_of_passage
from elmo_plugin.importers.squad_question import RawQuestion, SquadExample, checked_example
from elmo_plugin.importers.tables import is_table_file, read_table, read_text_table
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.text import read_text
from elmo_plugin.tasks.squad.articles import Paragraph


class SquadImporter(TaskImporter[SquadExample]):
    """Imports questions about passages, and writes them in SQuAD 1.1's JSON."""

    examples = "questions"
    suffix = ".json"
    roles = ROLES

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[SquadExample]:
        raw_questions = _raw_questions(file, options, report)
        examples = list(_usable_examples(raw_questions, report))
        some_have_answers = any(example.question.answers for example in examples)
        for example in examples:
            # If no question has an answer, the file is one to predict, and all are kept.
            if some_have_answers and not example.question.answers:
                report.leave_out("without an answer", example.place)
            else:
                yield example

    @overrides
    def write(self, examples: Sequence[SquadExample]) -> Iterator[str]:
        # With one article in each line, people can look at the file, and programs compare it.
        yield '{"version": "1.1", "data": [\n'
        separator = ""
        for title, examples_of_article in groupby(examples, key=lambda example: example.title):
            article = _article(title, examples_of_article)
            yield separator + json.dumps(article, ensure_ascii=False)
            separator = ",\n"
        yield "\n]}\n"

    @overrides
    def check(self, file: str, examples: Sequence[SquadExample]) -> list[str]:
        if any(example.question.answers for example in examples):
            return []
        return [
            f"{file}: no answers to learn or to score; --column answer=NAME and "
            "answer_start=NAME name the columns that have them"
        ]

    @overrides
    def document(self, example: SquadExample) -> str:
        # A split keeps the questions about a passage together, even if its article lacks a title.
        return example.title or example.passage

    @overrides
    def text(self, example: SquadExample) -> str:
        return example.passage


def _article(title: str, examples: Iterator[SquadExample]) -> dict[str, Any]:
    """Returns an article of SQuAD's JSON, with a paragraph for each passage."""
    paragraphs = []
    for passage, examples_of_passage in groupby(examples, key=lambda example: example.passage):
        items = []
        for example in examples_of_passage:
            question = example.question
            answers = [
                {"text": answer.text, "answer_start": answer.start} for answer in question.answers
            ]
            items.append({"id": question.id, "question": question.text, "answers": answers})
        paragraphs.append({"context": passage, "qas": items})
    return {"title": title, "paragraphs": paragraphs}


def read_questions_to_answer(file: str, report: Report) -> Iterator[SquadExample]:
    """
    Yields the questions of a file whose answers a model will predict. Answers in the file are
    ignored, so that no question is left out because of a malformed one.
    """
    questions = _raw_questions(file, ImportOptions(), report)
    without_answers = (replace(question, answers=None) for question in questions)
    return _usable_examples(without_answers, report)


def _usable_examples(questions: Iterable[RawQuestion], report: Report) -> Iterator[SquadExample]:
    """Yields the questions that can be used, each id once. The report lists the others."""
    ids: set[str] = set()
    for raw in questions:
        try:
            example = checked_example(raw, report)
            identifier = str(example.question.id)  # in files of predictions, 7 becomes "7"
            if identifier in ids:
                raise Unusable("with the id of an earlier one")
        except Unusable as error:
            report.leave_out(error.reason, raw.place)
            continue
        ids.add(identifier)
        yield example


def _raw_questions(file: str, options: ImportOptions, report: Report) -> Iterator[RawQuestion]:
    """Yields the questions of a file of any form, before they are checked."""
    if is_table_file(file):
        yield from questions_of_table(read_table(file, options, report), options)
        return
    text = read_text(file, options, report)
    if not is_json(text):  # a table, although the name of the file does not say so
        yield from questions_of_table(read_text_table(file, text, options, report), options)
        return
    records = list(read_objects(file, text))
    if len(records) == 1 and isinstance(records[0].fields.get("question"), list):
        # One object of columns: {"question": ["Who left?", "Why?"], "context": [...], ...}
        records = rows_in_object(records[0], report)
    for record in records:
        if set(record.fields) == {"header"}:
            continue  # MRQA's files begin with a line about the data set
        yield from _questions_of_record(record, options, report)


def _questions_of_record(
    record: Record, options: ImportOptions, report: Report
) -> Iterator[RawQuestion]:
    """Yields the questions of a record of JSON. Its keys show which form it has."""
    fields = record.fields
    if isinstance(fields.get("paragraphs"), list):
        report.took("articles with paragraphs, as SQuAD has them")
        yield from questions_of_article(record, report)
    elif is_mrqa(fields):
        report.took("passages with detected answers, as MRQA has them")
        yield from questions_of_mrqa(record)
    elif isinstance(fields.get("qas"), list):
        report.took("passages with a list of questions each")
        yield from questions_of_passage(record, options)
    else:
        report.took("a question in each record")
        yield question_of_fields(record, options)


def read_scored_squad(path: str) -> Iterator[Paragraph]:
    """
    Reads the correct answers that predictions are scored against. Each question is in a paragraph
    of its own. Raises `ConfigurationError`, naming the file, if a question cannot be used.
    """
    report = Report(path)
    for raw in _raw_questions(path, ImportOptions(), report):
        try:
            # Only the texts of answers are scored, and not their places.
            example = checked_example(raw, report, take_first_places=True)
        except Unusable as error:
            raise ConfigurationError(
                f"{path}, {raw.place}: expected no questions {error.reason}"
            ) from None
        yield Paragraph(f"{path}, {example.place}", example.passage, [example.question])
