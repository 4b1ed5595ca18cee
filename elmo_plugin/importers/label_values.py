"""
The text in a field, and the label in another: a word or a number, alone, in a list, or one of
several categories.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.report import Unusable

_WHOLE_NUMBER = re.compile(r"(?P<number>-?\d+)(?:\.0+)?")
_FRACTION = re.compile(r"-?\d*[.,]\d*[1-9]\d*")
_THRESHOLD = 0.5  # a category is true if its probability is above this
_LINE_END = re.compile(r"(?:\\n){2,}|(?<=[.!?)\s])\\n|\\n(?=\s)")
"""A line end that was written as a backslash and an n, as in Yelp's and Amazon's CSV."""
_MISSING_LABEL = "-1"  # Hugging Face's data sets write it where annotators did not agree


def label_of(value: Any, names: Sequence[str]) -> str:
    """
    Returns the label in a field. The field may be a word or a number, a list in which all items are
    the same label, or an object of categories with a single one that is true. If labels are
    numbers, `names` has their names: the name of 0 is the first.

    Raises `Unusable` if the field has no label, several labels, or a score such as 0.7.
    """
    if isinstance(value, str):
        value = value_in_cell(value.strip())
    if isinstance(value, list):
        return _only_label(value, names)
    if isinstance(value, Mapping):
        return _only_label(_chosen_categories(value), names)
    return _with_name(_label_as_text(value), names)


def text_of(value: Any, reason: str) -> str:
    """
    Returns the text in a field, which may also be a list of words. Line ends and double spaces in
    it become single spaces. Raises `Unusable` with the `reason` if it is blank or no text.
    """
    if is_list_of(value, str):
        value = " ".join(value)
    if not isinstance(value, str) or not value.strip():
        raise Unusable(reason)
    value = _LINE_END.sub(" ", value)
    return " ".join(value.split())


def _only_label(values: Sequence[Any], names: Sequence[str]) -> str:
    """Returns the label that all values have. Raises `Unusable` if there are several or none."""
    labels = {label_of(value, names) for value in values if not is_blank(value)}
    if not labels:
        raise Unusable("without a label")
    if len(labels) > 1:
        raise Unusable("with several labels")
    return labels.pop()


def is_blank(value: Any) -> bool:
    """Returns whether a field has nothing in it."""
    return value is None or value in ("", [], {})


def _chosen_categories(categories: Mapping[str, Any]) -> list[Any]:
    """
    Returns the choices in an object of Label Studio, or the names of the categories that are true.
    Categories such as spaCy's `cats` have truth values or probabilities.
    """
    if isinstance(categories.get("choices"), list):
        return list(categories["choices"])
    chosen = []
    for name, value in categories.items():
        if isinstance(value, int | float) and value > _THRESHOLD:
            chosen.append(name)
    return chosen


def _label_as_text(value: Any) -> str:
    """
    Returns a label as text, such as `1` for 1.0, and `true` for a truth value. Raises `Unusable` if
    it is blank or a score.
    """
    if value is None:
        raise Unusable("without a label")
    text = " ".join(str(value).split())
    if isinstance(value, bool):
        text = text.lower()
    if not text:
        raise Unusable("without a label")
    if is_score(text):
        # Such as "0,1": the score 0.1 with a decimal comma, or the labels 0 and 1.
        raise Unusable(
            "with a score, or with several labels", f"{text!r} is a score or several labels"
        )
    whole_number = _WHOLE_NUMBER.fullmatch(text)
    if whole_number is not None:
        return whole_number["number"]
    return text


def _with_name(label: str, names: Sequence[str]) -> str:
    """
    Returns the name of a label that is a number, from 0. Returns the label itself if `names` is
    empty, or if it is a name already. Raises `Unusable` if no name belongs to it.
    """
    if not names or label in names:
        return label
    if label == _MISSING_LABEL:
        raise Unusable("without a gold label")
    if not is_whole_number(label) or int(label) >= len(names):
        raise Unusable("with a label that --label-names lacks", f"{label!r:.60}")
    return names[int(label)]


def is_number(text: str) -> bool:
    """Returns whether a text is a number, whole or not."""
    return is_score(text) or _WHOLE_NUMBER.fullmatch(text) is not None


def is_score(text: str) -> bool:
    """Returns whether a text is a number with decimals."""
    return _FRACTION.fullmatch(text) is not None
