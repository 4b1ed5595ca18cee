"""Sentences with their predicates, from JSON lines."""

from collections.abc import Iterator
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.records import Record
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence
from elmo_plugin.tasks.srl.spans import Argument, arguments_to_tags, tags_to_arguments

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
