"""Records with named fields: JSON, tables with a header, as CSV and TSV, and fastText's labelled
lines.
"""

import csv
import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, dropwhile
from typing import Any, TypeVar

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.dataset_reader import Line

logger = logging.getLogger(__name__)

_MAX_NAMES = 10


class UnusableExample(ConfigurationError):
    """An example cannot be used. The `reason`, such as "with a blank answer", counts it."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Skipped:
    """
    The examples of a file that are left out, for each reason. Unusable ones are an error by
    default. It names the option `skip_bad` unless that is `None`, for readers without it.
    """

    def __init__(self, skip_bad: bool | None = None, file: str = "") -> None:
        self.file = file  # its name, as soon as there is a line
        self._skip_bad = skip_bad
        self._names = defaultdict[str, list[str]](list)

    def add(self, reason: str, name: str) -> None:
        """Adds an example by its name: its id, or its line."""
        self._names[reason].append(name)

    def skip_or_raise(self, error: ConfigurationError, location: str, name: str) -> None:
        """
        Skips an example if `skip_bad`, or raises `ConfigurationError`, beginning with the location.
        """
        if not self._skip_bad:
            hint = ", and" if "; " in str(error) else ";"
            hint = "" if self._skip_bad is None else f"{hint} skip_bad leaves it out"
            raise ConfigurationError(f"{location}: {error}{hint}") from None
        self.add(
            error.reason if isinstance(error, UnusableExample) else "that cannot be split", name
        )

    def messages(self, examples: str) -> Iterator[str]:
        """Yields, for each reason, a line with the number of the examples and the first ten."""
        for reason, names in self._names.items():
            first = ", ".join(names[:_MAX_NAMES] + ["…"] * (len(names) > _MAX_NAMES))
            yield f"{self.file}: skipped {examples} {reason} ({len(names)}): {first}"

    def log(self, examples: str) -> None:
        """Logs the `messages`."""
        for message in self.messages(examples):
            logger.info(message)


RECORD_FORMATS = ("jsonl", "csv", "tsv", "fasttext")
_SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv"},
}
_JSON = re.compile(r'\s*(\{\s*("|$)|\[\s*(["\[{]|$))')  # not "[ O", a word and its tag
_CONTAINERS = ("common_examples", "data", "examples")
_ITEM = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+)""")
_MAX_FIELD = 1 << 30  # the csv module stops at 131,072 characters
# A field of a TSV file may begin with a quotation mark of its text; quotation marks around a whole
# field are CSV's only if others in it are doubled.
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
_FASTTEXT = re.compile(r"__label__(?P<label>\S+)\s+(?P<text>(?!__label__)\S.*)")

Parsed = TypeVar("Parsed")
Record = tuple[
    Line, dict[str, Any]
]  # the line where it begins, and its fields, which are text in a table


def parse_records(
    lines: Iterable[Line],
    *,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    skipped: Skipped | None = None,
    keep_marks: bool = False,
    optional: str | None = None,
) -> Iterator[Record]:
    """
    Yields the records of the lines of a file, without blank lines. JSON is an object in each line,
    or a list of objects. `columns` names the columns of a table without a header; rows of another
    length may be `skipped`, and the `optional` column may be missing. Escaped byte order marks are
    dropped unless `keep_marks`, as places of characters count them.

    Raises `ConfigurationError`, naming file and line, if a line is malformed.
    """
    lines = (line for line in lines if line.text.strip("\r\n"))
    for first in lines:
        kind = detect_format(first) if format == "auto" else format
        lines = chain([first], lines)
        if kind == "jsonl":
            records = _json_records(lines)
            yield from records if keep_marks else map(_without_marks, records)
        elif kind in ("csv", "tsv"):
            yield from _table_records(lines, kind, columns, skipped or Skipped(), optional)
        elif kind == "fasttext":
            yield from (_fasttext_record(line) for line in lines if line.text.strip())
        elif "$T$" in first.text:
            yield from _aspect_records(lines)
        else:
            raise first.error(
                "expected an object of JSON, or a table in a file .csv or .tsv, got "
                f"{first.text.strip()!r:.60}; the option format is one of "
                f"{', '.join(RECORD_FORMATS)}"
            )


