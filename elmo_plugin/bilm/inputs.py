"""Checks the arguments and the words that users give a `BiLm`."""

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import torch

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.meanings import meant_name

_LONGEST_NAME = 255  # of a file, in characters
_NOT_LISTS = (str, bytes, bytearray, Mapping, AbstractSet)
Function = TypeVar("Function", bound=Callable[..., Any])


def explained(method: Function) -> Function:
    """Decorates a method: the `TypeError` for an unknown argument says which one is meant."""
    names = [name for name in signature(method).parameters if name not in ("self", "cls")]

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in names:
                hint = _argument_hint(name, names)
                raise TypeError(f"{method.__name__}: unknown argument {name!r}; {hint}")
        return method(*args, **kwargs)

    return cast(Function, call)


def _argument_hint(name: str, names: Sequence[str]) -> str:
    """
    Returns which of the arguments `names` is probably meant by an unknown name, or else lists all
    of them.
    """

    def is_possible(advice: str) -> bool:
        return fits(advice, names)

    meant = meant_name(name, names, "arguments", is_possible)
    if not meant:
        return f"the arguments are {', '.join(names)}"
    if meant.endswith("."):  # a whole sentence, such as "texts of any length are read whole."
        return meant.removesuffix(".")
    return f"did you mean {meant}?"


def untraced(method: Function) -> Function:
    """
    Decorates a method that cannot be traced, because it packs sentences and looks words up in
    tables. `torch.compile` calls it uncompiled. `torch.jit.trace` and `torch.export`, and so ONNX,
    would record only the sentences of their example, so the method raises `BiLmError` there.
    """

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.jit.is_tracing():
            raise BiLmError(
                "torch.jit.trace cannot record a biLM, because its steps depend on the sentences"
            )
        if torch.compiler.is_dynamo_compiling():  # `torch.compile`
            return torch.compiler.disable(method)(*args, **kwargs)
        if torch.compiler.is_compiling():  # without Dynamo, so it is not `torch.compile`
            raise BiLmError(
                "torch.export (ONNX) cannot record a biLM: its steps depend on the sentences"
            )
        return method(*args, **kwargs)

    return cast(Function, call)


def fits(advice: str, names: Collection[str]) -> bool:
    """
    Returns whether an advice can be given for a method with the arguments `names`. "layers=2" and
    "texts, the first argument" can if it has that argument. "bilm.encode(...)" or a sentence is not
    about an argument of the method, and can always be given.
    """
    beginning, _, _ = advice.replace(",", "=").partition("=")  # up to the first "=" or comma
    return beginning in names or not beginning.isidentifier()


def as_words(sentence: Any, place: str, expected: str = "a list of words") -> list[str]:
    """
    Returns the words of a sentence of strings, or of tokens with a `text`. Raises `BiLmError`,
    beginning with `place`, if it is anything else.
    """
    words = list(in_order(sentence, place, expected))
    for number, word in enumerate(words):
        if not isinstance(word, str):
            text = getattr(word, "text", word)
            if not isinstance(text, str):
                raise BiLmError(f"{place}[{number}]: expected a word, got {text!r:.60}")
            words[number] = text
    return words


def check_no_texts(words: Sequence[str], place: str) -> None:
    """
    Raises `BiLmError`, beginning with `place`, if one of the words has a space within it, because
    it is probably a text. Other spaces, such as the no-break space of `10\u202f000`, may be part of
    a word.
    """
    for number, word in enumerate(words):
        if " " in word.strip(" "):
            raise BiLmError(
                f"{place}[{number}]: expected a word, got a text with spaces, {word!r:.60}; "
                "put all texts in one list, and their words in lists only if they are split"
            )


def in_order(values: Any, place: str, expected: str) -> Iterable[Any]:
    """
    Returns `values` if they can be read one by one. Raises `BiLmError`, beginning with `place` and
    saying what was `expected`, for a text, a table, and for collections without an order.
    """
    # An array of no dimensions has the methods of a list, but no elements.
    is_iterable = isinstance(values, Iterable) and getattr(values, "ndim", 1) != 0
    # A table of pandas or polars would yield the names of its columns.
    is_table = hasattr(values, "columns")
    if is_iterable and not is_table and not isinstance(values, _NOT_LISTS):
        return values
    text = getattr(values, "text", values)
    if isinstance(text, str):
        way_out = "put the words of a sentence in a list"
        if " " in text:
            way_out = "split it"
        got = f"{values!r:.60}: {way_out}, or use BiLm.encode"
    elif is_missing(values):
        got = f"{values!r:.60}, a missing value: leave those out, as column.dropna() of pandas does"
    elif is_iterable:
        got = type(values).__name__  # says more than the content of a table or a set
    else:
        got = f"{values!r:.60}"
    raise BiLmError(f"{place}: expected {expected}, got {got}")


def refuse_file_name(text: str) -> None:
    """Raises `BiLmError` if a text is the name of a file: its lines are meant, not its name."""
    # A name with a dot is meant as one; a text such as "data" may be the name of a file by chance.
    if len(text) <= _LONGEST_NAME and "." in text and os.path.isfile(text):
        raise BiLmError(
            f"texts: {text!r} is a file; give its lines, as in open({text!r}), or use `elmo embed`"
        )


def is_missing(value: Any) -> bool:
    """Returns whether a value stands for none: `None`, NaN, or a missing value of pandas."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def as_sentences(sentences: Any) -> list[list[str]]:
    """Returns the words of each sentence."""
    listed = in_order(sentences, "sentences", "a list of lists of words")
    return [as_words(sentence, f"sentences[{number}]") for number, sentence in enumerate(listed)]
