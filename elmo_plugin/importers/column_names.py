"""The names of columns, and whether the first row of a file has them."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

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
# As "Sentence: 12". The id of a tweet has 19 digits, but `int` refuses thousands of them.
_NUMBERED = re.compile(r"[^\d]*\d{1,100}\.?0?")


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
    Returns the names of the columns if a row is a header: if its fields are usual names, or all
    `chosen` names are among them. Otherwise, returns an empty list.
    """
    titles = [field.lstrip("# ") for field in fields]  # a header may look like a comment
    names = {title.lower() for title in titles}
    names_words = not names.isdisjoint(WORD_NAMES)
    names_other_columns = not names.isdisjoint((*ENTITY_NAMES, *WORD_CLASS_NAMES, *SENTENCE_NAMES))
    # A name such as "text" may also be a word of a sentence. It needs another usual name beside it,
    # unless it is in the only column.
    has_usual_names = names_words and (names_other_columns or len(fields) == 1)
    has_chosen_names = len(chosen) > 0 and set(chosen) <= set(fields)
    if has_chosen_names or has_usual_names:
        return titles
    return []


def has_columns_of_conllu(fields: Sequence[str]) -> bool:
    """Returns whether a row may be the first of CoNLL-U: its number begins with 0 or 1."""
    return len(fields) == len(CONLLU_NAMES) and fields[0][:1] in ("0", "1")


def is_header(titles: Sequence[str], rows: Sequence[Row]) -> bool:
    """
    Returns whether a row is a header in any language: each of its fields may be a title, and at
    least one is certainly the title of numbers or of tags.
    """
    if not rows:
        return False
    columns = [[row.fields[number] for row in rows] for number in range(len(titles))]
    for title, values in zip(titles, columns, strict=True):
        if not _may_be_title(title, values):
            return False
    all_in_capitals = all(is_word_class(title) for title in titles)
    for title, values in zip(titles, columns, strict=True):
        if _is_title(title, values, all_in_capitals):
            return True
    return False


def _may_be_title(title: str, values: Sequence[str]) -> bool:
    """
    Returns whether a field may be the title of the values below it: it is not among them, and is
    neither a number nor a tag. Pandas leaves the title above the numbers of rows empty.
    """
    if title == "":
        return all(is_number(value) for value in values if value)
    return title not in values and not is_number(title) and not _is_tag(title)


def _is_tag(field: str) -> bool:
    """Returns whether a field is O or a tag such as B-PER; a letter alone may be a title."""
    tag = parse_tag(field)
    return field in OUTSIDE_MARKS or (tag is not None and tag.kind != "")


def _is_title(title: str, values: Sequence[str], all_in_capitals: bool) -> bool:
    """
    Returns whether a field is certainly the title of the values below it, because it is unlike
    them. They are numbers, tags such as B-PER, types of entities (most words have O), or parts of
    speech.

    A title in capitals looks like a type or a part of speech itself. It counts only beside numbers,
    or if `all_in_capitals` says that all titles are written like this.
    """
    filled = [value for value in values if value]
    if not filled or not title:
        return False
    if all(is_numbered(value) for value in filled):
        return not is_numbered(title)
    if is_word_class(title) and not all_in_capitals:
        return False
    if _are_tags_with_types(filled):
        return True
    most_usual, number = Counter(values).most_common(1)[0]
    most_are_outside = most_usual in OUTSIDE_MARKS and 2 * number > len(values)
    if most_are_outside:
        some_have_types = not set(values) <= set(OUTSIDE_MARKS)
        return some_have_types
    return all(is_word_class(value) for value in filled) and not is_word_class(title)


def _are_tags_with_types(values: Sequence[str]) -> bool:
    """Returns whether all values are tags of entities, and some have a type, such as B-PER."""
    has_type = False
    for value in values:
        tag = parse_tag(value)
        if tag is None:
            return False
        if tag.kind:
            has_type = True
    return has_type