def columns_or_json(
    lines: Iterable[Line],
    parse_columns: Callable[[Iterator[Line]], Iterator[Parsed]],
    parse_record: Callable[[Record], Parsed],
    format: str = "auto",
) -> Iterator[Parsed]:
    """
    Yields the content of the columns of a file, or of its records if its first line or format is
    JSON.
    """
    lines = dropwhile(lambda line: not line.text.strip(), lines)
    for first in lines:
        lines = chain([first], lines)
        if format == "jsonl" or (format == "auto" and is_json(first)):
            yield from map(parse_record, parse_records(lines, format="jsonl"))
        else:
            yield from parse_columns(lines)


def detect_format(first: Line) -> str | None:
    """Returns the format of a file, by its name and its first line that is not blank, or `None`."""
    if is_json(first):
        return "jsonl"
    if first.text.startswith("__label__"):
        return "fasttext"
    name = first.file.removesuffix(compression(first.file)).lower()
    by_name = next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), None)
    return by_name or ("tsv" if "\t" in first.text.strip() else None)


def is_json(line: Line) -> bool:
    """Returns whether a file with this first line is JSON: an object, or a list of objects."""
    return _JSON.match(line.text) is not None


def find_field(record: Record, usual: Sequence[str], option: str, name: str | None = None) -> str:
    """
    Returns the field of a record with the `name` that the user gave by `option`, or else the first
    of the `usual` names that it has, in upper or lower case.
    """
    line, fields = record
    known = {field.lower() if name is None else field: field for field in reversed(fields)}
    for field in map(str.lower, usual) if name is None else [name]:
        if field in known:
            return known[field]
    expected = f"such as {usual[0]!r} (option {option})" if name is None else f"{name!r} ({option})"
    hint = "" if is_json(line) else "; the option columns names those of a table without a header"
    raise line.error(f"expected a field {expected}, got {', '.join(map(repr, fields))}{hint}")


def _json_records(lines: Iterator[Line]) -> Iterator[Record]:
    with as_configuration_error():
        for line, fields in _json_items(lines):
            if isinstance(fields, list) and list(map(type, fields)) == [
                str,
                dict,
            ]:  # spaCy's examples
                fields = {"text": fields[0], **fields[1]}
            if not isinstance(fields, dict):
                raise line.error(f"expected a JSON object, got {fields!r:.60}")
            yield line, fields


def _json_items(lines: Iterator[Line]) -> Iterator[tuple[Line, Any]]:
    """Yields the items of JSON lines, or of the one list that a file is or has."""
    first, second = next(lines), next(lines, None)
    lines = chain([first], [second] if second else [], lines)
    try:
        content = parse_json(first.text, first.location, is_line=True, repeated_keys=True)
        is_whole = second is None
    except BiLmError:
        if second is None or first.text.rstrip().endswith("}"):
            raise
        content, is_whole = parse_json("".join(line.text for line in lines), first.file), True
    if not is_whole:
        for line in lines:
            if line.text.strip():
                yield line, parse_json(line.text, line.location, is_line=True, repeated_keys=True)
        return
    while isinstance(content, dict) and (key := _container(content)):
        content = content[key]
    if isinstance(content, dict) or list(map(type, content)) == [str, dict]:
        yield first, content
    else:
        yield from ((Line("[", first.file, n, "item"), item) for n, item in enumerate(content, 1))


def _container(content: dict[str, Any]) -> str | None:
    """Returns the key of the list of records that the only object of a file has."""
    if isinstance(content.get("rasa_nlu_data"), dict):
        return "rasa_nlu_data"
    names = [*_CONTAINERS, "annotations"] if "classes" in content else _CONTAINERS
    return next((name for name in names if isinstance(content.get(name), list)), None)


def as_list(value: Any) -> Any:
    """
    Returns the list that a field of a table has as text, as Python or numpy print it, or the value.
    """
    if (
        not isinstance(value, str)
        or not value.startswith("[")
        or _ITEM.sub("", value).strip("[], \n\r")
    ):
        return value
    return [
        int(number) if number else re.sub(r"\\(.)", r"\1", text or quoted)
        for text, quoted, number in _ITEM.findall(value)
    ]


