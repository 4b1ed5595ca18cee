"""A mistake in a configuration is one sentence that begins with its key, such as `model.encoder.hidden_size`.

AllenNLP makes objects from a configuration by `FromParams.from_params`, and their arguments by
`construct_arg`. What either raises gets the names of the arguments on its way out, up to the first object
that knows its own place in the configuration.
"""

import collections.abc
import re
import types
import typing
from textwrap import shorten
from typing import Any, get_args, get_origin

import torch
from allennlp.common import Lazy, Params, from_params
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import FromParams
from allennlp.common.util import SigTermReceived
from allennlp.data import DatasetReader

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.hardening.console import VARIABLE

CONSTRUCT_ARG = from_params.construct_arg
POP_INT = Params.pop_int
FROM_PARAMS = FromParams.__dict__["from_params"].__func__

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_LISTS = (list, tuple, set, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)
_NOT_MISTAKES = (OSError, MemoryError, SigTermReceived, torch.cuda.OutOfMemoryError)
_NO_OPTION = re.compile(r".*got an unexpected keyword argument '(.*)'")
_LONGEST = 300


class MistakeError(ConfigurationError):
    """
    A mistake in a configuration.

    # Parameters

    reason : `str`
        What is wrong.
    path : `str`
        The keys that lead to it, with dots between them.
    is_whole : `bool`
        Whether the path begins at the top of the file.
    """

    def __init__(self, reason: str, path: str = "", is_whole: bool = False) -> None:
        is_named = not path or reason.startswith(path) or f'"{path}."' in reason
        super().__init__(reason if is_named else f"{path}: {reason}")
        self.reason, self.path, self.is_whole = reason, path, is_whole

    def __reduce__(self) -> tuple[Any, ...]:
        return MistakeError, (self.reason, self.path, self.is_whole)


def make_from_params(
    cls: type[Any],
    params: Params,
    constructor_to_call: Any = None,
    constructor_to_inspect: Any = None,
    **extras: Any,
) -> Any:
    """Raises `MistakeError` where an object cannot be made, whatever the reason."""
    path = getattr(params, "history", "").rstrip(".")
    try:
        _check_object(params)
        return FROM_PARAMS(cls, params, constructor_to_call, constructor_to_inspect, **extras)
    except MistakeError as error:
        if error.is_whole or not path:
            raise
        whole = f"{path}.{error.path}" if error.path else path
        raise MistakeError(error.reason, whole, is_whole=True) from error.__cause__
    except _NOT_MISTAKES:
        raise
    except Exception as error:
        if _is_of_reading(error):
            raise
        raise MistakeError(_reason(error, cls.__name__), path, is_whole=bool(path)) from error


def construct_arg(
    class_name: str, argument_name: str, popped_params: Any, annotation: Any, default: Any, **extras: Any
) -> Any:
    """Raises `MistakeError` where an argument has another type, or cannot be made."""
    expected = annotation
    if isinstance(annotation, types.UnionType) and popped_params is not default:
        kinds = [each for each in get_args(annotation) if each is not types.NoneType]
        expected = kinds[0] if len(kinds) == 1 and kinds[0] in _KINDS else annotation
    try:
        if get_origin(expected) is Lazy and popped_params is not default:
            _check_object(popped_params)
            if isinstance(popped_params, str):  # made later, when its place is no longer known
                popped_params = Params({"type": popped_params}, history=f"{argument_name}.")
        if get_origin(expected) in _LISTS and isinstance(popped_params, str) and get_args(expected) != (str,):
            raise MistakeError(f"expected a list, not {popped_params!r}")  # and not each of its characters
        return CONSTRUCT_ARG(class_name, argument_name, popped_params, expected, default, **extras)
    except MistakeError as error:
        raise _below(argument_name, error) from error.__cause__
    except _NOT_MISTAKES:
        raise
    except Exception as error:
        attempts = _attempts(error) if get_origin(expected) is typing.Union else []
        deepest = max(attempts, key=lambda each: len(each.path), default=None)
        if deepest is not None and deepest.path != argument_name:
            raise _below(argument_name, deepest) from error
        kind = _kind(expected)
        if kind is not None and (attempts or _is_of_another_kind(popped_params, expected)):
            reason = f"expected {kind}, not {_shown(popped_params)}"
        else:
            reason = _reason(error, class_name)
        raise MistakeError(reason, argument_name) from error


