"""Reads texts from files, and writes their predictions to files."""

import csv
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, is_special
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import (
    compression,
    decode,
    read_lines,
    standard_input_lines,
)
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.predictions import FORMATS
from elmo_plugin.predictions.prediction import FIELDS, Prediction, Task
from elmo_plugin.predictions.views import FOOT, HEAD

if TYPE_CHECKING:
    from allennlp.predictors import Predictor

logger = logging.getLogger(__name__)

_STANDARD_OUTPUT = "/dev/stdout"
_OBJECT = re.compile(r'\s*\{\s*("|\}|$)')  # JSON, unlike "{Anna} left"
_JSON = (".jsonl", ".ndjson", ".json")
_COLUMNS = {  # of a table, by the first of these keys that a prediction has
    "entities": ["text", "type", "start_char", "end_char", "probability"],
    "frames": ["predicate", "index", "role", "text", "start", "end"],
    "clusters": ["cluster", "text", "start_char", "end_char"],
    "answer": ["answer", "start_char", "end_char", "probability"],
    "label": ["label", "probability"],
    "predicates": ["predicate", "index"],
    "tags": ["word", "tag"],
}


class Input(NamedTuple):
    """What AllenNLP's predictor reads, with its place for messages, and its line in a file."""

    place: str
    values: dict[str, Any]
    line: int | None = None


def read_inputs(path: str | Path, task: Task) -> Iterator[Input]:
    """
    Yields the inputs of a file or of standard input, `-`, plain or in .gz or .zst, without blank
    lines: each line is a text, or the texts of the task, separated by tabs, or a JSON object as
    `allennlp predict` reads.

    Raises `BiLmError`, naming file and line, for any other line, and if there is none.
    """
    name = "standard input" if str(path) == "-" else str(path)
    suffix = Path(name.removesuffix(compression(name))).suffix.lower()
    if suffix in (".csv", ".conll", ".conllu"):
        raise BiLmError(
            f"{name}: expected a text in each line, texts between tabs, or JSON lines, got {suffix}"
        )
    num_inputs = num_reversed = 0
    lines = standard_input_lines() if name != str(path) else read_lines(name)
    for number, line in enumerate(lines, start=1):
        place = f"{name}, line {number}"
        text = decode(line, place).rstrip("\r\n")
        texts = text.split("\t") if len(task.fields) > 1 or suffix == ".tsv" else [text]
        names = [FIELDS.get(name, name) for name in map(str.lower, texts)]
        if not normalize_text(text).strip() or (number == 1 and names == list(task.fields)):
            continue
        if _OBJECT.match(text):
            values = parse_json(text, place, is_line=True)
            if "question" in task.fields and isinstance(values.get("data"), list):
                raise BiLmError(
                    f"{name}: expected passages and questions, got SQuAD's JSON; use --squad"
                )
        elif suffix in _JSON:
            raise BiLmError(f"{place}: expected a JSON object in each line, got {text!r:.60}")
        elif len(texts) != len(task.fields):
            raise BiLmError(
                f"{place}: expected {' and '.join(task.fields)}, with tabs between texts, or JSON"
            )
        else:
            num_reversed += task.is_reversed(texts)
            values = task.from_texts(texts[::-1] if task.is_reversed(texts) else texts)
        num_inputs += 1
        yield Input(place, values, number)
    if num_reversed:
        logger.warning(
            "%s: lines that begin with the question are exchanged: %d", name, num_reversed
        )
    if not num_inputs:
        raise BiLmError(f"{name}: expected a text, got blank lines alone")


def inputs_of(texts: Sequence[str], task: Task) -> Iterator[Input]:
    """
    Yields the inputs that a command line names: a file, standard input, texts, or a JSON object.
    One file beside a question is the passage, as a whole.
    """
    files = [text for text in texts if text == "-" or os.path.exists(text)]
    if len(texts) == 1 and files:
        yield from read_inputs(texts[0], task)
    elif len(texts) == 1 and _OBJECT.match(texts[0]):
        yield Input("TEXT", parse_json(texts[0], "TEXT", is_line=True))
    elif files and (len(texts) != 2 or len(files) > 1 or "question" not in task.fields):
        raise BiLmError(f"TEXT: {files[0]} is a file; its lines are read if it is the only TEXT")
    else:
        yield Input(
            "TEXT", task.from_texts([_text_of(text) if text in files else text for text in texts])
        )


def _text_of(path: str) -> str:
    lines = standard_input_lines() if path == "-" else read_lines(path)
    return "".join(decode(line, path) for line in lines).strip()


