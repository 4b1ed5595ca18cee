"""Words and their tags, from columns or from JSON lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.ner.table import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES, Table
from elmo_plugin.tasks.records import find_field, parse_records

_NOT_ONE_TAG = re.compile(r".*\s.*|\[.+|\(.*\*.*")  # those of a whole sentence, or spans in brackets


class TaggedSentence(NamedTuple):
    """The words of a sentence, with the number of the line and the tag of each, as the file has it."""

    lines: list[int]
    words: list[str]
    tags: list[str]


def sentences_of_table(table: Table, word: int, tag: int) -> list[TaggedSentence]:
    """
    Returns the sentences of a table. Raises `ConfigurationError`, naming file and line, for an empty field,
    and for more than one tag in a field.
    """
    sentences = []
    tags: set[str] = set()
    for rows in table.sentences:
        numbers, fields = zip(*rows, strict=True)
        sentence = TaggedSentence(list(numbers), [row[word] for row in fields], [row[tag] for row in fields])
        tags.update(sentence.tags)
        if not (all(sentence.words) and all(sentence.tags)):
            line, empty = next(row for row in rows if not (row[1][word] and row[1][tag]))
            raise table.error(line, f"column {table.name(tag if empty[word] else word)!r} is empty")
        sentences.append(sentence)
    if wrong := {value for value in tags if _NOT_ONE_TAG.fullmatch(value)}:
        line, fields = next(row for rows in table.sentences for row in rows if row[1][tag] in wrong)
        raise table.error(
            line,
            f"expected a word and its tag in each line, got the tag {fields[tag]!r:.50}; separator or "
            "tag_column chooses another, and JSON lines have all words and tags of a sentence",
        )
    return sentences


def sentences_of_json(
    lines: Iterable[Line], word_key: Any, tag_key: Any, label_names: Sequence[str] | None
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of JSON lines, each an object with lists of words and of tags.

    Raises `ConfigurationError`, naming file and line, if one is missing or does not fit the other.
    """
    for line, fields in parse_records(lines, format="jsonl"):
        word_key = find_field((line, fields), WORD_NAMES, "word_column", word_key)
        tag_key = find_field((line, fields), ENTITY_NAMES + WORD_CLASS_NAMES, "tag_column", tag_key)
        words, tags = fields[word_key], fields[tag_key]
        if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
            raise ConfigurationError(
                f"{line.location}: expected a list of words as {word_key!r} and of as many tags as "
                f"{tag_key!r}, got {words!r:.50} and {tags!r:.50}"
            )
        if label_names:
            is_number = [type(tag) is int and 0 <= tag < len(label_names) for tag in tags]
            tags = [label_names[tag] if named else tag for tag, named in zip(tags, is_number, strict=True)]
        for text in (*words, *tags):
            if not isinstance(text, str) or not text.strip():
                hint = "; the option label_names names tags that are numbers" * isinstance(text, int)
                raise ConfigurationError(f"{line.location}: expected words and tags, got {text!r:.50}{hint}")
        if words:
            yield TaggedSentence([line.number] * len(words), words, tags)
