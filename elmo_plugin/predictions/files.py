"""
Writes predictions to files, in the format of the file's suffix.

To add a format, write a function beside the others and add it to `_WRITERS`, and add its suffix to
`FORMATS` in the `__init__` of this package.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, is_special
from elmo_plugin.common.formats.formulas import count_formulas, warn_of_formulas
from elmo_plugin.common.label_names import beside_names
from elmo_plugin.common.streams import escape_in_json, visible_line
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.predictions import check_suffix
from elmo_plugin.predictions.kinds import Kind, kind_of
from elmo_plugin.predictions.pages import Section, page
from elmo_plugin.predictions.prediction import Prediction

if TYPE_CHECKING:
    from allennlp.predictors import Predictor

_STANDARD_OUTPUT = "/dev/stdout"


class Target(NamedTuple):
    """
    Where predictions are written.

    file: open for writing
    path: as the user gave it, for a title and for warnings
    predictor: AllenNLP's predictor; only .conll needs it
    """

    file: TextIO
    path: Path
    predictor: "Predictor | None"


class NumberedPredictions:
    """
    Iterates over predictions, and counts them. Each comes with the number of its input's line in a
    file, or, if the inputs are from no file, with its own number, from 1.
    """

    def __init__(self, predictions: Iterable[Prediction]) -> None:
        self._predictions = predictions
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, Prediction]]:
        for prediction in self._predictions:
            self.count += 1
            yield prediction.line or self.count, prediction


def check_format(path: str | Path, task: TaskCard) -> None:
    """
    Raises `BiLmError` unless the predictions of a task can be written to a path: its suffix must be
    one of `FORMATS`, and .conll is only for tasks that find entities.
    """
    # A device or a pipe gets JSON lines if its name does not have a suffix.
    if not is_special(path):
        check_suffix(path)
    if Path(path).suffix.lower() == ".conll" and "entities" not in task.finds:
        raise BiLmError(
            f"{path}: {task.title.lower()} has no .conll; expected .jsonl, .json, .csv or .html"
        )


def write_predictions(
    predictions: Iterable[Prediction], path: str | Path, predictor: "Predictor | None" = None
) -> int:
    """
    Writes predictions to a file in the format of its suffix, completely or not at all, and returns
    their number. A path with none of these suffixes is standard output or a device.

    .jsonl: a line with a JSON object for each prediction; also without a suffix
    .json: a list of the same objects
    .csv: a row for each entity, role, mention, answer or label
    .conll: a line for each word and its tag, formatted by AllenNLP's `predictor`
    .html: a page with a section for each prediction
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower(), _write_jsonl)
    numbered = NumberedPredictions(predictions)
    if str(path) == _STANDARD_OUTPUT:
        write(numbered, Target(file=sys.stdout, path=path, predictor=predictor))
        return numbered.count
    with (
        atomic_write(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        write(numbered, Target(file=file, path=path, predictor=predictor))
    return numbered.count


def _write_jsonl(predictions: NumberedPredictions, target: Target) -> None:
    """Writes a line for each prediction: an object with the keys of the input and of the output."""
    # Whoever reads standard output, a person or a program, gets each prediction at once.
    flush = target.file is sys.stdout
    for line, prediction in predictions:
        print(_to_json(line, prediction), file=target.file, flush=flush)


def _write_json(predictions: NumberedPredictions, target: Target) -> None:
    """Writes a list of the objects that .jsonl has, each on its own line."""
    target.file.write("[")
    separator = "\n"
    for line, prediction in predictions:
        target.file.write(separator + _to_json(line, prediction))
        separator = ",\n"
    target.file.write("\n]\n")


def _to_json(line: int, prediction: Prediction) -> str:
    """
    Returns the number of the line, the input and the prediction as JSON in one line. If the input
    has another value for a key of the output, it is written as `input_KEY`.
    """
    output: dict[str, object] = dict(prediction)
    output["line"] = line
    content: dict[str, object] = {"line": line}  # so that every object begins with it
    inputs = prediction.inputs
    names = [key for key in output if key not in inputs or inputs[key] != output[key]]
    content.update(beside_names(names, inputs, prefix="input_"))
    content.update(output)
    return escape_in_json(json.dumps(content, ensure_ascii=False))


def _write_html(predictions: NumberedPredictions, target: Target) -> None:
    """Writes a page with a section for each prediction."""
    sections = (Section(line, prediction.view()) for line, prediction in predictions)
    target.file.writelines(page(target.path.stem, sections))


def _write_conll(predictions: NumberedPredictions, target: Target) -> None:
    """
    Writes a line for each word, and a blank line after each sentence. Control characters are
    visible escapes: `cat` shows such files in a terminal.
    """
    # Only the tagger's predictor comes here, see `check_format`; AllenNLP's base class does not
    # declare its `format_lines`.
    predictor: Any = target.predictor
    for _, prediction in predictions:
        for line in predictor.format_lines(prediction):
            target.file.write(f"{visible_line(line)}\n")


def _write_csv(predictions: NumberedPredictions, target: Target) -> None:
    """Writes a table with the rows of all predictions."""
    table: csv.DictWriter[str] | None = None
    num_formulas = 0
    for line, prediction in predictions:
        kind = _kind_of_rows(prediction)
        in_each_row: dict[str, object] = {"line": line}
        if kind.repeats_texts:
            in_each_row.update(prediction.texts())
        # A label may be any word, such as "line" or "text".
        names_of_columns = [*in_each_row, *kind.columns]
        cells_of_labels = beside_names(names_of_columns, kind.cells_of_labels(prediction))
        if table is None:
            # All predictions are of one task, so all have the columns of the first.
            table = _begin_table(target.file, [*names_of_columns, *cells_of_labels])
        for row in kind.rows(prediction):
            cells = {**in_each_row, **row, **cells_of_labels}
            num_formulas += count_formulas(cells.values())
            table.writerow(cells)
    warn_of_formulas(target.path.name, num_formulas)


def _kind_of_rows(prediction: Prediction) -> Kind:
    """Returns the kind of a prediction. Raises `BiLmError` if it is not known."""
    kind = kind_of(prediction)
    if kind is None:
        raise BiLmError(
            f"a prediction with {', '.join(prediction)} cannot be a table; write .jsonl"
        )
    return kind


def _begin_table(file: TextIO, columns: Sequence[str]) -> "csv.DictWriter[str]":
    """Writes the header of a table, and returns the writer of its rows."""
    # Rows also have keys that are not columns, such as `start_word` of an entity: they are ignored.
    table = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    return table


_WRITERS: dict[str, Callable[[NumberedPredictions, Target], None]] = {
    ".jsonl": _write_jsonl,
    ".json": _write_json,
    ".csv": _write_csv,
    ".conll": _write_conll,
    ".html": _write_html,
}
