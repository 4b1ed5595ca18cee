"""Compares a configuration with the registered classes, without making any of them: all mistakes at once."""

import inspect
import json
import types
import typing
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from inspect import Parameter
from typing import Any, NamedTuple, get_args, get_origin

from allennlp.common import FromParams, Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import infer_constructor_params, infer_method_params

from elmo_plugin.porting.names import GONE_TYPES, MODELS
from elmo_plugin.porting.rules import first_old_key
from elmo_plugin.porting.source import is_variable

_FROM_PARAMS = FromParams.from_params.__func__  # type: ignore[attr-defined]
_NUMBERS = (int, float, bool)
_NO_NUMBER = "expected a number, found text: use std.parseJson(std.extVar(…))"
NO_SPACY_MODEL = 'is not installed: the tokenizer "spacy_rules" of elmo_plugin.plugin needs no download'
_MISSING, _OLD = "is required", "this is of AllenNLP 0.9 or 1.x, so convert the file: elmo port"
# Arguments that AllenNLP passes, not a configuration.
_PASSED = {
    "vocab", "serialization_dir", "local_rank", "reader", "data_path", "model_parameters", "optimizer",
    "parameters", "model", "data_loader", "instances", "trainer",
}  # fmt: skip
_CLOSED = {"DatasetReader", "Model", "Trainer"}  # take no other keywords, whatever their subclasses pass on


class Mistake(NamedTuple):
    """
    keys: that lead to it
    reason: what is wrong
    number: for text, or a variable, where a number is expected: the number, or `None` for a variable
    """

    keys: tuple[str | int, ...]
    reason: str
    number: Any = ...

    @property
    def place(self) -> str:
        return ".".join(map(str, self.keys))

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def mistakes(config: Mapping[str, Any]) -> list[Mistake]:
    """Returns all mistakes in a configuration for `allennlp train` that its registered classes reveal."""
    from allennlp.commands.train import TrainModel

    top = ("random_seed", "numpy_seed", "pytorch_seed", "distributed", "evaluation")
    return list(_check_object(TrainModel, {key: config[key] for key in config if key not in top}, ()))


def refuse_old(config: Mapping[str, Any]) -> tuple[str, str] | None:
    """
    Returns the place and the reason if AllenNLP 2.10.1 cannot train a configuration because it is older, if
    its trainer would ignore a key, or if texts stand for numbers.
    """
    found = mistakes(config)
    if found and (note := first_old_key(config)):
        return note.place, f"{note.text}; {_OLD}"
    if gone := [mistake for mistake in found if "was removed" in mistake.reason]:
        return gone[0].place, f"{gone[0].reason}; {_OLD}"
    texts = [mistake for mistake in found if mistake.number is not ...]
    ignored = [mistake for mistake in found if mistake.keys[0] == "trainer" and len(mistake.keys) == 2]
    wrong = texts or ignored
    return (", ".join(mistake.place for mistake in wrong), wrong[0].reason) if wrong else None


def options_of(cls: Any, kind: str | None) -> dict[str, Parameter]:
    """Returns the options of a registered class."""
    constructor = None
    if cls in Registrable._registry and (kind or cls.default_implementation):
        cls, name = cls.resolve_class_name(kind or cls.default_implementation)
        constructor = getattr(cls, name) if name else None
    options = infer_method_params(cls, constructor) if constructor else infer_constructor_params(cls)
    return {name: option for name, option in options.items() if name != "self"}


def _check(annotation: Any, value: Any, keys: tuple[str | int, ...]) -> Iterator[Mistake]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if value is None:
        return
    if origin is Lazy:  # below the top, code passes more arguments than are known here
        for mistake in _check(arguments[0], value, keys):
            if len(keys) == 1 or mistake.reason != _MISSING or len(mistake.keys) > len(keys) + 1:
                yield mistake
    elif origin in (typing.Union, types.UnionType):
        attempts = [list(_check(kind, value, keys)) for kind in arguments if kind is not types.NoneType]
        texts = [found for found in attempts if found and found[0].number is not ... and str not in arguments]
        yield from min(texts or attempts, key=len)
    elif annotation in _NUMBERS and isinstance(value, str):
        number = _number(value)
        expected = "true or false" if annotation is bool else "a number"
        yield Mistake(
            keys, _NO_NUMBER if number is not ... else f"expected {expected}, found {value!r}", number
        )
    elif origin in (list, tuple, set):
        for number, item in enumerate(value if isinstance(value, list) else ()):
            yield from _check(arguments[0] if arguments else Any, item, (*keys, number))
    elif origin in (dict, Mapping):
        for name, item in value.items() if isinstance(value, Mapping) else ():
            yield from _check(arguments[1], item, (*keys, name))
    elif inspect.isclass(annotation) and issubclass(annotation, FromParams):
        yield from _check_object(annotation, value, keys)


def _number(text: str) -> Any:
    """Returns the number, the truth value, `None` for a variable, or `...` for other text."""
    if is_variable(text):
        return None
    try:
        value = json.loads(text.lower())
    except (ValueError, RecursionError):
        return ...
    return value if isinstance(value, _NUMBERS) else ...


def _check_object(cls: Any, value: Any, keys: tuple[str | int, ...]) -> Iterator[Mistake]:
    value = {"type": value} if isinstance(value, str) else value
    if not isinstance(value, Mapping):
        yield Mistake(keys, "expected an object")
        return
    own, is_base = cls.from_params.__func__, cls in Registrable._registry
    if own.__module__.startswith("allennlp.") and own is not _FROM_PARAMS and not is_base:
        return  # it reads its parameters itself
    kind = value.get("type", getattr(cls, "default_implementation", None))
    if is_base and kind is None:
        yield Mistake(keys, 'key "type" is required')
        return
    try:
        options = options_of(cls, kind)
    except ConfigurationError:
        yield Mistake((*keys, "type"), _unregistered(str(kind)))
        return
    takes_all = any(option.kind is Parameter.VAR_KEYWORD for option in options.values())
    is_open = takes_all and _CLOSED.isdisjoint(base.__name__ for base in cls.__mro__)
    for name, item in value.items():
        if name in options:
            yield from _check(options[name].annotation, item, (*keys, name))
        elif name != "type" and not is_open:
            reason = f"{kind or cls.__name__} does not take this key" if keys else "unknown key"
            yield Mistake((*keys, name), reason)
    for name, option in options.items():
        is_plain = option.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        is_passed = name in _PASSED and (keys or name not in ("data_loader", "model", "trainer"))
        if is_plain and option.default is Parameter.empty and name not in value and not is_passed:
            yield Mistake((*keys, name), _MISSING)


def _unregistered(kind: str) -> str:
    if kind in GONE_TYPES:
        return f"{kind!r} was removed: {GONE_TYPES[kind]}"
    if find_spec("allennlp_models"):
        return f"{kind!r} is not registered: list its package in .allennlp_plugins"
    return f"{kind!r} is not registered: list its package in .allennlp_plugins, or install {MODELS}"
