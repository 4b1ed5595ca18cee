"""Rasa's examples of intents, in Markdown or YAML: `from [London](city)`."""

import json
import re
from collections.abc import Iterator
from typing import Any

import srsly
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record

_HEADING = re.compile(r"## *(?P<kind>\w+):")
_HAS_HEADING = re.compile(r"^## *intent:", re.MULTILINE)
_HAS_EXAMPLES = re.compile(r"^nlu: *$", re.MULTILINE)
_ITEM = re.compile(r"\s*[-*+] (?P<text>.*\S)")
_ENTITY = re.compile(
    r"\[(?P<text>[^\[\]]+)\](?:\((?P<kind>[^():]+)(?::[^()]*)?\)|(?P<fields>\{[^{}]*\}))"
)


def is_rasa_markdown(text: str) -> bool:
    """Returns whether a text has a heading of an intent."""
    return _HAS_HEADING.search(text) is not None


def is_rasa_yaml(text: str) -> bool:
    """Returns whether a text has the key of Rasa's examples."""
    return _HAS_EXAMPLES.search(text) is not None and "examples:" in text


def records_of_markdown(file: str, text: str) -> Iterator[Record]:
    """
    Yields the text of each example of an intent, and its entities by their characters. Examples of
    other kinds, such as synonyms, are left out.
    """
    kind = ""  # of the examples below the last heading
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _HEADING.match(line)
        if heading is not None:
            kind = heading["kind"]
        item = _ITEM.fullmatch(line)
        if kind == "intent" and item is not None:
            yield Record(file, f"line {number}", _fields(item["text"], f"{file}, line {number}"))


def records_of_yaml(file: str, text: str) -> Iterator[Record]:
    """
    Yields the text of each example, and its entities by their characters. Raises
    `ConfigurationError`, naming the file, if it is no YAML.
    """
    try:
        content: Any = srsly.yaml_loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: not YAML that can be read ({error})") from None
    parts = content
    if isinstance(content, dict):
        parts = content.get("nlu")
    if parts is None:
        return
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ConfigurationError(f"{file}: expected a list of intents and their examples as 'nlu'")
    for part in parts:
        intent = part.get("intent")
        if intent is None:
            continue  # synonyms, lookup tables and regular expressions
        # A collection is not shown, because YAML's references can make it endless.
        if isinstance(intent, dict | list):
            raise ConfigurationError(f"{file}: expected the name of an intent, got a collection")
        for number, example in enumerate(_examples(part.get("examples")), start=1):
            place = f"example {number} of {intent}"
            yield Record(file, place, _fields(example, f"{file}, {place}"))


def _examples(examples: Any) -> Iterator[str]:
    """Yields the examples of an intent: the lines of a text, or a list of objects."""
    if isinstance(examples, str):
        for line in examples.split("\n"):
            item = _ITEM.fullmatch(line)
            if item is not None:
                yield item["text"]
        return
    if not isinstance(examples, list):
        return
    for example in examples:
        if isinstance(example, dict) and isinstance(example.get("text"), str):
            item = _ITEM.fullmatch(example["text"].strip("\n"))
            if item is None:
                yield example["text"].strip()
            else:  # a list of one item, as in texts
                yield item["text"]


def _fields(example: str, place: str) -> dict[str, Any]:
    """
    Returns the text of an example without the marks of its entities, as `text`, and the entities by
    their characters in it, as `spans`.
    """
    text = ""
    entities = []
    end_of_last = 0
    for entity in _ENTITY.finditer(example):
        text += example[end_of_last : entity.start()]
        end_of_last = entity.end()
        start = len(text)
        text += entity["text"]
        kind = entity["kind"] or _kind_in(entity["fields"], place)
        entities.append({"start": start, "end": len(text), "label": kind})
    text += example[end_of_last:]
    return {"text": text, "spans": entities}


def _kind_in(fields: str, place: str) -> str:
    """Returns the type that the object behind an entity names."""
    try:
        kind = json.loads(fields)["entity"]
    except (ValueError, KeyError, RecursionError):
        kind = None
    if not isinstance(kind, str):
        raise ConfigurationError(
            f'{place}: expected {{"entity": "TYPE"}} behind an entity, got {fields:.60}'
        )
    return kind
