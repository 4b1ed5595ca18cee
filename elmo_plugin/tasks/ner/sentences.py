"""Words and their tags, from columns or from JSON lines."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.ner.layout import Layout
from elmo_plugin.tasks.ner.table import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES, Row, Table
from elmo_plugin.tasks.ner.tags import parse_tag, parse_tags
from elmo_plugin.tasks.records import parse_records


class TaggedSentence(NamedTuple):
    """The words of a sentence, with the number of the line and the tag of each, as the file has it."""

    lines: list[int]
    words: list[str]
    tags: list[str]


def sentences_of_table(table: Table, layout: Layout) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a table. Raises `ConfigurationError`, naming file and line, for an empty field.
    """
    word, tag, width, _ = layout
    known = {fields[tag] for _, fields in table.words()}
    are_plain = parse_tags(known) is None

    def is_word(row: Row, within: bool) -> bool:
        """A row that begins with "#" is a comment unless it has all columns, and a tag that others have."""
        fields = row[1]
        if len(fields) != width or word != 0 or " " in fields[0]:
            return False
        is_tag = within or fields[tag] == fields[0] if are_plain else parse_tag(fields[tag]) is not None
        return is_tag or fields[tag] in known

    for rows in table.sentences(is_word):
        fields = [row[1] for row in rows]
        sentence = TaggedSentence(
            [row[0] for row in rows], [row[word] for row in fields], [row[tag] for row in fields]
        )
        if not (all(sentence.words) and all(sentence.tags)):
            line, empty = next(row for row in rows if not (row[1][word] and row[1][tag]))
            column = tag if empty[word] else word
            raise table.error(line, f"column {column} is empty; {layout.describe()}")
        yield sentence


def sentences_of_json(
    lines: Iterable[Line], word_key: Any, tag_key: Any, label_names: Sequence[str] | None
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of JSON lines, each an object with lists of words and of tags.

    Raises `ConfigurationError`, naming file and line, if one is missing or does not fit the other.
    """
    for line, fields in parse_records(lines, format="jsonl"):
        word_key = word_key or _find_key(line, fields, WORD_NAMES, "word_column")
        tag_key = tag_key or _find_key(line, fields, ENTITY_NAMES + WORD_CLASS_NAMES, "tag_column")
        words, tags = fields.get(word_key), fields.get(tag_key)
        if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
            raise ConfigurationError(
                f"{line.location}: expected a list of words as {word_key!r} and of as many tags as "
                f"{tag_key!r}, got {words!r:.50} and {tags!r:.50}"
            )
        if not all(isinstance(word, str) and word.strip() for word in words):
            raise ConfigurationError(f"{line.location}: expected words that are not empty, got {words!r:.50}")
        if words:
            yield TaggedSentence(
                [line.number] * len(words), words, [_label(tag, line, label_names) for tag in tags]
            )


def _find_key(line: Line, fields: dict[str, Any], usual: Sequence[str], option: str) -> str:
    for key in usual:
        if key in fields:
            return key
    raise ConfigurationError(
        f"{line.location}: expected a key such as {usual[0]!r} or {usual[1]!r}, got "
        f"{', '.join(map(repr, fields))}; the option {option} names one"
    )


def _label(tag: Any, line: Line, label_names: Sequence[str] | None) -> str:
    if isinstance(tag, str) and tag.strip():
        return tag
    if type(tag) is not int:
        raise ConfigurationError(f"{line.location}: expected tags as text or numbers, got {tag!r:.50}")
    if label_names is None:
        raise ConfigurationError(
            f"{line.location}: the tag {tag} is a number; the option label_names lists the names of all tags"
        )
    if not 0 <= tag < len(label_names):
        raise ConfigurationError(f"{line.location}: label_names has {len(label_names)} names, got tag {tag}")
    return label_names[tag]
