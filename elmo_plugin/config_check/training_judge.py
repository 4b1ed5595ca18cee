"""
The judge of a configuration for `allennlp train`: each value must be one that the constructor of
the registered class takes.
"""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from allennlp.common import FromParams, Registrable
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.common.errors import did_you_mean
from elmo_plugin.common.nested_values import Keys, values_in
from elmo_plugin.config_check.classes import (
    GONE_TYPES,
    PASSED_BY_ALLENNLP,
    VARIABLE,
    Constructor,
    explain_unregistered,
    find_constructor,
    may_read_other_keys,
)
from elmo_plugin.config_check.walk import Annotation, Judge, Value

MISSING = "is required"
NO_SPACY_MODEL = (
    'is not installed: the tokenizer "spacy_rules" of elmo_plugin.plugin needs no download'
)
# Keys that `allennlp train` reads itself. It makes `TrainModel` of all other keys.
KEYS_OF_THE_COMMAND = {
    "random_seed",
    "numpy_seed",
    "pytorch_seed",
    "distributed",
    "evaluation",
    "include_in_archive",
}
# The arguments in `PASSED_BY_ALLENNLP` that a training's configuration must have at its top level:
# AllenNLP passes them to other constructors, but not to `TrainModel`.
_PARTS_OF_A_TRAINING = {"data_loader", "model", "trainer"}
_DECIDED_BY_SAMPLER = ("batch_size", "shuffle", "drop_last")
_COUNTS = {"num_epochs", "batch_size"}
_LIST_TYPES = (list, tuple, set, Sequence)
# In these packages, the subclasses of these base classes pass all their `**kwargs` on to the base
# class, and its constructor refuses unknown keys. A user's class may use some `**kwargs` itself.
_KNOWN_PACKAGES = {"allennlp", "allennlp_models", "elmo_plugin"}
_BASES_THAT_REFUSE_UNKNOWN_KEYS = {"DatasetReader", "Model", "Trainer"}


class PlainType(NamedTuple):
    """
    A type of Python that JSON has too.

    description: follows "expected"
    accepted: the types of values that AllenNLP takes for it, such as 0 and 1 for a truth value
    """

    description: str
    accepted: tuple[type, ...]


_PLAIN_TYPES: dict[Annotation, PlainType] = {
    bool: PlainType("true or false", (int,)),
    int: PlainType("a whole number", (int,)),
    float: PlainType("a number", (int, float)),
    str: PlainType("text", (str, Path)),
}


class NumberInText(NamedTuple):
    """
    A number, or a truth value, that is written as text.

    value: `None` for a variable, because its value is given only when the training starts
    """

    value: int | float | bool | None


class Mistake(NamedTuple):
    """A value of a configuration that cannot be right, and why."""

    keys: Keys
    reason: str
    number: NumberInText | None = None  # the number, if the value is a number written as text

    @property
    def place(self) -> str:
        """The keys with dots between them, as `--overrides` takes them."""
        return ".".join(str(key) for key in self.keys)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def mistakes(config: Mapping[str, Any]) -> list[Mistake]:
    """
    Returns all mistakes in a configuration for `allennlp train` that its registered classes reveal.
    """
    from allennlp.commands.train import TrainModel

    arguments = {key: value for key, value in config.items() if key not in KEYS_OF_THE_COMMAND}
    found = list(_TrainingJudge().judge_object(TrainModel, arguments, keys=()))
    found += _options_beside_a_sampler(config)
    for mistake in _gone_types(config):
        if mistake not in found:
            found.append(mistake)
    return found


def raise_for_mistakes(found: Iterable[Mistake], where: str = "") -> None:
    """
    Raises `ConfigurationError` with all mistakes, except for missing arguments: the code that calls
    the constructor may pass them. The message begins with `where`.
    """
    wrong = [str(mistake) for mistake in found if mistake.reason != MISSING]
    if wrong:
        raise ConfigurationError(where + "; ".join(wrong))


