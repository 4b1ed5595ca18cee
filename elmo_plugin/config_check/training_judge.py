"""The judge of a configuration for `allennlp train`: its classes must take all values."""

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
from elmo_plugin.config_check.classes import (
    GONE_TYPES,
    PASSED,
    VARIABLE,
    Constructor,
    explain_unregistered,
    find_constructor,
    reads_its_parameters,
)
from elmo_plugin.config_check.walk import Annotation, Judge, Keys, Value

MISSING = "is required"
NO_SPACY_MODEL = (
    'is not installed: the tokenizer "spacy_rules" of elmo_plugin.plugin needs no download'
)
# What `allennlp train` takes from a configuration before `TrainModel` is made of the rest.
_TAKEN_BEFORE = {
    "random_seed",
    "numpy_seed",
    "pytorch_seed",
    "distributed",
    "evaluation",
    "include_in_archive",
}
# Arguments of `TrainModel` that are passed to other constructors, but not to its own.
_PARTS_OF_A_TRAINING = {"data_loader", "model", "trainer"}
_DECIDED_BY_SAMPLER = ("batch_size", "shuffle", "drop_last")
_COUNTS = {"num_epochs", "batch_size"}
_LIST_TYPES = (list, tuple, set, Sequence)
# Classes of these bases in these packages pass `**kwargs` on to a base that takes no other keys. A
# user's class may take some out before.
_BASES_THAT_TAKE_NO_OTHERS = {"DatasetReader", "Model", "Trainer"}
_KNOWN_PACKAGES = {"allennlp", "allennlp_models", "elmo_plugin"}


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
    """A number, or a truth value, that is written as text."""

    value: int | float | bool | None  # `None` for a variable


class Mistake(NamedTuple):
    """A value of a configuration that cannot be right, and why."""

    keys: Keys
    reason: str
    number: NumberInText | None = None  # the number that the text there stands for, if it does

    @property
    def place(self) -> str:
        """The keys, as overrides on the command line have them."""
        return ".".join(str(key) for key in self.keys)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def mistakes(config: Mapping[str, Any]) -> list[Mistake]:
    """
    Returns all mistakes in a configuration for `allennlp train` that its registered classes reveal.
    """
    from allennlp.commands.train import TrainModel

    arguments = {key: value for key, value in config.items() if key not in _TAKEN_BEFORE}
    found = list(_TrainingJudge().judge_object(TrainModel, arguments, keys=()))
    found += _options_beside_a_sampler(config)
    for mistake in _gone_types(config, keys=()):
        if mistake not in found:
            found.append(mistake)
    return found


def raise_for_mistakes(found: Iterable[Mistake], where: str = "") -> None:
    """
    Raises `ConfigurationError` for mistakes, except for what is missing: code may pass it. The
    message begins with `where`.
    """
    wrong = [str(mistake) for mistake in found if mistake.reason != MISSING]
    if wrong:
        raise ConfigurationError(where + "; ".join(wrong))


