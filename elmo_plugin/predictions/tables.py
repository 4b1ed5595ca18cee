"""The inputs of predictors in tables: a text in each row, or a word in each row."""

from collections.abc import Iterator, Sequence

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.importers import TEXT_NAMES, ImportOptions, Report, read_table, read_untagged
from elmo_plugin.predictions.inputs import Input, input_of_item, input_of_texts

logger = get_logger(__name__)


def inputs_of_table(file: str, task: TaskCard) -> Iterator[Input]:
    """
    Yields the texts of a table, such as CSV or a spreadsheet. A header may name the columns of
    texts. A table without a header must have one column for each text of the task, and no others.

    Raises `BiLmError`, naming the file, if it is not certain which columns have the texts, or if
    the table has only a header. Raises `ConfigurationError` if the file is blank or is not a table.
    """
    report = Report(file)
    table = read_table(file, ImportOptions(), report)
    rows = [row for row in table.rows if not row.is_blank]
    columns = _named_columns(rows[0].fields, task)
    has_header = bool(columns)
    if has_header:
        rows = rows[1:]
    else:
        columns = _unnamed_columns(file, rows[0].fields, task)
    if not rows:
        raise BiLmError(f"{file}: expected a text, got only a header")
    for line in report.lines(examples="rows"):
        logger.info("%s", line)
    for row in rows:
        place = f"{file}, {row.place}"
        texts = [row.fields[column] for column in columns]
        if "" in texts:
            logger.warning("%s: left out, as a text is blank", place)
            continue
        yield Input(place, input_of_texts(task, texts, place), row.line)


def _named_columns(header: Sequence[str], task: TaskCard) -> list[int]:
    """
    Returns the numbers of the columns with the task's texts, or an empty list if the row is not a
    header that names them. If the task has a single text, its column may also have one of the names
    in `TEXT_NAMES`.
    """
    column_names = [task.usual_name(field.lower()) for field in header]
    if all(name in column_names for name in task.text_names):
        return [column_names.index(name) for name in task.text_names]
    if len(task.texts) == 1:
        for name in TEXT_NAMES:
            if name in column_names:
                return [column_names.index(name)]
    return []


def _unnamed_columns(file: str, first_row: Sequence[str], task: TaskCard) -> list[int]:
    """
    Returns the numbers of the columns with the task's texts if the table has no header. Raises
    `BiLmError`, naming the file, if the table does not have one column for each text.
    """
    if len(first_row) == len(task.texts):
        return list(range(len(first_row)))
    names = " and ".join(task.text_names)
    listed = ", ".join(repr(field) for field in first_row)
    raise BiLmError(f"{file}, line 1: expected a header that names {names}, got {listed:.200}")


def inputs_of_columns(file: str, task: TaskCard) -> Iterator[Input]:
    """
    Yields the words of each sentence in a file with a word in each row, such as CoNLL-U, with or
    without tags.

    Raises `ConfigurationError`, naming file and line, if the column of the words is not certain.
    """
    report = Report(file)
    for sentence in read_untagged(file, report):
        place = f"{file}, line {sentence.line}"
        yield Input(place, input_of_item(task, sentence.words, place), sentence.line)
    # A warning, because the column of the words was guessed from its fields.
    for line in report.lines(examples="rows"):
        logger.warning("%s", line)
