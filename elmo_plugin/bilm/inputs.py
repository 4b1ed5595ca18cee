"""Checks the arguments and the words that users give a `BiLm`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import wraps
from inspect import signature
from itertools import repeat
from typing import Any, TypeVar, cast

import torch

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.meanings import meant_name

_EXAMPLES = {"source": '"base"', "texts": '"The play ended."', "sentences": '[["The", "play"]]'}
_NOT_LISTS = (str, bytes, bytearray, Mapping, AbstractSet)
Function = TypeVar("Function", bound=Callable[..., Any])


def explained(method: Function) -> Function:
    """Decorates a method: a `TypeError` for its arguments says which ones are meant."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TypeError:
            if not (mistake := _mistake(method, args, kwargs)):
                raise
        raise TypeError(f"{method.__name__}: {mistake}")

    return cast(Function, call)


def untraced(method: Function) -> Function:
    """
    Decorates a method that `torch.compile` has to call as it is, because packing and hash tables cannot be
    traced. `torch.jit.trace` would record the sentences of its example, and gets a `BiLmError`.
    """

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.jit.is_tracing():
            raise BiLmError("torch.jit.trace cannot record a biLM, because its steps depend on the sentences")
        if torch.compiler.is_compiling():
            return torch.compiler.disable(method)(*args, **kwargs)
        return method(*args, **kwargs)

    return cast(Function, call)


def _mistake(method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Returns the mistake in the arguments of a call, or an empty string."""
    try:
        signature(method).bind(*args, **kwargs)
        return ""
    except TypeError as error:
        reason = str(error)
    names = [name for name in signature(method).parameters if name not in ("self", "cls")]
    unknown = next((name for name in kwargs if name not in names), "")
    if unknown and (meant := meant_name(unknown, names, "arguments", lambda target: _fits(target, names))):
        is_advice = meant.endswith(".")
        return f"unknown argument {unknown!r}; {meant[:-1] if is_advice else f'did you mean {meant}?'}"
    if reason.startswith("missing") and not unknown:
        name = reason.split("'")[1]
        return f"expected {name}, such as {_EXAMPLES[name]}" if name in _EXAMPLES else f"expected {name}"
    return f"{f'unknown argument {unknown!r}' if unknown else reason}; the arguments are {', '.join(names)}"


def _fits(target: str, names: Collection[str]) -> bool:
    """Returns whether a method has the argument of a target, if that is one."""
    name = target.replace(",", "=").partition("=")[0]
    return name in names or not name.isidentifier()


def as_words(sentence: Any, place: str = "sentence", expected: str = "a list of words") -> list[str]:
    """
    Returns the words of a sentence: strings, or tokens with a `text` as in documents of spaCy. Raises
    `BiLmError`, beginning with `place`, for anything else.
    """
    words = list(in_order(sentence, place, expected))
    if not all(map(isinstance, words, repeat(str))):
        words = [getattr(word, "text", word) for word in words]
        for number, word in enumerate(words):
            if not isinstance(word, str):
                raise BiLmError(f"{place}[{number}]: expected a word, got {word!r:.60}")
    return words


def in_order(values: Any, place: str, expected: str) -> Iterable[Any]:
    """Returns `values`, one by one. Raises `BiLmError` for a text, a table, or what has no order."""
    is_iterable = isinstance(values, Iterable) and getattr(values, "ndim", 1) != 0
    if is_iterable and not isinstance(values, _NOT_LISTS) and not hasattr(values, "columns"):
        return values
    text, hint = getattr(values, "text", values), ""
    if isinstance(text, str):
        hint = "split it" if " " in text else "put the words of a sentence in a list"
        hint = f": {hint}, or use BiLm.encode"
    is_shown = hint or not is_iterable
    got = f"{values!r:.60}" if is_shown else type(values).__name__
    raise BiLmError(f"{place}: expected {expected}, got {got}{hint}")


def as_sentences(sentences: Any) -> list[list[str]]:
    """Returns the words of each sentence."""
    listed = in_order(sentences, "sentences", "a list of lists of words")
    return [as_words(sentence, f"sentences[{number}]") for number, sentence in enumerate(listed)]
