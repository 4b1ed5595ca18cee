"""Sentences with their predicates, from JSON lines."""

from collections.abc import Iterator
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.records import Record
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence
from elmo_plugin.tasks.srl.spans import Argument, arguments_to_tags, tags_to_arguments

_WORDS = ("words", "tokens")
_FRAMES = ("frames", "verbs", "srl_frames", "labels")
_TAGS = ("tags", "frames")  # the second: OntoNotes of Hugging Face
_SPANS = ("roles", "arguments", "spans")
_INDICES = ("index", "predicate_index", "verb_index", "verb_idx", "predicate", "verb")
_ROLES = ("role", "label", "type")


def sentences_in(record: Record) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a record: `words`, and for each predicate a frame with the BIO `tags` of its
    arguments, as AllenNLP and `elmo_srl` predict them, or with their `roles`. A role is
    `{"role": "ARG0", "start": 0, "end": 2}`, the end exclusive, or `[first, last, "ARG0"]`.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    line, fields = record
    sentences = fields.get("sentences")
    is_document = isinstance(sentences, list) and all(isinstance(item, dict) for item in sentences)
    for sentence in sentences if is_document and sentences else [fields]:
        try:
            yield _sentence(sentence)
        except ValueError as error:
            raise ConfigurationError(f"{line.location}: {error}") from None


def _sentence(fields: dict[str, Any]) -> SrlSentence:
    words = _first(fields, _WORDS)
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        raise ValueError(f'expected "words", a list of words, got {words or list(fields)!r:.100}')
    frames = _first(fields, _FRAMES)
    if frames is None and _first(fields, (*_TAGS, *_SPANS)) is not None:  # a record for each predicate
        frames = [fields]
    if not isinstance(frames, list) or not all(isinstance(frame, dict) for frame in frames):
        raise ValueError(
            f'expected "frames", with "tags" or "roles" each, got {frames or list(fields)!r:.100}'
        )
    predicates = [_predicate(frame, words) for frame in frames]
    return SrlSentence(words, sorted(predicates, key=lambda predicate: predicate.word))


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _predicate(frame: dict[str, Any], words: list[str]) -> Predicate:
    tags, spans = _first(frame, _TAGS), _first(frame, _SPANS)
    if isinstance(tags, list) and len(tags) == len(words) and all(isinstance(tag, str) for tag in tags):
        arguments = tags_to_arguments(tags)
    elif tags is None and isinstance(spans, list):
        arguments = sorted(map(_argument, spans), key=lambda argument: argument.start)
    else:
        raise ValueError(
            f'expected {len(words)} "tags", or "roles", got {tags or spans or list(frame)!r:.100}'
        )
    verbs = [argument for argument in arguments if argument.role == "V"]
    word = next((frame[key] for key in _INDICES if type(frame.get(key)) is int), None)
    if word is None:
        named = [
            index for index, text in enumerate(words) if text in (frame.get("verb"), frame.get("predicate"))
        ]
        word = verbs[0].start if verbs else named[0] if len(named) == 1 else None
    if word is None or not 0 <= word < len(words):
        raise ValueError(
            f'expected an "index" of the predicate, from 0 to {len(words) - 1}, got {frame!r:.100}'
        )
    if verbs and not any(verb.start <= word < verb.end for verb in verbs):
        raise ValueError(f"V is not at its predicate, {words[word]!r}, but at word {verbs[0].start}")
    if not any(argument.start <= word < argument.end for argument in arguments):
        arguments = sorted([*arguments, Argument("V", word, word + 1)], key=lambda argument: argument.start)
    arguments_to_tags(arguments, len(words))  # checks them
    return Predicate(
        word, str(frame.get("lemma") or words[word]), str(frame.get("kind") or "verb"), arguments
    )


def _argument(span: Any) -> Argument:
    if isinstance(span, dict):
        role, start, end = _first(span, _ROLES), span.get("start"), span.get("end")
    else:
        start, end, role = span if isinstance(span, list) and len(span) == 3 else (None, None, None)
        end = end + 1 if type(end) is int else None
    if not isinstance(role, str) or type(start) is not int or type(end) is not int:
        raise ValueError(f'expected a role as {{"role": "ARG0", "start": 0, "end": 2}}, got {span!r:.100}')
    return Argument(role, start, end)