def check_format(path: str | Path, task: Task) -> None:
    """Raises `BiLmError` unless the predictions of a task can be written to such a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS and not is_special(path):
        raise BiLmError(f"{path}: expected a file in {', '.join(FORMATS)}")
    if suffix == ".conll" and task.name != "ner":
        raise BiLmError(
            f"{path}: {task.title.lower()} has no .conll; expected .jsonl, .csv or .html"
        )


def write_predictions(
    predictions: Iterable[Prediction], path: str | Path, predictor: "Predictor | None" = None
) -> int:
    """
    Writes predictions to a file, which is whole or not written, in the form of its suffix: .jsonl;
    .csv, a row for each entity, role, mention, answer or label; .conll, columns of entities, by
    AllenNLP's `predictor`; or .html. Standard output and devices get JSON lines. Returns the number
    of predictions.
    """
    write = _WRITERS.get(Path(path).suffix.lower(), _jsonl)
    number = 0

    def counted() -> Iterator[tuple[int, Prediction]]:
        nonlocal number
        for number, prediction in enumerate(predictions, start=1):
            yield prediction.line or number, prediction

    if str(path) == _STANDARD_OUTPUT:
        write(counted(), sys.stdout, predictor, "")
        return number
    with (
        atomic_write(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        write(counted(), file, predictor, Path(path).stem)
    return number


Numbered = Iterable[tuple[int, Prediction]]


def _jsonl(predictions: Numbered, file: TextIO, *_: Any) -> None:
    for line, prediction in predictions:
        given = {
            f"input_{key}" if prediction.get(key, value) != value else key: value
            for key, value in prediction.inputs.items()
        }
        content = {"line": line, **given, **prediction} | {"line": line}
        print(json.dumps(content, ensure_ascii=False), file=file, flush=file is sys.stdout)


def _html(predictions: Numbered, file: TextIO, predictor: Any, title: str) -> None:
    from html import escape

    file.write(HEAD.format(title=escape(title)))
    for line, prediction in predictions:
        file.write(f'<section id="line-{line}">\n{prediction._repr_html_()}\n</section><hr>\n')
    file.write(FOOT)


def _conll(predictions: Numbered, file: TextIO, predictor: Any, title: str) -> None:
    for _, prediction in predictions:
        file.write("\n".join([*predictor.format_lines(prediction), ""]))


def _csv(predictions: Numbered, file: TextIO, *_: Any) -> None:
    table: csv.DictWriter[str] | None = None
    for line, prediction in predictions:
        kind = next((key for key in _COLUMNS if key in prediction), None)
        if kind is None:
            raise BiLmError(f"a prediction with {', '.join(prediction)} is no table; write .jsonl")
        texts = prediction.texts() if kind in ("answer", "label") else {}
        probabilities = prediction.get("probabilities", {}) if kind == "label" else {}
        if table is None:
            columns = ["line", *texts, *_COLUMNS[kind], *probabilities]
            table = csv.DictWriter(
                file, columns, restval="", extrasaction="ignore", lineterminator="\n"
            )
            table.writeheader()
        for row in _rows(prediction, kind):
            table.writerow({"line": line, **texts, **probabilities, **row})


def _rows(prediction: Prediction, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yields the rows of a prediction in a table with the columns of its kind."""
    if kind == "frames":
        yield from ({**frame, **role} for frame in prediction["frames"] for role in frame["roles"])
    elif kind == "clusters":
        for cluster, mentions in enumerate(prediction["clusters"], start=1):
            yield from ({"cluster": cluster, **each, **_characters(each)} for each in mentions)
    elif kind == "predicates":
        words = prediction["words"]
        yield from (
            {"predicate": words[index], "index": index} for index in prediction["predicates"]
        )
    elif kind == "tags":
        pairs = zip(prediction["words"], prediction["tags"], strict=True)
        yield from ({"word": word, "tag": tag} for word, tag in pairs)
    elif kind == "entities":
        yield from prediction["entities"]
    elif kind == "answer":
        yield {**prediction, **_characters(prediction)}
    else:
        label = prediction["label"]
        yield {"label": label, "probability": prediction.get("probabilities", {}).get(label)}


def _characters(found: Mapping[str, Any]) -> dict[str, int]:
    return dict(zip(("start_char", "end_char"), found["characters"], strict=True))


_WRITERS: dict[str, Callable[..., None]] = dict(
    zip(FORMATS, (_jsonl, _csv, _conll, _html), strict=True)
)
