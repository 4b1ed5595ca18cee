"""The arguments of a predicate, the bracket labels of CoNLL-2005 and the BIO tags that stand for them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import LabelError

_LABEL = re.compile(r"(?:\((?P<opened>[^*()\s]+))?\*(?P<closes>(?P<closed>[^*()\s]*)\))?")
_TAG = re.compile(r"O|(?P<prefix>[BI])-(?P<role>.+)")


class Argument(NamedTuple):
    """A role, such as "ARG0", "C-ARG0" or "V", and its words: from `start` to before `end`."""

    role: str
    start: int
    end: int


def parse_labels(labels: Sequence[str]) -> list[Argument]:
    """
    Reads one column of bracket labels, such as `(ARG0*`, `*`, `*)`, `(V*)`, from left to right. A closing
    bracket may name its role again, `*ARG0)`, as in CoNLL-2004.

    Raises `LabelError` if brackets are malformed, nested, or without their other half.
    """
    arguments = []
    opened: tuple[int, str] | None = None
    for row, label in enumerate(labels):
        match = _LABEL.fullmatch(label)
        if match is None:
            raise LabelError(row, f"{label!r} is not one bracket such as (ARG0*, *, *) or (V*)")
        if match["opened"]:
            if opened is not None:
                raise LabelError(row, f"{label!r} opens inside ({opened[1]}*, but arguments do not overlap")
            opened = row, match["opened"]
        if match["closes"]:
            if opened is None:
                raise LabelError(row, f"{label!r} closes an argument, but none is open")
            start, role = opened
            if match["closed"] not in ("", role):
                raise LabelError(row, f"{label!r} closes an argument, but the open one is {role}")
            arguments.append(Argument(role, start, row + 1))
            opened = None
    if opened is not None:
        raise LabelError(opened[0], f"{labels[opened[0]]!r} is never closed")
    return arguments


def format_labels(arguments: Iterable[Argument], length: int) -> list[str]:
    """
    Returns the bracket labels of a sentence of `length` words. Inverts `parse_labels`.

    Raises `LabelError` if arguments overlap or leave the sentence, or a role cannot be written.
    """
    labels = ["*"] * length
    for role, start, end in _in_order(arguments, length):
        labels[start] = f"({role}{labels[start]}"
        labels[end - 1] += ")"
        if not re.fullmatch(r"[^*()\s]+", role):
            raise LabelError(start, f"the role {role!r} cannot be in a bracket label")
    return labels


def tags_to_arguments(tags: Sequence[str]) -> list[Argument]:
    """
    Reads BIO tags, from left to right. An `I-ARG0` that does not follow `B-ARG0` or `I-ARG0` begins an
    argument. Raises `LabelError` if a tag is not a BIO tag.
    """
    arguments: list[Argument] = []
    last_role = None
    for row, tag in enumerate(tags):
        match = _TAG.fullmatch(tag)
        if match is None:
            raise LabelError(row, f"{tag!r} is not a BIO tag")
        if match["prefix"] == "I" and match["role"] == last_role:
            arguments[-1] = arguments[-1]._replace(end=row + 1)
        elif match["prefix"]:
            arguments.append(Argument(match["role"], row, row + 1))
        last_role = match["role"]
    return arguments


def arguments_to_tags(arguments: Iterable[Argument], length: int) -> list[str]:
    """
    Returns the BIO tags of a sentence of `length` words. Inverts `tags_to_arguments`. Raises `LabelError` if
    arguments overlap or leave the sentence.
    """
    tags = ["O"] * length
    for role, start, end in _in_order(arguments, length):
        tags[start:end] = [f"B-{role}"] + [f"I-{role}"] * (end - start - 1)
    return tags


def _in_order(arguments: Iterable[Argument], length: int) -> list[Argument]:
    """Returns arguments from left to right, after checking them."""
    ordered = sorted(arguments, key=lambda argument: argument.start)
    free = 0  # the first word that may be in the next argument
    for role, start, end in ordered:
        if not 0 <= start < end <= length:
            raise LabelError(start, f"{role} is not in a sentence of {length} words: {start} to {end}")
        if start < free:
            raise LabelError(start, f"{role} begins inside another argument")
        free = end
    return ordered
