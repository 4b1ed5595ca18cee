"""Whether the first row of a table names its columns."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.label_values import is_number

_SHORT = 40  # characters of a label or a name
_MOST_WORDS = 3  # of a name
_NEARLY_ALL = 0.9  # of the texts of a column
_ABBREVIATION = re.compile(r"\w{1,4}\.")  # such as `Nr.`
_NUMBER_OR_DATE = re.compile(r"[-+]?\d[\d.,:/ -]*%?")
_QUESTION_MARKS = ("?", "？", "؟")  # noqa: RUF001 (as in `Spam?`)
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", "۔", "።", "։")  # noqa: RUF001


def is_header(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    chosen: Collection[str],
    usual: Collection[str],
) -> bool:
    """
    Returns whether the first row of a table names its columns: it has a usual name, or all names
    and numbers that `--column` chooses or, in any language, it differs from the rows below it.
    """
    if _has_usual_name(first, usual) or _has_chosen_names(first, chosen):
        return True
    if not rest or not all(_may_be_name(field) for field in first):
        return False
    named_columns = []
    for number, name in enumerate(first):
        named_columns.append((name, [row[number] for row in rest]))
    label_columns = [(name, column) for name, column in named_columns if may_be_labels(column)]
    if any(name in column for name, column in label_columns):
        return False  # the first row has a label that occurs below, so it is a row of data
    if any(_is_unlike_numbers(name, column) for name, column in named_columns):
        return True
    # A row of data may also have a shorter text or a rarer label than the rows below it. But its
    # fields seldom look alike.
    if not _look_alike(first):
        return False
    if any(_is_unlike_texts(name, column) for name, column in named_columns):
        return True
    return any(_is_unlike_labels(name, column) for name, column in label_columns)


def _has_usual_name(first: Sequence[str], usual: Collection[str]) -> bool:
    """Returns whether a field is a usual name, in any case."""
    known = {name.lower() for name in usual}
    return any(field.lower() in known for field in first)


def _has_chosen_names(first: Sequence[str], chosen: Collection[str]) -> bool:
    """Returns whether all chosen names are in a row. Numbers of columns do not count."""
    names = {name for name in chosen if not is_whole_number(name)}
    return bool(names) and names <= set(first)


def _may_be_name(field: str) -> bool:
    """
    Returns whether a field may be the name of a column: it is short, and neither a number nor a
    sentence. A name may be blank.
    """
    if len(field) > _SHORT or len(field.split()) > _MOST_WORDS:
        return False
    if _ABBREVIATION.fullmatch(field) or field.endswith(_QUESTION_MARKS):
        return True  # `Nr.` and `Spam?` end as sentences do, but are names
    return not is_number(field) and not field.endswith(SENTENCE_ENDS)


def _look_alike(names: Sequence[str]) -> bool:
    """
    Returns whether all names are single words, or none begins with a small letter. The names
    `Texto libre` and `Clase` look alike, but `it rained` and `sad` are a text and its label.
    """
    if all(len(name.split()) <= 1 for name in names):
        return True
    return not any(name[:1].islower() for name in names)


def _is_unlike_numbers(name: str, column: Sequence[str]) -> bool:
    """Returns whether a name is without digits, and its column has several numbers or dates."""
    values = [value for value in column if value]
    if len(values) < 2 or not name or any(letter.isdecimal() for letter in name):
        return False
    return all(_NUMBER_OR_DATE.fullmatch(value) for value in values)


def _is_unlike_labels(name: str, column: Sequence[str]) -> bool:
    """Returns whether each label of a column occurs again, and its name is none of them."""
    counts = Counter(value for value in column if value)
    return bool(name) and name not in counts and all(count > 1 for count in counts.values())


def _is_unlike_texts(name: str, column: Sequence[str]) -> bool:
    """Returns whether a column has texts, and nearly all of them are longer than its name."""
    texts = [text for text in column if text]
    if not texts or may_be_labels(texts):
        return False
    longer = [text for text in texts if _is_longer(text, name)]
    return len(longer) >= _NEARLY_ALL * len(texts)


def _is_longer(text: str, name: str) -> bool:
    """
    Returns whether a text is longer than the name of its column: it has more words, or ends as a
    sentence does. A text without spaces, as in Chinese, must have more than twice the characters.
    """
    if text.endswith(SENTENCE_ENDS) and not name.endswith(SENTENCE_ENDS):
        return True
    num_words = len(text.split())
    if num_words == 1:
        return len(text) > 2 * len(name)
    return num_words > len(name.split())


def may_be_labels(values: Sequence[str]) -> bool:
    """Returns whether values are short, and occur at least twice on average, as labels do."""
    filled = [value for value in values if value]
    if not filled or any(len(value) > _SHORT for value in filled):
        return False
    different = set(filled)
    return len(filled) >= 2 * len(different)
