"""The names of columns, and whether the first row of a file has them."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from elmo_plugin.common.integers import DIGITS
from elmo_plugin.importers.tables import Row
from elmo_plugin.importers.tag_encodings import OUTSIDE_MARKS
from elmo_plugin.tasks.spans import parse_tag

WORD_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface")
ENTITY_NAMES = (
    "ner_tags",
    "ner_tag",
    "ner",
    "ne-coarse-lit",
    "ne",
    "entity",
    "entities",
    "iob",
    "bio",
    "ner_label",
    "tag",
    "tags",
    "label",
    "labels",
)
WORD_CLASS_NAMES = ("upos", "pos", "pos_tag", "pos_tags", "xpos", "chunk", "chunk_tags")
SENTENCE_NAMES = (
    "sentence #",
    "sentence",
    "sentence_id",
    "sentence_idx",
    "sent_id",
    "sent",
    "sid",
)
CONLLU_NAMES = (
    "ID",
    "FORM",
    "LEMMA",
    "UPOS",
    "XPOS",
    "FEATS",
    "HEAD",
    "DEPREL",
    "DEPS",
    "MISC",
)
_WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[\W_]+")  # as tag sets have them
_NUMBERS = re.compile(r"[\d.,:-]*\d")  # also the places of words in a text, such as 12-15
_NUMBERED = re.compile(rf"[^\d]*{DIGITS}\.?0?")  # as "Sentence: 12"


def is_number(text: str) -> bool:
    """Returns whether a field is made of numbers alone, such as 7 or the place 12-15."""
    return _NUMBERS.fullmatch(text) is not None


def is_numbered(text: str) -> bool:
    """Returns whether a field ends in its only number, such as "12", "12.0" or "Sentence: 12"."""
    return _NUMBERED.fullmatch(text) is not None


def is_word_class(text: str) -> bool:
    """Returns whether a field looks like the name of a part of speech; so do words in capitals."""
    return _WORD_CLASS.fullmatch(text) is not None


def known_header(fields: Sequence[str], chosen: Collection[str] = ()) -> list[str]:
    """
    Returns the fields of a row as the names of columns if usual or `chosen` names are among them,
    or else an empty list.
    """
    titles = [field.lstrip("# ") for field in fields]  # a header may look like a comment
    names = {title.lower() for title in titles}
    has_words = not names.isdisjoint(WORD_NAMES)
    has_others = not names.isdisjoint((*ENTITY_NAMES, *WORD_CLASS_NAMES, *SENTENCE_NAMES))
    has_chosen = bool(chosen) and set(chosen) <= set(fields)
    # One of the words' usual names, such as "text", may also be a word of a sentence.
    has_usual = has_words and (has_others or len(fields) == 1)
    if has_chosen or has_usual:
        return titles
    return []


def has_columns_of_conllu(fields: Sequence[str]) -> bool:
    """Returns whether a row may be the first of CoNLL-U: its number begins with 0 or 1."""
    return len(fields) == len(CONLLU_NAMES) and fields[0][:1] in ("0", "1")


def is_header(titles: Sequence[str], rows: Sequence[Row]) -> bool:
    """
    Returns whether a row differs in kind from the rows below it, whatever its language: none of its
    fields stands below, is a number or a tag, and one is the title of numbers or of tags.
    """
    if not rows:
        return False
    columns = [[row.fields[number] for row in rows] for number in range(len(titles))]
    for title, values in zip(titles, columns, strict=True):
        if title == "":  # as pandas leaves it above the numbers of rows
            if not all(is_number(value) or not value for value in values):
                return False
        elif title in values or is_number(title) or _is_tag(title):
            return False
    are_capitals = all(is_word_class(title) for title in titles)
    for title, values in zip(titles, columns, strict=True):
        if _is_title(title, values, are_capitals):
            return True
    return False


def _is_tag(field: str) -> bool:
    """Returns whether a field is O or a tag such as B-PER; a letter alone may be a title."""
    tag = parse_tag(field)
    return field in OUTSIDE_MARKS or (tag is not None and tag.kind != "")


def _is_title(title: str, values: Sequence[str], are_capitals: bool) -> bool:
    """
    Returns whether a field is certainly the title of the values below it: of numbers, of tags such
    as B-PER, of types of which most are O, or of parts of speech. A field in capitals may itself be
    a type or a part of speech, unless all titles are in capitals.
    """
    filled = [value for value in values if value]
    if not filled or not title:
        return False
    if all(is_numbered(value) for value in filled):
        return not is_numbered(title)
    if is_word_class(title) and not are_capitals:
        return False
    tags = [parse_tag(value) for value in filled]
    if None not in tags and any(tag.kind for tag in tags if tag is not None):
        return True
    most_usual, number = Counter(values).most_common(1)[0]
    if most_usual in OUTSIDE_MARKS and 2 * number > len(values):  # types, unless all are O
        return not set(values) <= set(OUTSIDE_MARKS)
    return all(is_word_class(value) for value in filled) and not is_word_class(title)
