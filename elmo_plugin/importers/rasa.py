"""Rasa's examples of intents, in Markdown or YAML: `from [London](city)`."""

import json
import re
from collections.abc import Iterator
from typing import Any

import srsly
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_json import sentences_of_records
from elmo_plugin.importers.tagged_sentence import TaggedSentence

_HEADING = re.compile(r"## *(?P<kind>\w+):")
_HAS_HEADING = re.compile(r"^## *intent:", re.MULTILINE)
_HAS_EXAMPLES = re.compile(r"^nlu: *$", re.MULTILINE)
_ITEM = re.compile(r"\s*[-*+] (?P<text>.*\S)")
_ENTITY = re.compile(
    r"\[(?P<text>[^\[\]]+)\](?:\((?P<kind>[^():]+)(?::[^()]*)?\)|(?P<object>\{[^{}]*\}))"
)


def is_rasa_markdown(source: TaggedFile) -> bool:
    """Returns whether a file has a heading of an intent."""
    return _HAS_HEADING.search(source.text) is not None


def is_rasa_yaml(source: TaggedFile) -> bool:
    """Returns whether a file has the key of Rasa's examples."""
    return _HAS_EXAMPLES.search(source.text) is not None and "examples:" in source.text


def sentences_of_markdown(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of examples in Markdown."""
    return sentences_of_records(_records_of_markdown(source.file, source.text), source)


def sentences_of_yaml(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of examples in YAML. Raises errors as `_records_of_yaml` does."""
    return sentences_of_records(_records_of_yaml(source.file, source.text), source)


def _records_of_markdown(file: str, text: str) -> Iterator[Record]:
    """
    Yields the text of each example of an intent, and its entities by their characters. Lists below
    other headings, such as synonyms, are left out.
    """
    kind_of_list = ""  # as the last heading says
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _HEADING.match(line)
        if heading is not None:
            kind_of_list = heading["kind"]
        item = _ITEM.fullmatch(line)
        if kind_of_list == "intent" and item is not None:
            yield _record_of(item["text"], file, f"line {number}")


def _records_of_yaml(file: str, text: str) -> Iterator[Record]:
    """
    Yields the text of each example, and its entities by their characters. Raises
    `ConfigurationError`, naming the file, if it is no YAML.
    """
    for part in _parts_of_nlu(file, text):
        intent = part.get("intent")
        if intent is None:
            continue  # synonyms, lookup tables and regular expressions
        # A collection is not shown, because YAML's references can make it endless.
        if isinstance(intent, dict | list):
            raise ConfigurationError(f"{file}: expected the name of an intent, got a collection")
        for number, example in enumerate(_examples(part.get("examples")), start=1):
            yield _record_of(example, file, f"example {number} of {intent}")


def _parts_of_nlu(file: str, text: str) -> list[dict[str, Any]]:
    """
    Returns the objects below the key `nlu`, such as intents. Raises errors as `_records_of_yaml`
    does.
    """
    try:
        content: Any = srsly.yaml_loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: not YAML that can be read ({error})") from None
    parts = content.get("nlu") if isinstance(content, dict) else content
    if parts is None:
        return []
    if not is_list_of(parts, dict):
        raise ConfigurationError(f"{file}: expected a list of intents and their examples as 'nlu'")
    return list(parts)


def _examples(examples: Any) -> Iterator[str]:
    """
    Yields the examples of an intent: the items of a list in Markdown, or the `text` of each object
    in a list of YAML.
    """
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
            if item is not None:  # the text is a list in Markdown itself, with one item
                yield item["text"]
            else:
                yield example["text"].strip()


def _record_of(example: str, file: str, place: str) -> Record:
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
        kind = entity["kind"]  # as in [London](city)
        if kind is None:
            kind = _kind_in_object(entity["object"], f"{file}, {place}")
        entities.append({"start": start, "end": len(text), "label": kind})
    text += example[end_of_last:]
    return Record(file, place, {"text": text, "spans": entities})


def _kind_in_object(json_object: str, location: str) -> str:
    """
    Returns the type that an object behind an entity names, as in `[London]{"entity": "city"}`.
    Raises `ConfigurationError`, beginning with the location, if it names none.
    """
    try:
        kind = json.loads(json_object)["entity"]
    except (ValueError, KeyError, RecursionError):
        kind = None
    if not isinstance(kind, str):
        raise ConfigurationError(
            f'{location}: expected {{"entity": "TYPE"}} behind an entity, got {json_object:.60}'
        )
    return kind