def _without_marks(record: Record) -> Record:
    text = json.dumps(record[1], ensure_ascii=False)
    return (
        (record[0], json.loads(text.replace(BYTE_ORDER_MARK, "")))
        if BYTE_ORDER_MARK in text
        else record
    )


def _fasttext_record(line: Line) -> Record:
    if not (match := _FASTTEXT.fullmatch(line.text.strip())):
        raise line.error("expected __label__ with one label, and a text")
    return line, match.groupdict()


def _aspect_records(lines: Iterable[Line]) -> Iterator[Record]:
    """
    Yields the records of three lines each: a text with `$T$` for its aspect, the aspect, and its
    label.
    """
    lines = iter(lines)
    for line in lines:
        aspect, label = next(lines, None), next(lines, None)
        if "$T$" not in line.text or label is None or aspect is None:
            raise line.error("expected three lines, the first with $T$ for the second")
        target = aspect.text.strip()
        text = line.text.strip().replace("$T$", target)
        yield line, {"text": text, "aspect": target, "label": label.text.strip()}


def _table_records(
    lines: Iterator[Line],
    kind: str,
    columns: Sequence[str] | None,
    skipped: Skipped,
    optional: str | None,
) -> Iterator[Record]:
    csv.field_size_limit(_MAX_FIELD)
    first, second = next(lines), next(lines, None)
    lines = lines if second is None else chain([second], lines)
    delimiter = "\t" if kind == "tsv" else find_delimiter(first, columns)
    quote = find_quote([line.text for line in (first, second) if line], delimiter)
    header = [name.strip() for name in _split(first, lines, delimiter, quote)]
    if columns and len(header) == len(columns) - 1 and optional:
        columns = [name for name in columns if name != optional]
    if columns is None or header == list(columns):
        columns = header
    else:
        lines = chain([first], lines)
    if repeated := [name for name in columns if name and columns.count(name) > 1]:
        raise first.error(f"the column {repeated[0]!r} is repeated")
    width = 0 if first.text.startswith('"') else len(columns)
    for line in lines:
        row = _split(line, lines, delimiter, quote, width)
        if len(row) == len(columns):
            yield line, {name: text for name, text in zip(columns, row, strict=True) if name}
        else:
            message = f"expected {len(columns)} columns ({', '.join(columns)}), got {len(row)}"
            error = UnusableExample("with more or fewer columns", message)
            skipped.skip_or_raise(error, line.location, line.place)


def find_delimiter(first: Line, columns: Sequence[str] | None = None) -> str:
    """Returns the delimiter with which a line has as many columns as named, or else the most."""
    line = first.text.replace("\r", "")
    widths = {
        delimiter: len(next(csv.reader([line], delimiter=delimiter))) for delimiter in ",;\t|"
    }
    return max(
        widths, key=lambda delimiter: (widths[delimiter] == len(columns or ()), widths[delimiter])
    )


def find_quote(first_lines: Sequence[str], delimiter: str) -> str:
    """Returns the quotation mark of a table: an apostrophe if a whole line is in apostrophes."""
    field = "'(?:[^']|'')*'"
    in_apostrophes = re.compile(rf"\s*{field}(?:{re.escape(delimiter)} *(?:{field}|[\d.]+))*\s*")
    return "'" if any(map(in_apostrophes.fullmatch, first_lines)) else '"'


def _split(
    line: Line, rest: Iterator[Line], delimiter: str, quote: str, width: int = 0
) -> list[str]:
    """
    Returns the fields that begin in a line; quoted fields may go on in the `rest` of the lines. A
    tab splits without regard to quotation marks if the line has `width` fields and needs none.
    """
    if delimiter == "\t" and quote == '"':
        fields = line.text.rstrip("\r\n").split("\t")
        may_be_quoted = len(fields) != width and any(field.startswith('"') for field in fields)
        if not may_be_quoted and not any(map(_QUOTED.fullmatch, fields)):
            return fields
    texts = chain([line.text], (following.text for following in rest))
    spaced = delimiter != "\t"
    try:
        return next(
            csv.reader(
                texts, delimiter=delimiter, quotechar=quote, skipinitialspace=spaced, strict=True
            )
        )
    except csv.Error as error:
        raise line.error(
            f"not a table ({str(error).split(' - ')[0]}); quotation marks in a quoted text are "
            "doubled"
        ) from None