def _options_beside_a_sampler(config: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yields the options of data loaders that AllenNLP does not allow beside a batch sampler."""
    for name in ("data_loader", "validation_data_loader"):
        loader = config.get(name)
        if isinstance(loader, Mapping) and loader.get("batch_sampler") is not None:
            for key in _DECIDED_BY_SAMPLER:
                if loader.get(key):
                    reason = f"the batch sampler decides it, as in {name}.batch_sampler.batch_size"
                    yield Mistake((name, key), reason)


def _gone_types(config: Mapping[str, Any]) -> Iterator[Mistake]:
    """
    Yields the types that AllenNLP 2 no longer has, at any depth. `_TrainingJudge` does not find all
    of them, because it cannot look into an object whose own type is not registered.
    """
    for keys, value in values_in(config):
        is_type = keys[-1:] == ("type",) and isinstance(value, str)
        if is_type and value in GONE_TYPES and not _is_any_type(value):
            yield Mistake(keys, f"{value!r} was removed: {GONE_TYPES[value]}")


def _is_any_type(name: str) -> bool:
    """Returns whether anything is registered under this name."""
    return any(name in types for types in Registrable._registry.values())


class _TrainingJudge(Judge[Mistake]):
    """Finds mistakes in a configuration that is about to be trained."""

    @overrides
    def judge_lazy(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Mistake]:
        """
        Yields the mistakes in a lazy object. Below the top level, an argument may be missing: the
        code that constructs the object may pass it. The type may not be missing. At the top level,
        no argument may be missing, because `PASSED_BY_ALLENNLP` lists what `TrainModel` passes.
        """
        is_top_level = len(keys) == 1
        for mistake in self.judge(annotation, value, keys):
            is_of_this_object = len(mistake.keys) == len(keys) + 1
            is_argument = is_of_this_object and mistake.keys[-1] != "type"
            is_missing_argument = is_argument and mistake.reason == MISSING
            if is_top_level or not is_missing_argument:
                yield mistake

    @overrides
    def judge_union(self, kinds: list[Annotation], value: Value, keys: Keys) -> Iterator[Mistake]:
        """
        Yields the mistakes under the type that was probably meant: the type with the fewest
        mistakes. If several types have equally few, it is the one whose mistakes are deepest in the
        configuration.
        """
        mistakes_of_types = [list(self.judge(kind, value, keys)) for kind in kinds]
        if str not in kinds:
            # A text such as "3" was meant as a number, so the message should be about a number,
            # even if another type, such as `torch.device`, may be made of any text.
            mistakes_of_numbers = [
                found for found in mistakes_of_types if _is_number_in_text(found)
            ]
            if mistakes_of_numbers:
                mistakes_of_types = mistakes_of_numbers
        yield from min(mistakes_of_types, key=_implausibility)

    @overrides
    def judge_object(self, cls: Any, value: Value, keys: Keys) -> Iterator[Mistake]:
        if not issubclass(cls, FromParams):
            return  # a class of another kind may read anything
        if not isinstance(value, Mapping):
            reason = f"expected an object or the name of a type, found {value!r:.80}"
            yield Mistake(keys, reason)
            return
        kind = value.get("type", getattr(cls, "default_implementation", None))
        wrong_type = _wrong_type(cls, kind)
        if wrong_type is not None:
            yield Mistake((*keys, "type"), wrong_type)
            return
        constructor = find_constructor(cls, kind)
        if constructor is None or may_read_other_keys(constructor.cls):
            return  # nobody knows here which keys it reads
        is_top_level = not keys
        message_of_unknown_key = "unknown key"
        if not is_top_level:
            message_of_unknown_key = f"unknown key of {kind or cls.__name__}"
        yield from self._judge_options(constructor, message_of_unknown_key, value, keys)

    def _judge_options(
        self,
        constructor: Constructor,
        message_of_unknown_key: str,
        value: Mapping[str, Value],
        keys: Keys,
    ) -> Iterator[Mistake]:
        """
        Yields the mistakes in the values of an object's options, then a mistake for each unknown
        key and for each missing option.
        """
        options = constructor.options()
        takes_other_keys = _takes_other_keys(constructor.cls, options)
        for name, item in value.items():
            if name in options:
                yield from self.judge(options[name].annotation, item, (*keys, name))
            elif name != "type" and not takes_other_keys:
                nearest = did_you_mean(name, options)
                yield Mistake((*keys, name), f"{message_of_unknown_key}{nearest}")
        yield from _missing(options, value, keys)

    @overrides
    def judge_plain(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Mistake]:
        if inspect.isclass(annotation) and annotation in _PLAIN_TYPES:
            plain = _PLAIN_TYPES[annotation]
            if not isinstance(value, plain.accepted):
                yield _not_of_type(plain, value, keys)
            elif isinstance(value, int | float):
                yield from _out_of_range(value, keys)
        elif get_origin(annotation) in _LIST_TYPES and not isinstance(value, list | tuple | set):
            yield Mistake(keys, f"expected a list, found {value!r:.80}")


def _is_number_in_text(found: list[Mistake]) -> bool:
    """Returns whether the first mistake, if there is any, is that a number is written as text."""
    return len(found) > 0 and found[0].number is not None


def _implausibility(found: list[Mistake]) -> tuple[int, list[int]]:
    """Returns the key that sorts lists of mistakes: short lists first, then deep mistakes."""
    return len(found), [-len(mistake.keys) for mistake in found]


def _wrong_type(cls: Any, kind: Value) -> str | None:
    """
    Says what is wrong with the type that a configuration names for an object of `cls`. Returns
    `None` if nothing is wrong, or if `cls` needs no type because none are registered for it.
    """
    if cls not in Registrable._registry:
        return None
    if kind is None:
        return MISSING
    if not isinstance(kind, str):
        return f"expected text, found {kind!r:.80}"
    if kind in Registrable._registry[cls]:
        return None
    if "." in kind:
        return None  # the full name of a class: AllenNLP imports it
    if VARIABLE.search(kind):
        return None  # the value of the variable is not known yet
    return explain_unregistered(kind, cls)


def _takes_other_keys(cls: Any, options: Mapping[str, Parameter]) -> bool:
    """Returns whether a class may take keys that are not among its options, by `**kwargs`."""
    has_kwargs = any(option.kind is Parameter.VAR_KEYWORD for option in options.values())
    if not has_kwargs:
        return False
    package, _, _ = cls.__module__.partition(".")
    if package not in _KNOWN_PACKAGES:
        return True  # a class of the user's may read anything from `**kwargs`
    bases = {base.__name__ for base in cls.__mro__}
    return bases.isdisjoint(_BASES_THAT_REFUSE_UNKNOWN_KEYS)


def _missing(
    options: Mapping[str, Parameter], value: Mapping[str, Value], keys: Keys
) -> Iterator[Mistake]:
    """Yields the required options that an object does not have."""
    for name, option in options.items():
        if name not in value and _is_required(option, is_top_level=not keys):
            yield Mistake((*keys, name), MISSING)


def _is_required(option: Parameter, is_top_level: bool) -> bool:
    """Returns whether a configuration must have a value for an option."""
    if option.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
        return False  # `*args` and `**kwargs` may stay empty
    # AllenNLP passes the data loader, for example, to the trainer, but takes it from the top level
    # of the configuration, so it must be given there.
    is_given_here = is_top_level and option.name in _PARTS_OF_A_TRAINING
    if option.name in PASSED_BY_ALLENNLP and not is_given_here:
        return False
    return option.default is Parameter.empty


def _not_of_type(plain: PlainType, value: Value, keys: Keys) -> Mistake:
    """
    Returns the mistake of a value that is not of the type of its option. If the value is a number
    in quotation marks, the message says how to write it.
    """
    number = None
    if isinstance(value, str):
        number = number_in(value)
    if number is None:
        found = f"{value!r:.80}"
    else:
        found = "text: unquote it, or std.parseJson(std.extVar(…))"
    return Mistake(keys, f"expected {plain.description}, found {found}", number)


def _out_of_range(value: float, keys: Keys) -> Iterator[Mistake]:
    """Yields a mistake if a number is not in the range that the name of its option implies."""
    name = str(keys[-1])
    if name in _COUNTS and value < 1:
        yield Mistake(keys, f"expected at least 1, found {value}")
    elif name.endswith("dropout") and not 0 <= value <= 1:
        yield Mistake(keys, f"expected a rate from 0 to 1, found {value}")


def number_in(text: str) -> NumberInText | None:
    """
    Returns the number or truth value that a text stands for, or `None` if it is other text. An
    external variable counts as a number, because it may be one.
    """
    if VARIABLE.fullmatch(text):
        return NumberInText(value=None)
    try:
        value = json.loads(text.lower())  # in lower case, because Python's "True" counts too
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, int | float):
        return None
    return NumberInText(value)
