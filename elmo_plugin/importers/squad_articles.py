"""Articles of paragraphs with questions: SQuAD 1.1 and 2.0, and data sets of their shape."""

from collections.abc import Iterator

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.squad_question import RawQuestion, fields_of_question


def questions_of_article(record: Record, report: Report) -> Iterator[RawQuestion]:
    """
    Yields the questions of an article, a record with a list of "paragraphs". Paragraphs without a
    list of questions are left out.
    """
    article_place = record.place
    title = record.fields.get("title")
    if isinstance(title, str) and title:
        article_place += f" ({title})"
    else:
        title = ""
    for paragraph_number, paragraph in enumerate(record.fields["paragraphs"], start=1):
        place = f"{article_place}, paragraph {paragraph_number}"
        questions = None
        if isinstance(paragraph, dict):
            questions = paragraph.get("qas")
        if not isinstance(questions, list):
            report.leave_out('about a paragraph without "qas"', place)
            continue
        for question_number, question in enumerate(questions, start=1):
            fields = fields_of_question(question)
            # The number tells questions without ids apart: their places become their ids.
            id_or_number = fields.get("id") or question_number
            yield RawQuestion(
                place=f"{place}, question {id_or_number}",
                passage=paragraph.get("context"),
                text=fields.get("question"),
                answers=fields.get("answers"),
                id=fields.get("id"),
                title=title,
                is_impossible=fields.get("is_impossible"),
            )
