"""Articles of paragraphs with questions: SQuAD 1.1 and 2.0, and data sets of their shape."""

from collections.abc import Iterator

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.squad_question import RawQuestion


def questions_of_article(record: Record, report: Report) -> Iterator[RawQuestion]:
    """Yields the questions of an article. Paragraphs of another shape are left out."""
    title = record.fields.get("title")
    if not isinstance(title, str):
        title = ""
    for number, paragraph in enumerate(record.fields["paragraphs"], start=1):
        place = f"{title or record.place}, paragraph {number}"
        fields = paragraph if isinstance(paragraph, dict) else {}
        questions = fields.get("qas")
        if not isinstance(questions, list):
            report.leave_out('about a paragraph without "qas"', place)
            continue
        for question_number, question in enumerate(questions, start=1):
            item = question if isinstance(question, dict) else {}
            yield RawQuestion(
                place=f"{place}, question {item.get('id', question_number)}",
                passage=fields.get("context"),
                text=item.get("question"),
                answers=item.get("answers"),
                id=item.get("id"),
                title=title,
                is_impossible=item.get("is_impossible"),
            )
