"""Sentences with their predicates, from the columns of CoNLL-2012, propositions, or JSON lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    TAB_HINT,
    framed_words,
    line_kind,
    parse_sentence,
    split_sentence,
)
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns
from elmo_plugin.tasks.records import Record
from elmo_plugin.tasks.spans import (
    LabelError,
    Span,
    checked_spans,
    locate_label_errors,
    parse_tag,
    tags_to_spans,
)

VERB = "V"  # the role of the predicate itself
_AUXILIARIES = {"be.03", "have.01", "do.01"}
_UNIVERSAL = ("ID", "FORM", "UP:PRED", "UP:ARGSPANS")
_UNIVERSAL_SPAN = re.compile(r"([^|]+):(\d+)-(\d+)")
_LABEL = re.compile(r"(?:\((?P<opened>[^*()\s]+))?\*(?P<closes>(?P<closed>[^*()\s]*)\))?")


class Predicate(NamedTuple):
    """A word of a sentence, its lemma, and its arguments from left to right, with `V`."""

    word: int
    lemma: str
    arguments: list[Span]
    is_verb: bool = True


class SrlSentence(NamedTuple):
    """
    Words as in plain text, or empty ones if the file has none, and predicates from left to right.
    """

    words: list[str]
    predicates: list[Predicate]
    location: str = ""  # file and line of the first word


def parse_conll2012(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads the columns of CoNLL-2012: document, part, word number, word, part of speech, parse, lemma
    and frameset of the predicate, sense, speaker, named entity, then bracket labels for each
    predicate from left to right, and coreference, unless it is missing. Blank lines and marks of
    documents separate sentences.

    Raises `ConfigurationError`, naming file and line, if the columns are not those, brackets are
    malformed, or a column belongs to no predicate.
    """
    for kind, group in groupby(lines, key=line_kind):
        rows = split_sentence(list(group)) if kind == "word" else []
        if rows:
            yield _parse_sentence(rows)


def _parse_sentence(rows: list[Row]) -> SrlSentence:
    _check_format(rows)
    sentence = parse_sentence(rows)
    framed = framed_words(rows)
    if framed and not sentence.frames:
        raise ConfigurationError(
            f"{sentence.location}: expected {len(framed)} columns of arguments in this sentence, "
            "one for each lemma with a frameset, got none"
        )
    predicates = []
    for number, labels in enumerate(sentence.frames):
        column = f"column {FIXED_COLUMNS + number + 1}"
        with locate_label_errors(rows, f"{column}: "):
            arguments = parse_labels(labels)
        verbs = [range(start, end) for start, end, role in arguments if role == VERB]
        if len(framed) == len(sentence.frames):
            verbs = verbs or [range(framed[number], framed[number] + 1)]
            if not any(framed[number] in verb for verb in verbs):
                word = verbs[0].start
                raise rows[word][0].error(
                    f"{column} has (V*) at {sentence.words[word]!r}, but its lemma "
                    f"and frameset are at {sentence.words[framed[number]]!r}"
                )
        if not verbs:
            raise ConfigurationError(
                f"{sentence.location}: {column} of the sentence that begins here lacks its "
                f"predicate, (V*); {TAB_HINT}"
            )
        word = verbs[0].start
        columns = rows[word][1]
        lemma = sentence.words[word] if columns[6] in NO_ANNOTATION else columns[6]
        is_verb = columns[4].startswith("V") and ".".join(columns[6:8]) not in _AUXILIARIES
        predicates.append(Predicate(word, lemma, arguments, is_verb))
    return SrlSentence(sentence.words, predicates, sentence.location)


def _check_format(rows: list[Row]) -> None:
    """Raises `ConfigurationError` if these are not the columns of CoNLL-2012."""
    line, first = rows[0]
    numbers, words = ([row[column] for _, row in rows if len(row) > column] for column in (2, 3))
    is_shifted = re.fullmatch(r"\d+([-.]\d+)?", first[0]) or (
        len(rows) > 1 and _are_counting(words)
    )
    if len(first) < FIXED_COLUMNS or (is_shifted and not _are_counting(numbers)):
        raise line.error(
            "expected JSON lines or CoNLL-2012 (document, part, word number, word, …, "
            f"{FIXED_COLUMNS} columns and those of predicates), got {len(first)}, "
            f"{' '.join(first[:4])!r} …"
        )


