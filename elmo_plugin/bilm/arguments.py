"""Explains wrong arguments of `BiLm`'s methods, by the names that other libraries have."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from elmo_plugin.common.meanings import meant_name

_EXAMPLES = {"source": '"base"', "texts": '"The play ended."', "sentences": '[["The", "play"]]'}
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
