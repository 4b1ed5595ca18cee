"""Names that users have chosen, such as labels, beside names that a program has chosen."""

from collections.abc import Collection, Mapping
from typing import TypeVar

Value = TypeVar("Value")


def beside_names(
    names: Collection[str], values: Mapping[str, Value], prefix: str = "label_"
) -> dict[str, Value]:
    """
    Returns the values of labels, so that they can stand in one dictionary or table with `names`. A
    label that is one of the names gets the prefix before it; all others keep their names.
    """
    renamed = {}
    for label, value in values.items():
        name = label
        if label in names:
            name = prefix + label
            while name in names or name in values or name in renamed:
                name = prefix + name
        renamed[name] = value
    return renamed
