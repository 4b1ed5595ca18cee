"""The label in a field: a word or a number, or where tools for annotation put it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.report import Unusable

_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")
_FRACTION = re.compile(r"-?\d*\.\d*[1-9]\d*")
_LIKELY = 0.5  # a category of spaCy's `cats` is true above this


def label_of(value: Any, names: Sequence[str] = ()) -> str:
    """
    Returns the label that a field has: a word, a number, one of a list, or the true one of
    categories. `names` are the names of labels that are numbers, from 0.

    Raises `Unusable` if there is none, or several, or it is a score.
    """
    if isinstance(value, list):
        return _label_in_list(value, names)
    if isinstance(value, Mapping):
        true = [name for name, part in value.items() if _is_true(part)]
        return _label_in_list(true, names)
    if value is None:
        raise Unusable("without a label")
    text = " ".join(str(value).split())
    if isinstance(value, bool):
        text = text.lower()
    if not text:
        raise Unusable("without a label")
    if is_score(text):
        raise Unusable("with a score as their label", f"{text!r} is a score, not a class")
    whole = _WHOLE_NUMBER.fullmatch(text)
    if whole:
        text = whole[1]
    if names and text not in names and text != "-1":
        if not text.isdecimal() or int(text) >= len(names):
            raise Unusable("with a label that --label-names lacks", f"{text!r}")
        text = names[int(text)]
    return text


def is_score(text: str) -> bool:
    """Returns whether a label is a number with decimals."""
    return _FRACTION.fullmatch(text) is not None


def _label_in_list(values: Sequence[Any], names: Sequence[str]) -> str:
    if not values:
        raise Unusable("without a label")
    labels = {label_of(value, names) for value in values}
    if len(labels) > 1:
        raise Unusable("with several labels")
    return labels.pop()


def _is_true(part: Any) -> bool:
    return isinstance(part, int | float) and part > _LIKELY


def choices_of_label_studio(fields: Mapping[str, Any]) -> list[str] | None:
    """Returns the choices in an export of Label Studio, or `None` if it is none."""
    annotations: Any = fields.get("annotations")
    if not isinstance(fields.get("data"), dict) or not is_list_of(annotations, dict):
        return None
    choices: list[str] = []
    for annotation in annotations:
        if annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result") or []:
            value = result.get("value") if isinstance(result, dict) else None
            if isinstance(value, dict):
                choices += value.get("choices") or []
    return choices
