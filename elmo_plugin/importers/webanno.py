"""WebAnno TSV 3, as INCEpTION exports it: entities as `PER[1]`, with the number of their span."""

import re
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence

_FORMAT = "#FORMAT=WebAnno TSV 3"
_PLACE = re.compile(r"\d+-\d+")  # of a word: its sentence and its number
_LABEL = re.compile(r"(?P<label>.+?)(\[(?P<number>\d+)\])?")
_NONE = ("_", "*", "")


def is_webanno(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].startswith(_FORMAT)


def webanno_sentences(
    file: str, lines: Sequence[str], column: str | None = None
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, with entities in BIO. The `column` is the number of the entities' column,
    from 0; by default it is the only one with labels.

    Raises `ConfigurationError`, naming file and option, if there are several or none.
    """
    rows: list[tuple[str, list[str]]] = []
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if _PLACE.fullmatch(fields[0]):
            rows.append((f"line {number}", fields))
    chosen = int(column) if column and column.isdecimal() else _column_with_labels(file, rows)
    sentence: list[tuple[str, list[str]]] = []
    current = ""
    for place, fields in rows:
        of_sentence = fields[0].partition("-")[0]
        if sentence and of_sentence != current:
            yield _sentence(file, sentence, chosen)
            sentence = []
        current = of_sentence
        sentence.append((place, fields))
    if sentence:
        yield _sentence(file, sentence, chosen)


def _column_with_labels(file: str, rows: Sequence[tuple[str, list[str]]]) -> int:
    filled = set()
    for _, fields in rows:
        for number, field in enumerate(fields[3:], start=3):
            if field not in _NONE and not field.startswith("*"):
                filled.add(number)
    if len(filled) != 1:
        raise ConfigurationError(
            f"{file}: columns {sorted(filled)} of WebAnno's spans have labels; --column tag=NUMBER "
            "chooses one"
        )
    return filled.pop()


def _sentence(file: str, rows: Sequence[tuple[str, list[str]]], column: int) -> TaggedSentence:
    tags = []
    last = ""
    for place, fields in rows:
        field = fields[column] if column < len(fields) else "_"
        if "|" in field:
            raise ConfigurationError(f"{file}, {place}: a word has two spans, {field!r}")
        match = _LABEL.fullmatch(field)
        if field in _NONE or match is None:
            tags.append("O")
            last = ""
            continue
        goes_on = match["number"] is not None and field == last
        tags.append(("I-" if goes_on else "B-") + "_".join(match["label"].split()))
        last = field
    return TaggedSentence([place for place, _ in rows], [fields[2] for _, fields in rows], tags)