def _are_counting(numbers: Sequence[str]) -> bool:
    return all(map(str.isdecimal, numbers)) and all(
        int(b) == int(a) + 1 for a, b in pairwise(numbers)
    )


def parse_universal(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads CoNLL-U Plus of Universal Propositions: the columns that its first line names, with
    arguments such as `A0:1-1|A1:3-7`, by the numbers of their first and last words. All predicates
    are verbs.

    Raises `ConfigurationError`, naming file and line, if a column is missing or a line is
    malformed.
    """
    first, *others = lines
    names = first.text.partition("=")[2].split()
    if not set(_UNIVERSAL) <= set(names):
        raise first.error(
            f"expected the columns {', '.join(_UNIVERSAL)}, got {', '.join(names)}; "
            "Universal Propositions come without words: their tool merge_ud_up.py adds the words"
        )
    for _, group in groupby(others, key=lambda line: line.text.isspace()):
        rows = [(line, line.text.strip("\r\n").split("\t")) for line in group]
        rows = [
            row for row in rows if row[1][0].isdecimal()
        ]  # no comments, contracted words or empty nodes
        check_columns(rows, len(names), ", ".join(names))
        words, frames = [], []
        for index, (line, row) in enumerate(rows):
            number, word, frame, spans = (row[names.index(name)] for name in _UNIVERSAL)
            arguments = _UNIVERSAL_SPAN.findall(spans)
            if number != str(index + 1) or _UNIVERSAL_SPAN.sub("", spans).strip("|_"):
                raise line.error(
                    f"expected word {index + 1} of a sentence, with arguments such as "
                    f"A0:1-1|A1:3-7, got {number} and {spans!r}; a blank line ends a sentence"
                )
            words.append(word)
            if frame not in NO_ANNOTATION:
                roles = [
                    {"role": r, "start": int(start) - 1, "end": int(end)}
                    for r, start, end in arguments
                ]
                frames.append({"index": index, "roles": roles})
        if rows:
            yield sentence_in((rows[0][0], {"words": words, "frames": frames}))


def parse_props(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions, one word per line: the lemma of a predicate or `-`, and then, for each
    predicate from left to right, a bracket label. White space separates columns, blank lines
    separate sentences. The words are empty, and all predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, or
    brackets are malformed, nested or without their other half.
    """
    rows = ((line, line.columns) for line in lines)
    for have_words, sentence in groupby(rows, key=lambda row: bool(row[1])):
        if have_words:
            yield _parse_proposition(list(sentence))


def _parse_proposition(rows: Sequence[Row]) -> SrlSentence:
    first, first_columns = rows[0]
    check_columns(rows, len(first_columns), f"as in line {first.number} of this sentence")
    lemmas, *columns = zip(*(row for _, row in rows), strict=True)
    words = [word for word, lemma in enumerate(lemmas) if lemma != "-"]
    if len(words) != len(columns):
        raise first.error(
            f"the sentence that begins here has {len(words)} predicates, but "
            f"{len(columns)} columns of arguments"
        )
    predicates = []
    for number, (word, labels) in enumerate(zip(words, columns, strict=True), start=2):
        with locate_label_errors(rows, f"column {number}: "):
            predicates.append(Predicate(word, lemmas[word], parse_labels(labels)))
    return SrlSentence([""] * len(rows), predicates, first.location)


def sentence_in(record: Record) -> SrlSentence:
    """
    Returns the sentence of a record: `words`, and for each predicate one of the `frames`, with the
    BIO `tags` of its arguments, or with its `index` and `roles` such as `{"role": "ARG0", "start":
    0, "end": 2}`, the end exclusive. In AllenNLP's predictions the frames are `verbs`.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    line, fields = record
    words: Any = fields.get("words")
    frames: Any = fields.get("frames", fields.get("verbs"))
    with as_configuration_error(line.location):
        if not is_list_of(words, str) or not words or not all(words):
            raise BiLmError(
                f'expected "words", a list of words, got {words or list(fields)!r:.100}'
            )
        if not is_list_of(frames, dict):
            raise BiLmError(
                f'expected "frames", a list of objects, got {frames or list(fields)!r:.100}'
            )
        return SrlSentence(
            words, sorted(_predicate(frame, words) for frame in frames), line.location
        )


def _predicate(frame: dict[str, Any], words: list[str]) -> Predicate:
    tags: Any = frame.get("tags")
    roles, index = frame.get("roles"), frame.get("index")
    if is_list_of(tags, str) and len(tags) == len(words):
        if wrong := [tag for tag in tags if parse_tag(tag) is None]:
            raise BiLmError(f"{wrong[0]!r} is not a BIO tag")
        arguments = tags_to_spans(tags)
    elif tags is None and isinstance(roles, list):
        arguments = [_argument(role, words) for role in roles]
    else:
        raise BiLmError(
            f'expected "frames" with {len(words)} "tags" or with "roles", got '
            f"{tags or list(frame)!r:.100}"
        )
    verbs = [argument for argument in arguments if argument.label == VERB]
    if index is None and verbs:
        index = verbs[0].start
    if type(index) is not int or not 0 <= index < len(words):
        raise BiLmError(
            f'expected an "index" of the predicate below {len(words)}, got {frame!r:.100}'
        )
    if verbs and not any(start <= index < end for start, end, _ in verbs):
        raise BiLmError(
            f"V is not at its predicate, {words[index]!r}, but at {words[verbs[0].start]!r}"
        )
    if not any(start <= index < end for start, end, _ in arguments):
        arguments.append(Span(index, index + 1, VERB))
    return Predicate(
        index, str(frame.get("lemma") or words[index]), checked_spans(arguments, len(words))
    )


def _argument(role: Any, words: list[str]) -> Span:
    if isinstance(role, dict):
        name, start, end = (role.get(key) for key in ("role", "start", "end"))
        if isinstance(name, str) and type(start) is int and type(end) is int:
            shorter, longer = (" ".join(words[start:stop]) for stop in (end, end + 1))
            if role.get("text") == longer != shorter:
                raise BiLmError(
                    f'expected "end" after the last word of {role["text"]!r}, got {end}'
                )
            return Span(start, end, name)
    raise BiLmError(
        f'expected a role such as {{"role": "ARG0", "start": 0, "end": 2}}, got {role!r:.100}'
    )


def parse_labels(labels: Sequence[str]) -> list[Span]:
    """
    Reads one column of bracket labels, such as `(ARG0*`, `*`, `*)`, `(V*)`, from left to right. A
    closing bracket may name its role again, `*ARG0)`, as in CoNLL-2004.

    Raises `LabelError` if brackets are malformed, nested, or without their other half.
    """
    arguments = []
    opened: tuple[int, str] | None = None
    for row, label in enumerate(labels):
        match = _LABEL.fullmatch(label)
        if match is None:
            raise LabelError(row, f"{label!r} is not one bracket such as (ARG0*, *, *) or (V*)")
        if match["opened"]:
            if opened is not None:
                raise LabelError(
                    row, f"{label!r} opens inside ({opened[1]}*, but arguments do not overlap"
                )
            opened = row, match["opened"]
        if match["closes"]:
            if opened is None:
                raise LabelError(row, f"{label!r} closes an argument, but none is open")
            start, role = opened
            if match["closed"] not in ("", role):
                raise LabelError(row, f"{label!r} closes an argument, but the open one is {role}")
            arguments.append(Span(start, row + 1, role))
            opened = None
    if opened is not None:
        raise LabelError(opened[0], f"{labels[opened[0]]!r} is never closed")
    return arguments
