"""Semantic roles in JSON: predictions of AllenNLP and of `elmo predict srl`."""

from typing import Any

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.srl_example import is_inside, with_verb
from elmo_plugin.tasks.spans import Span, checked_spans, parse_tag, tags_to_spans
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence


def sentence_in(record: Record) -> SrlSentence:
    """
    Returns the sentence of a record: its `words`, and a predicate for each of the `frames`, or of
    the `verbs` in AllenNLP's predictions. A frame has one of these:

    - `tags` in BIO, one for each word;
    - the `index` of the predicate, and `roles` such as `{"role": "ARG0", "start_word": 0,
      "end_word": 2}`, or with `start` and `end`, the end exclusive.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    location = f"{record.file}, {record.place}"
    with as_configuration_error(location):
        words = _words_in(record.fields)
        frames: Any = record.fields.get("frames", record.fields.get("verbs"))
        if not is_list_of(frames, dict):
            got = _value_or_keys(frames, record.fields)
            raise BiLmError(f'expected "frames", a list of objects, got {got}')
        predicates = sorted(_predicate(frame, words) for frame in frames)  # from left to right
    return SrlSentence(words, predicates, location)


def _words_in(fields: dict[str, Any]) -> list[str]:
    """
    Returns the words of a record, without byte order marks. Raises `BiLmError` if the record lacks
    words, or if one of them is empty.
    """
    found: Any = fields.get("words")
    if is_list_of(found, str):
        words = [word.replace(BYTE_ORDER_MARK, "") for word in found]
        if words and all(words):
            return words
    raise BiLmError(f'expected "words", a list of words, got {_value_or_keys(found, fields)}')


def _value_or_keys(value: object, fields: dict[str, Any]) -> str:
    """
    Returns a wrong value for an error message, or all keys of the fields if the value is missing or
    empty.
    """
    if value:
        return f"{value!r:.100}"
    return f"{list(fields)!r:.100}"


def _predicate(frame: dict[str, Any], words: list[str]) -> Predicate:
    """
    Returns the predicate of a frame: the word at its `index`, or else at its first argument `V`.
    Raises `BiLmError` if its place is missing or wrong, or if arguments overlap.
    """
    arguments = _arguments(frame, words)
    verbs = [argument for argument in arguments if argument.label == VERB]
    index = frame.get("index")
    if index is None and verbs:
        index = verbs[0].start
    if type(index) is not int or not 0 <= index < len(words):
        raise BiLmError(
            f'expected an "index" of the predicate below {len(words)}, got {frame!r:.100}'
        )
    if verbs and not is_inside(index, verbs):
        raise BiLmError(
            f"V is not at its predicate, {words[index]!r}, but at {words[verbs[0].start]!r}"
        )
    arguments = checked_spans(with_verb(arguments, index), len(words))
    lemma = str(frame.get("lemma") or words[index])
    return Predicate(index, lemma, arguments)


def _arguments(frame: dict[str, Any], words: list[str]) -> list[Span]:
    """
    Returns the arguments of a frame, from its tags in BIO or, without tags, from its roles. Raises
    `BiLmError` if both are missing or malformed.
    """
    tags: Any = frame.get("tags")
    roles = frame.get("roles")
    if tags is None and isinstance(roles, list):
        return [_argument(role, words) for role in roles]
    if not is_list_of(tags, str) or len(tags) != len(words):
        raise BiLmError(
            f'expected "frames" with {len(words)} "tags" or with "roles", got '
            f"{_value_or_keys(tags, frame)}"
        )
    for tag in tags:
        if parse_tag(tag) is None:
            raise BiLmError(f"{tag!r} is not a BIO tag")
    return tags_to_spans(tags)


def _argument(role: Any, words: list[str]) -> Span:
    """
    Returns the argument of a role. Raises `BiLmError` if the role has another shape, or if its end
    seems to be the index of its last word, not of the word after it.
    """
    fields = role if isinstance(role, dict) else {}  # anything but an object lacks all fields
    name = fields.get("role")
    start = fields.get("start_word", fields.get("start"))
    end = fields.get("end_word", fields.get("end"))
    if not isinstance(name, str) or type(start) is not int or type(end) is not int:
        raise BiLmError(
            'expected a role such as {"role": "ARG0", "start_word": 0, "end_word": 2}, got '
            f"{role!r:.100}"
        )
    covered = " ".join(words[start:end])
    with_next_word = " ".join(words[start : end + 1])
    # If the role's own text has the word at `end` too, then `end` is its last word. At the end of
    # the sentence, both texts are the same and show nothing.
    if fields.get("text") == with_next_word and with_next_word != covered:
        raise BiLmError(
            f"expected the end to be after the last word of {with_next_word!r}, got {end}"
        )
    return Span(start, end, name)