def _options_beside_a_sampler(config: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yields the options of data loaders that have no effect, because the batch sampler decides."""
    for name in ("data_loader", "validation_data_loader"):
        loader = config.get(name)
        if isinstance(loader, Mapping) and loader.get("batch_sampler") is not None:
            for key in _DECIDED_BY_SAMPLER:
                if loader.get(key):
                    reason = f"the batch sampler decides it, as in {name}.batch_sampler.batch_size"
                    yield Mistake((name, key), reason)


def _gone_types(config: Value, keys: Keys) -> Iterator[Mistake]:
    """
    Yields the types that AllenNLP 2 no longer has. The walk misses them within a type that is not
    registered.
    """
    items: Iterable[tuple[str | int, Value]] = enumerate(config)
    if isinstance(config, Mapping):
        items = config.items()
    for key, value in items:
        if isinstance(value, Mapping | list):
            yield from _gone_types(value, (*keys, key))
        elif key == "type" and value in GONE_TYPES and not _is_any_type(value):
            yield Mistake((*keys, key), f"{value!r} was removed: {GONE_TYPES[value]}")


def _is_any_type(name: str) -> bool:
    """Returns whether anything is registered under this name."""
    return any(name in types for types in Registrable._registry.values())


class _TrainingJudge(Judge[Mistake]):
    """Finds mistakes in a configuration that is about to be trained."""

    @overrides
    def judge_lazy(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Mistake]:
        """
        Yields the mistakes in a lazy object. Below the top level, its own missing arguments do not
        count: code passes it more arguments than are known here.
        """
        is_top_level = len(keys) == 1
        for mistake in self.judge(annotation, value, keys):
            is_own_argument = len(mistake.keys) == len(keys) + 1
            may_be_passed = is_own_argument and not is_top_level
            if mistake.reason != MISSING or not may_be_passed:
                yield mistake

    @overrides
    def judge_union(self, kinds: list[Annotation], value: Value, keys: Keys) -> Iterator[Mistake]:
        """
        Yields the mistakes under the type that was probably meant: the one with the fewest
        mistakes, and of these the one with the deepest.
        """
        attempts = [list(self.judge(kind, value, keys)) for kind in kinds]
        if str not in kinds:
            # If no text is expected, a text such as "3" was meant as a number: the message says so.
            as_number = [found for found in attempts if found and found[0].number is not None]
            if as_number:
                attempts = as_number
        yield from min(attempts, key=_implausibility)

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
        if constructor is None or reads_its_parameters(constructor.cls):
            return  # its options are not known here
        owner = ""
        if keys:  # below the top level
            owner = f" of {kind or cls.__name__}"
        yield from self._judge_options(constructor, owner, value, keys)

    def _judge_options(
        self, constructor: Constructor, owner: str, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Mistake]:
        """
        Yields the mistakes in the options of an object, and the unknown and the missing ones.
        `owner`, such as " of lstm", follows "unknown key".
        """
        options = constructor.options()
        takes_others = _takes_other_keys(constructor.cls, options)
        for name, item in value.items():
            if name in options:
                yield from self.judge(options[name].annotation, item, (*keys, name))
            elif name != "type" and not takes_others:
                nearest = did_you_mean(name, options)
                yield Mistake((*keys, name), f"unknown key{owner}{nearest}")
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


def _implausibility(found: list[Mistake]) -> tuple[int, list[int]]:
    """Returns the key by which attempts are sorted: fewer mistakes first, then deeper ones."""
    return len(found), [-len(mistake.keys) for mistake in found]


def _wrong_type(cls: Any, kind: Value) -> str | None:
    """Says why the name of a type is wrong; returns `None` if it is right, or not needed."""
    if cls not in Registrable._registry:
        return None
    if kind is None:
        return MISSING
    if not isinstance(kind, str):
        return f"expected text, found {kind!r:.80}"
    if kind in Registrable._registry[cls]:
        return None
    # AllenNLP imports the class that a name with points stands for; the value of a variable comes
    # later.
    if "." in kind or VARIABLE.search(kind):
        return None
    return explain_unregistered(kind, cls)


def _takes_other_keys(cls: Any, options: Mapping[str, Parameter]) -> bool:
    """Returns whether a class may do something with keys that are none of its options."""
    has_kwargs = any(option.kind is Parameter.VAR_KEYWORD for option in options.values())
    if not has_kwargs:
        return False
    package, _, _ = cls.__module__.partition(".")
    if package not in _KNOWN_PACKAGES:
        return True
    bases = {base.__name__ for base in cls.__mro__}
    return bases.isdisjoint(_BASES_THAT_TAKE_NO_OTHERS)


def _missing(
    options: Mapping[str, Parameter], value: Mapping[str, Value], keys: Keys
) -> Iterator[Mistake]:
    """Yields the required options that an object does not have."""
    for name, option in options.items():
        if name not in value and _is_required(option, is_top=not keys):
            yield Mistake((*keys, name), MISSING)


def _is_required(option: Parameter, is_top: bool) -> bool:
    """Returns whether a configuration must have a value for an option."""
    if option.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
        return False  # `*args` and `**kwargs` may stay empty
    is_part_of_training = is_top and option.name in _PARTS_OF_A_TRAINING
    if option.name in PASSED and not is_part_of_training:
        return False  # AllenNLP passes it
    return option.default is Parameter.empty


def _not_of_type(plain: PlainType, value: Value, keys: Keys) -> Mistake:
    """
    Returns the mistake of a value that is of another type than its option. For a number in
    quotation marks, its reason says how to write it.
    """
    number = None
    found = f"{value!r:.80}"
    if isinstance(value, str):
        number = number_in(value)
    if number is not None:
        found = "text: unquote it, or std.parseJson(std.extVar(…))"
    return Mistake(keys, f"expected {plain.description}, found {found}", number)


def _out_of_range(value: float, keys: Keys) -> Iterator[Mistake]:
    """Yields the mistake of a number that its option cannot have, judged by the option's name."""
    name = str(keys[-1])
    if name in _COUNTS and value < 1:
        yield Mistake(keys, f"expected at least 1, found {value}")
    elif name.endswith("dropout") and not 0 <= value <= 1:
        yield Mistake(keys, f"expected a rate from 0 to 1, found {value}")


def number_in(text: str) -> NumberInText | None:
    """Returns the number or truth value that a text stands for, or `None` if it is other text."""
    if VARIABLE.fullmatch(text):
        return NumberInText(value=None)
    try:
        value = json.loads(text.lower())  # in small letters, because Python's "True" counts too
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, int | float):
        return None
    return NumberInText(value)
