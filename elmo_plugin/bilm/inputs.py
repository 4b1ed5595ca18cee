"""Checks the arguments and the words that users give a `BiLm`."""

import math
import os
import re
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


def suggests_arguments(method: Function) -> Function:
    """
    Decorates a method, so that the `TypeError` for an unknown argument suggests the argument that
    is probably meant.
    """
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
    Returns the end of a message about the unknown argument `name`: advice, if there is some for
    this name or a similar one, or else the `names` of all arguments.
    """

    def is_possible(advice: str) -> bool:
        return can_be_given(advice, names)

    advice = meant_name(name, names, "arguments", is_possible)
    if not advice:
        return f"the arguments are {', '.join(names)}"
    is_sentence = advice.endswith(".")  # such as "texts of any length are read whole."
    if is_sentence:
        return advice.removesuffix(".")
    return f"did you mean {advice}?"


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


def can_be_given(advice: str, names: Collection[str]) -> bool:
    """
    Returns whether advice can be given for a method with the arguments `names`. If the advice
    begins with an argument, as "layers=2" and "texts, the first argument" do, the method must have
    it. Any other advice can always be given, such as "bilm.encode(...)" or a sentence.
    """
    beginning = re.split("[=,]", advice, maxsplit=1)[0]
    is_argument = beginning.isidentifier()
    return not is_argument or beginning in names


def as_words(sentence: Any, place: str, expected: str = "a list of words") -> list[str]:
    """
    Returns the words of a sentence of strings, or of tokens with a `text`. Raises `BiLmError`,
    beginning with `place`, if it is anything else.
    """
    words = list(listed_items(sentence, place, expected))
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


def listed_items(values: Any, place: str, expected: str) -> Iterable[Any]:
    """
    Returns `values` if they are a list, or can be read one by one like a list. Raises `BiLmError`,
    beginning with `place` and saying what was `expected`, for a single value, a text, a table, and
    for collections without an order.
    """
    # A table of pandas or polars would yield the names of its columns.
    is_table = hasattr(values, "columns")
    if _is_iterable(values) and not is_table and not isinstance(values, _NOT_LISTS):
        return values
    raise BiLmError(f"{place}: expected {expected}, got {_describe(values)}")


def _is_iterable(values: Any) -> bool:
    """Returns whether `values` have elements that can be read one by one."""
    # An array of no dimensions has the methods of a list, but no elements.
    return isinstance(values, Iterable) and getattr(values, "ndim", 1) != 0


def _describe(values: Any) -> str:
    """Describes a value that is not like a list. For a text or a missing value, adds advice."""
    text = getattr(values, "text", values)  # the tokens and documents of spaCy have a `text`
    if isinstance(text, str):
        advice = "put the words of a sentence in a list"
        if " " in text:
            advice = "split it"
        return f"{values!r:.60}: {advice}, or use BiLm.encode"
    if is_missing(values):
        return (
            f"{values!r:.60}, a missing value: leave those out, as column.dropna() of pandas does"
        )
    if _is_iterable(values):
        return type(values).__name__  # says more than the content of a table or a set
    return f"{values!r:.60}"


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
    listed = listed_items(sentences, "sentences", "a list of lists of words")
    return [as_words(sentence, f"sentences[{number}]") for number, sentence in enumerate(listed)]
