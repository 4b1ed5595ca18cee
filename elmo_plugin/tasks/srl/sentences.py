"""Sentences with their predicates, from the columns of CoNLL-2012 or JSON lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    TAB_HINT,
    is_predicate,
    line_kind,
    locate_label_errors,
    split_sentence,
    unescape_words,
)
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns
from elmo_plugin.tasks.records import Record
from elmo_plugin.tasks.srl.spans import Argument, arguments_to_tags, parse_labels, tags_to_arguments

_KINDS = {"V": "verb", "N": "noun", "J": "adjective", "M": "auxiliary"}
_AUXILIARIES = {"be.03", "have.01", "do.01"}


class Predicate(NamedTuple):
    """A word of a sentence, its lemma, its kind, and its arguments from left to right, with `V`."""

    word: int
    lemma: str
    kind: str  # "verb", "auxiliary", "noun", "adjective" or "other"
    arguments: list[Argument]


class SrlSentence(NamedTuple):
    """Words as in plain text, or empty ones if the file has none, and predicates from left to right."""

    words: list[str]
    predicates: list[Predicate]
    location: str = ""  # file and line of the first word


def parse_conll2012(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads the columns of CoNLL-2012: document, part, word number, word, part of speech, parse, lemma and
    frameset of the predicate, sense, speaker, named entity, then bracket labels for each predicate from left
    to right, and coreference, unless it is missing. Blank lines and marks of documents separate sentences.

    Raises `ConfigurationError`, naming file and line, if the columns are not those, brackets are malformed,
    or a column belongs to no predicate.
    """
    for kind, group in groupby(lines, key=line_kind):
        rows = split_sentence(list(group)) if kind == "word" else []
        if rows:
            yield _parse_sentence(rows)


def _parse_sentence(rows: list[Row]) -> SrlSentence:
    location = rows[0][0].location
    _check_format(rows)
    columns = list(zip(*(row for _, row in rows), strict=True))
    words, parts_of_speech, lemmas, framesets = columns[3], columns[4], columns[6], columns[7]
    frames = list(zip(lemmas, framesets, strict=True))
    framed = [word for word, frame in enumerate(frames) if not set(frame) & set(NO_ANNOTATION)]
    label_columns = columns[FIXED_COLUMNS:]
    if label_columns and not any(label_columns[-1]):
        label_columns.pop()  # after the last tab
    last = label_columns[-1] if label_columns else ()
    if not is_predicate(last) and ("*" not in last or len(label_columns) != len(framed)):
        label_columns = label_columns[:-1]  # without coreference
    if framed and not label_columns:
        raise ConfigurationError(
            f"{location}: expected {len(framed)} columns of arguments in this sentence, one for each lemma "
            "with a frameset, got none"
        )
    predicates = []
    for number, labels in enumerate(label_columns):
        column = f"column {FIXED_COLUMNS + number + 1}"
        with locate_label_errors(rows, f"{column}: "):
            arguments = parse_labels(labels)
        verbs = [argument.start for argument in arguments if argument.role == "V"]
        if not verbs and len(framed) == len(label_columns):
            verbs = [framed[number]]
        if not verbs:
            raise ConfigurationError(
                f"{location}: {column} of the sentence that begins here lacks its predicate, (V*); {TAB_HINT}"
            )
        word = verbs[0]
        kind = predicate_kind(parts_of_speech[word], ".".join(frames[word]))
        lemma = words[word] if lemmas[word] in NO_ANNOTATION else lemmas[word]
        predicates.append(Predicate(word, lemma, kind, arguments))
    return SrlSentence(unescape_words(rows, words), predicates, location)


def _check_format(rows: list[Row]) -> None:
    """Raises `ConfigurationError` if these are not the columns of CoNLL-2012."""
    line, first = rows[0]
    numbers, words = ([row[column] for _, row in rows if len(row) > column] for column in (2, 3))
    is_shifted = re.fullmatch(r"\d+([-.]\d+)?", first[0]) or (len(rows) > 1 and _are_counting(words))
    if len(first) < FIXED_COLUMNS or (is_shifted and not _are_counting(numbers)):
        raise ConfigurationError(
            f"{line.location}: expected CoNLL-2012 (document, part, word number, word, …, {FIXED_COLUMNS} "
            f"columns and those of the predicates), got {len(first)} columns, {' '.join(first[:4])!r} …; "
            "format: 'conll2005' reads words and propositions"
        )
    check_columns(rows, len(first), f"as in line {line.number}; {TAB_HINT}")