def pop_int(self: Params, key: str, *default: Any) -> int | None:
    """Raises `MistakeError` where the value of a key, such as `random_seed`, is not a whole number."""
    value = self.get(key)
    try:
        return POP_INT(self, key, *default)
    except (TypeError, ValueError) as error:
        raise MistakeError(f"expected a whole number, not {_shown(value)}", f"{self.history}{key}") from error


def _check_object(params: Any) -> None:
    if params is not None and not isinstance(params, Params | str):
        raise MistakeError(f"expected an object or the name of a type, not {_shown(params)}")
    name = params.get("type", "") if isinstance(params, Params) else ""
    if not isinstance(name, str):
        raise MistakeError(f"expected text, not {_shown(name)}", "type")


def _is_of_reading(error: BaseException) -> bool:
    """
    Returns whether a dataset reader raised the error while it read its data; such an error names the file.
    """
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if isinstance(frame.f_locals.get("self"), DatasetReader) and frame.f_code.co_name != "__init__":
            return True
        traceback = traceback.tb_next
    return False


def _below(argument_name: str, error: MistakeError) -> MistakeError:
    """Returns the mistake with the name of the argument that it is in."""
    is_there = error.is_whole or f"{error.path}.".startswith(f"{argument_name}.")  # as of `embedders.elmo`
    path = error.path if is_there else f"{argument_name}.{error.path}".rstrip(".")
    return MistakeError(error.reason, path, error.is_whole)


def _attempts(error: BaseException) -> list[MistakeError]:
    """Returns what AllenNLP has tried for each type of a union, which are the error's causes."""
    found = []
    cause = error.__cause__
    while isinstance(cause, MistakeError):
        found.append(cause)
        cause = cause.__cause__
    return found


def _kind(annotation: Any) -> str | None:
    """Returns a description of the values of a type, or `None` for types without one."""
    origin = get_origin(annotation)
    if origin is typing.Union:
        kinds = [_kind(each) for each in get_args(annotation) if each is not types.NoneType]
        return " or ".join(kind for kind in kinds if kind) if all(kinds) else None
    if origin in (*_LISTS, *_OBJECTS):
        return "an object" if origin in _OBJECTS else "a list"
    return "an object" if hasattr(annotation, "from_params") else _KINDS.get(annotation)


def _is_of_another_kind(value: Any, annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in _LISTS:
        return not isinstance(value, list | tuple | set)
    if origin in _OBJECTS:
        return not isinstance(value, collections.abc.Mapping)
    return annotation in _KINDS


def _reason(error: Exception, name: str) -> str:
    """Returns the message of an error in one line; that of a library is shortened."""
    message = " ".join(str(error).split())
    if isinstance(error, ConfigurationError | BiLmError):
        return message
    unknown = _NO_OPTION.match(message) if isinstance(error, TypeError) else None
    if unknown is not None:
        return f"{name} has no option {unknown[1]!r}"
    return f"cannot be made ({type(error).__name__}: {shorten(message, _LONGEST)}; {VARIABLE}=1 shows where)"


def _shown(value: Any) -> str:
    return shorten(repr(_plain(value)), _LONGEST)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.as_dict(quiet=True) if isinstance(value, Params) else value


FromParams.from_params = classmethod(make_from_params)  # type: ignore[assignment]
Params.pop_int = pop_int  # type: ignore[assignment]
from_params.construct_arg = construct_arg
