"""WebAnno TSV 3, as INCEpTION exports it: entities as `PER[1]`, with the number of their span."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence, type_without_spaces

_FORMAT = "#FORMAT=WebAnno TSV 3"
_LAYER = re.compile(r"#T_(?:SP|CH|RL)=(?P<type>[^|]+)\|?(?P<features>.*)")
_NAMED_ENTITIES = "NamedEntity"
_WORD_COLUMN = 2  # after the number and the characters
_FIRST_COLUMN = 3  # of annotations
_PLACE = re.compile(r"\d+-\d+")  # of a word: its sentence and its number
_PART = re.compile(r"\d+-\d+\.\d+")  # of a part of a word
_LABEL = re.compile(r"(?P<label>.+?)(\[(?P<number>\d+)\])?")
_BETWEEN_SPANS = re.compile(r"(?<!\\)\|")
_ESCAPED = re.compile(r"\\(->|[\\\[\]|_;*])")
_NONE = ("_", "*", "")  # no span, a span without a label, or no annotations in the row


class _Row(NamedTuple):
    """A word, and its annotations."""

    place: str
    fields: list[str]

    @property
    def sentence(self) -> str:
        """The number of its sentence."""
        return self.fields[0].partition("-")[0]


def is_webanno(source: TaggedFile) -> bool:
    """Returns whether the first line names the format."""
    return source.text.startswith(_FORMAT)


def webanno_sentences(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, with entities in BIO. The entities are in the column that the options
    choose for tags, by its number from 0 or by its name. Without this choice, they are in the
    column of named entities, or in the only column with labels.

    Raises `ConfigurationError`, naming file and option, if no column or more than one may be meant.
    """
    rows = _rows_of_words(source.lines, source.report)
    names = _names_of_columns(source.lines)
    chosen = source.options.columns.get("tag")
    if chosen is None:
        column = _find_column(source.file, names, rows)
    else:
        column = _chosen_column(source.file, names, chosen)
    source.report.took(f"the entities are in column {column}")
    for _, rows_of_sentence in groupby(rows, key=lambda row: row.sentence):
        yield _sentence(source.file, list(rows_of_sentence), column)


def _rows_of_words(lines: Sequence[str], report: Report) -> list[_Row]:
    """Returns the rows of whole words. Rows of parts of words are left out."""
    rows = []
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if _PLACE.fullmatch(fields[0]):
            rows.append(_Row(f"line {number}", fields))
        elif _PART.fullmatch(fields[0]):
            report.took("annotations of parts of words are left out")
    return rows


def _names_of_columns(lines: Sequence[str]) -> dict[int, str]:
    """
    Returns the names of the columns with annotations, by their numbers. A column such as
    `NamedEntity value` has the name of a layer and of one of its features. Lines above the words
    list the layers.
    """
    names = {}
    number = _FIRST_COLUMN
    for line in lines:
        layer = _LAYER.match(line)
        if layer:
            kind = layer["type"].rpartition(".")[2]
            for feature in layer["features"].split("|"):
                names[number] = f"{kind} {feature}".strip()
                number += 1
    return names


def _chosen_column(file: str, names: dict[int, str], chosen: str) -> int:
    """
    Returns the number of the column that `--column` chooses by its number or name. Raises
    `ConfigurationError` if no column has this number or name.
    """
    for number, name in names.items():
        if chosen in (str(number), name):
            return number
    known = ", ".join(f"{number} ({name})" for number, name in names.items()) or "no annotations"
    raise ConfigurationError(
        f"{file}: --column tag: expected one of the columns {known}, got {chosen!r}"
    )


def _find_column(file: str, names: dict[int, str], rows: Sequence[_Row]) -> int:
    """
    Returns the column of named entities, or the only one with labels. Raises `ConfigurationError`
    if words have no labels, or if more than one column may be meant.
    """
    filled = set()
    for row in rows:
        for number, field in enumerate(row.fields[_FIRST_COLUMN:], start=_FIRST_COLUMN):
            # A span without a label, or one of a layer without features, is `*` or `*[1]`.
            if field not in _NONE and not field.startswith("*"):
                filled.add(number)
    entities = [number for number in filled if names.get(number, "").startswith(_NAMED_ENTITIES)]
    if len(entities) == 1:
        return entities[0]
    if len(filled) == 1:
        return filled.pop()
    found = "words are without labels"
    if filled:
        shown = [f"{number} ({names.get(number, 'without a name')})" for number in sorted(filled)]
        found = f"columns {' and '.join(shown)} have labels"
    raise ConfigurationError(f"{file}: {found}; --column tag=NUMBER chooses one")


def _sentence(file: str, rows: Sequence[_Row], column: int) -> TaggedSentence:
    """
    Returns the sentence of some rows, with the entities of a column in BIO. Raises
    `ConfigurationError`, naming file and line, if a word is in two entities.
    """
    places = []
    words = []
    tags = []
    field_before = ""
    for row in rows:
        field = "_"
        # WebAnno leaves out the last columns of a row without annotations.
        if column < len(row.fields):
            field = row.fields[column]
        if _BETWEEN_SPANS.search(field):
            raise ConfigurationError(
                f"{file}, {row.place}: expected one span at each word, got two, {field!r}; remove "
                "one of them, or --column tag=NUMBER chooses another column"
            )
        places.append(row.place)
        words.append(_without_escapes(row.fields[_WORD_COLUMN]))
        tags.append(_tag(field, field_before))
        field_before = field
    return TaggedSentence(places, words, tags)


def _tag(field: str, field_before: str) -> str:
    """Returns the tag of a word in BIO, from its field, such as `PER[1]`, and the one before it."""
    match = _LABEL.fullmatch(field)
    if match is None or match["label"] in _NONE:
        return "O"
    label = type_without_spaces(_without_escapes(match["label"]))
    # All words of a span have the same label and number. A span of one word is not numbered.
    if match["number"] is not None and field == field_before:
        return f"I-{label}"
    return f"B-{label}"


def _without_escapes(text: str) -> str:
    """Returns a text without the backslashes before characters that the format uses."""
    return _ESCAPED.sub(r"\1", text)