def _are_counting(numbers: Sequence[str]) -> bool:
    return all(map(str.isdecimal, numbers)) and all(int(b) == int(a) + 1 for a, b in pairwise(numbers))


def predicate_kind(part_of_speech: str, frame: str = "") -> str:
    """Returns the kind of a predicate, by its tag in the Penn Treebank and its frame, such as "be.03"."""
    return "auxiliary" if frame in _AUXILIARIES else _KINDS.get(part_of_speech[:1], "other")


_WORDS = ("words", "tokens")
_FRAMES = ("frames", "verbs", "srl_frames", "labels")
_TAGS = ("tags", "frames", "labels")  # the second: OntoNotes of Hugging Face
_ROLES = ("roles", "arguments", "spans")
_INDICES = ("index", "predicate_index", "verb_index", "verb_idx", "predicate", "verb")


def sentences_in(record: Record) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a record: `words`, and for each predicate a frame with the BIO `tags` of its
    arguments, as AllenNLP and `elmo_srl` predict them, or with their `roles`. A role is
    `{"role": "ARG0", "start": 0, "end": 2}`, the end exclusive, or `[first, last, "ARG0"]`.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    line, fields = record
    sentences = fields.get("sentences") or []
    for sentence in (is_list_of(sentences, dict) and sentences) or [fields]:
        try:
            yield _sentence(sentence)._replace(location=line.location)
        except ValueError as error:
            raise ConfigurationError(f"{line.location}: {error}") from None


def is_list_of(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _sentence(fields: dict[str, Any]) -> SrlSentence:
    words, frames = _first(fields, _WORDS), _first(fields, _FRAMES)
    if not is_list_of(words, str) or not words or not all(words):
        raise ValueError(f'expected "words", a list of words, got {words or list(fields)!r:.100}')
    if not is_list_of(frames, dict):  # of one predicate
        frames = [fields]
    return SrlSentence(words, sorted(_predicate(frame, words) for frame in frames))


def _predicate(frame: dict[str, Any], words: list[str]) -> Predicate:
    tags, roles = _first(frame, _TAGS), _first(frame, _ROLES)
    if is_list_of(tags, str) and len(tags) == len(words):
        arguments = tags_to_arguments(tags)
    elif tags is None and isinstance(roles, list):
        arguments = [_argument(role, words) for role in roles]
    else:
        raise ValueError(
            f'expected "frames" with {len(words)} "tags" or with "roles", got {tags or list(frame)!r:.100}'
        )
    verbs = [argument for argument in arguments if argument.role == "V"]
    names = [index for index, word in enumerate(words) if word in (frame.get("verb"), frame.get("predicate"))]
    indices = [frame[key] for key in _INDICES if type(frame.get(key)) is int]
    index = (indices or [verb.start for verb in verbs] or names or [-1])[0]
    if not 0 <= index < len(words) or (len(names) > 1 and not indices and not verbs):
        raise ValueError(f'expected an "index" of the predicate below {len(words)}, got {frame!r:.100}')
    if verbs and not any(verb.start <= index < verb.end for verb in verbs):
        raise ValueError(f"V is not at its predicate, {words[index]!r}, but at {words[verbs[0].start]!r}")
    if not any(argument.start <= index < argument.end for argument in arguments):
        arguments.append(Argument("V", index, index + 1))
    arguments = tags_to_arguments(arguments_to_tags(arguments, len(words)))  # checked, and in order
    return Predicate(index, str(frame.get("lemma") or words[index]), "verb", arguments)


def _argument(role: Any, words: list[str]) -> Argument:
    """Returns an argument of `{"role": "ARG0", "start": 0, "end": 2}` or of `[0, 1, "ARG0"]`."""
    is_list = isinstance(role, list) and len(role) == 3
    fields = dict(zip(("start", "end", "role"), role, strict=True)) if is_list else role
    if isinstance(fields, dict):
        name, start, end = _first(fields, ("role", "label", "type")), fields.get("start"), fields.get("end")
        if isinstance(name, str) and type(start) is int and type(end) is int:
            shorter, longer = (" ".join(words[start:stop]) for stop in (end, end + 1))
            if fields.get("text") == longer != shorter and not is_list:
                raise ValueError(f'expected "end" after the last word of {fields["text"]!r}, got {end}')
            return Argument(name, start, end + is_list)
    raise ValueError(f'expected a role such as {{"role": "ARG0", "start": 0, "end": 2}}, got {role!r:.100}')
