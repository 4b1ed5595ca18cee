"""
Compares a configuration with the registered classes, without making any of them: `mistakes` for a
training, `refused` for an archive, which must be data.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from inspect import Parameter
from itertools import chain, repeat
from os import PathLike
from pathlib import Path, PureWindowsPath
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from allennlp.common import FromParams, Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import infer_constructor_params, infer_method_params
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.evaluation import Evaluator
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_plugin.common.errors import did_you_mean

VARIABLE = re.compile(
    "([\ue000\ue001])([^\ue002]*)\ue002"
)  # external, as `elmo port` marks it: text, number
MISSING = "is required"
NO_SPACY_MODEL = (
    'is not installed: the tokenizer "spacy_rules" of elmo_plugin.plugin needs no download'
)
_FROM_PARAMS = FromParams.from_params.__func__  # type: ignore[attr-defined]
_KINDS: dict[Any, tuple[str, Any]] = {
    bool: ("true or false", int),
    int: ("a whole number", int),
    float: ("a number", int | float),
    str: ("text", str | Path),
}
_NUMBERS = (int, float, bool)
_COUNTS = {"num_epochs", "batch_size"}
# Arguments that AllenNLP passes, not a configuration.
PASSED = {
    "vocab",
    "serialization_dir",
    "local_rank",
    "reader",
    "data_path",
    "model_parameters",
    "optimizer",
    "parameters",
    "model",
    "data_loader",
    "instances",
    "trainer",
}
# Take no other keywords, whatever subclasses pass on; those of users may take some out.
_CLOSED, _KNOWN = (
    {"DatasetReader", "Model", "Trainer"},
    {"allennlp", "allennlp_models", "elmo_plugin"},
)

Keys = tuple[str | int, ...]

# Types that AllenNLP 2 lacks, by what to take in their place.
_INSTEAD = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_GONE_TYPES = {name: instead for instead, names in _INSTEAD.items() for name in names}
_MODELS = (
    "allennlp-models: pip install --no-deps allennlp-models==2.10.1; pip install conllu==4.4.2 "
    "word2number py-rouge==1.1 ftfy datasets 'huggingface-hub<1'"
)


class Mistake(NamedTuple):
    """
    keys: that lead to it reason: what is wrong number: for text, or a variable, where a number is
    expected: the number, or `None` for a variable
    """

    keys: Keys
    reason: str
    number: Any = ...

    @property
    def place(self) -> str:
        return ".".join(map(str, self.keys))

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def mistakes(config: Mapping[str, Any]) -> list[Mistake]:
    """
    Returns all mistakes in a configuration for `allennlp train` that its registered classes reveal.
    """
    from allennlp.commands.train import TrainModel

    top = (
        "random_seed",
        "numpy_seed",
        "pytorch_seed",
        "distributed",
        "evaluation",
        "include_in_archive",
    )
    found = list(
        _check_object(TrainModel, {key: config[key] for key in config if key not in top}, ())
    )
    for name in ("data_loader", "validation_data_loader"):
        loader = config.get(name)
        if isinstance(loader, Mapping) and loader.get("batch_sampler") is not None:
            reason = f"the batch sampler decides it, as in {name}.batch_sampler.batch_size"
            wrong = [key for key in ("batch_size", "shuffle", "drop_last") if loader.get(key)]
            found += [Mistake((name, key), reason) for key in wrong]
    return found + [mistake for mistake in _gone(config, ()) if mistake not in found]


def check(found: Iterable[Mistake], where: str = "") -> None:
    """Raises `ConfigurationError` for mistakes, except for what is missing: code may pass it."""
    if wrong := [str(mistake) for mistake in found if mistake.reason != MISSING]:
        raise ConfigurationError(where + "; ".join(wrong))


def _gone(config: Any, keys: Keys) -> Iterator[Mistake]:
    """Yields the types that AllenNLP 2 lacks, also within types that are not registered."""
    for key, value in config.items() if isinstance(config, Mapping) else enumerate(config):
        if isinstance(value, Mapping | list):
            yield from _gone(value, (*keys, key))
        elif key == "type" and value in _GONE_TYPES.keys() - set(
            chain(*Registrable._registry.values())
        ):
            yield Mistake((*keys, key), f"{value!r} was removed: {_GONE_TYPES[value]}")


def options_of(cls: Any, kind: str | None) -> dict[str, Parameter]:
    """Returns the options of a registered class."""
    made, name = _resolve(cls, kind)
    if made is None:
        return {}
    options = (
        infer_method_params(made, getattr(made, name)) if name else infer_constructor_params(made)
    )
    return {name: option for name, option in options.items() if name != "self"}


def _resolve(cls: Any, kind: str | None) -> tuple[Any, str | None]:
    """
    Returns the class that is made, `None` if it is not imported, and its constructor unless
    `__init__`.
    """
    kind = (kind or cls.default_implementation) if cls in Registrable._registry else None
    if kind and "." in kind and kind not in Registrable._registry[cls]:  # a class by its module
        module, _, name = kind.rpartition(".")
        return getattr(sys.modules.get(module), name, None), None  # nothing is imported
    return cls.resolve_class_name(kind) if kind else (cls, None)


def _check(annotation: Any, value: Any, keys: Keys) -> Iterator[Mistake]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if value is None:
        return
    if origin is Lazy:  # below the top, code passes more arguments than are known here
        for mistake in _check(arguments[0], value, keys):
            if len(keys) == 1 or mistake.reason != MISSING or len(mistake.keys) > len(keys) + 1:
                yield mistake
    elif origin in (Union, UnionType):
        attempts = [list(_check(kind, value, keys)) for kind in arguments if kind is not NoneType]
        texts = [
            found
            for found in attempts
            if found and found[0].number is not ... and str not in arguments
        ]
        yield from min(
            texts or attempts, key=lambda found: (len(found), [-len(each.keys) for each in found])
        )
    elif annotation in list(_KINDS):
        kind, accepted = _KINDS[annotation]
        if not isinstance(value, accepted):
            number = _number(value) if isinstance(value, str) else ...
            found = (
                f"{value!r:.80}"
                if number is ...
                else "text: unquote it, or std.parseJson(std.extVar(…))"
            )
            yield Mistake(keys, f"expected {kind}, found {found}", number)
        elif keys[-1] in _COUNTS and value < 1:
            yield Mistake(keys, f"expected at least 1, found {value}")
        elif str(keys[-1]).endswith("dropout") and not 0 <= value <= 1:
            yield Mistake(keys, f"expected a rate from 0 to 1, found {value}")
    elif origin in (list, tuple, set, Sequence):
        if not isinstance(value, list | tuple | set):
            yield Mistake(keys, f"expected a list, found {value!r:.80}")
            return
        is_fixed = origin is tuple and Ellipsis not in arguments
        kinds = arguments if is_fixed else repeat((*arguments, Any)[0])
        for position, (item, kind) in enumerate(zip(value, kinds, strict=False)):
            yield from _check(kind, item, (*keys, position))
    elif origin in (dict, Mapping):
        for name, item in value.items() if isinstance(value, Mapping) else ():
            yield from _check((*arguments, Any, Any)[1], item, (*keys, name))
    elif inspect.isclass(annotation) and issubclass(annotation, FromParams):
        yield from _check_object(annotation, value, keys)


def _number(text: str) -> Any:
    """Returns the number, the truth value, `None` for a variable, or `...` for other text."""
    if VARIABLE.fullmatch(text):
        return None
    try:
        value = json.loads(text.lower())
    except (ValueError, RecursionError):
        return ...
    return value if isinstance(value, _NUMBERS) else ...


def _check_object(cls: Any, value: Any, keys: Keys) -> Iterator[Mistake]:
    value = {"type": value} if isinstance(value, str) else value
    if not isinstance(value, Mapping):
        yield Mistake(keys, f"expected an object or the name of a type, found {value!r:.80}")
        return
    is_base = cls in Registrable._registry
    kind = value.get("type", getattr(cls, "default_implementation", None))
    if is_base and not isinstance(kind, str):
        yield Mistake(
            (*keys, "type"), MISSING if kind is None else f"expected text, found {kind!r:.80}"
        )
        return
    try:
        made, _ = _resolve(cls, kind)
        options = options_of(cls, kind)
    except ConfigurationError:
        if not VARIABLE.search(kind):
            yield Mistake((*keys, "type"), _unregistered(kind, cls))
        return
    if made is None:
        return
    own = made.from_params.__func__ if hasattr(made, "from_params") else _FROM_PARAMS
    if own is not _FROM_PARAMS and not own.__module__.startswith("elmo_plugin."):
        return  # it reads its parameters itself
    takes_all = any(option.kind is Parameter.VAR_KEYWORD for option in options.values())
    is_closed = made.__module__.split(".")[0] in _KNOWN and _CLOSED & {
        base.__name__ for base in made.__mro__
    }
    for name, item in value.items():
        if name in options:
            yield from _check(options[name].annotation, item, (*keys, name))
        elif name != "type" and (is_closed or not takes_all):
            of_type = f" of {kind or cls.__name__}" if keys else ""
            yield Mistake((*keys, name), f"unknown key{of_type}{did_you_mean(name, options)}")
    for name, option in options.items():
        is_plain = option.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        is_passed = name in PASSED and (keys or name not in ("data_loader", "model", "trainer"))
        if is_plain and option.default is Parameter.empty and name not in value and not is_passed:
            yield Mistake((*keys, name), MISSING)


def _unregistered(kind: str, cls: Any) -> str:
    if kind in _GONE_TYPES:
        return f"{kind!r} was removed: {_GONE_TYPES[kind]}"
    if nearest := did_you_mean(kind, Registrable._registry[cls], 0.85):
        return f"{kind!r} is not registered{nearest}"
    install = "" if find_spec("allennlp_models") else f", or install {_MODELS}"
    return f"{_unknown(kind)}{install}"


# Modules and classes that read, run and fetch nothing when they are made; the rest of their
# packages is refused. All of ours is reviewed, and classes of users do what their users wrote.
_LISTED = json.loads(Path(__file__).with_name("data_types.json").read_text(encoding="utf-8"))
_ALLOWED = {f"{package}.{name}" for package, names in _LISTED.items() for name in names}
_REVIEWED = {"allennlp", "allennlp_models", "elmo_plugin", "torch"}
# Arguments of types on the list that name files.
_FILES = {"cache_directory", "file", "initial", "path", "pretrained_file", "target_pretrain_file"}
_FILES |= {"weights_file_path"}
# The parts of a configuration that loading, predicting and evaluating make.
_MADE = {
    "model": Model,
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "data_loader": DataLoader,
    "validation_data_loader": DataLoader,
    "evaluation": Evaluator,
}


def is_data(cls: Any) -> bool:
    """
    Returns whether making a class, other than one of the user's, reads, runs and fetches nothing.
    """
    package, *_ = parts = [*cls.__module__.split("."), cls.__name__]
    prefixes = {".".join(parts[:end]) for end in range(len(parts) + 1)}
    return package == "elmo_plugin" or package not in _REVIEWED or not _ALLOWED.isdisjoint(prefixes)


def refused(config: Mapping[str, Any], folder: Path) -> Iterator[tuple[Keys, str]]:
    """Yields the keys of values that an archive in `folder` may not have, and why."""
    for key, cls in _MADE.items():
        yield from _judge(cls, config.get(key), (key,), folder)
    kind = config.get("vocabulary", {}).get("type")
    if kind is not None and kind not in list(Registrable._registry[Vocabulary]):
        yield ("vocabulary", "type"), _unknown(kind)


def refused_predictor(model: Model, reader: DatasetReader) -> str | None:
    """Returns the predictor that a loaded model names, if an archive may not name it."""
    while members := getattr(model, "members", None):
        model = members[0]
    name = model.default_predictor
    loads_spacy = name == "text_classifier" and not (
        getattr(reader, "tokenizer", None) or getattr(reader, "_tokenizer", None)
    )
    return name if name and (loads_spacy or not is_data(Predictor.by_name(name))) else None


def _judge(
    kind: Any, value: Any, keys: Keys, folder: Path, is_users: bool = False
) -> Iterator[tuple[Keys, str]]:
    """
    Judges, as `refused`, a value of an argument with annotation `kind`, also of a class of the
    user's.
    """
    origin, kinds = get_origin(kind), get_args(kind)
    cls = origin or kind
    if isinstance(value, Mapping) and "_pretrained" in value:
        yield keys, "loads another model or code"
    elif origin in (Lazy, Union, UnionType):
        for each in kinds:
            yield from _judge(each, value, keys, folder, is_users)
    elif hasattr(kind, "from_params"):
        yield from _judge_object(
            cls, {"type": value} if isinstance(value, str) else value, keys, folder
        )
    elif isinstance(value, Mapping) and kinds and issubclass(cls, Mapping):
        for name, item in value.items():
            yield from _judge(kinds[-1], item, (*keys, name), folder, is_users)
    elif isinstance(value, Mapping | list) and kinds:  # AllenNLP reads the keys as a list
        is_row = cls is tuple and Ellipsis not in kinds
        for number, item in enumerate(value):
            each = kinds[number if is_row and number < len(kinds) else 0]
            yield from _judge(each, item, (*keys, number), folder, is_users)
    elif value is not None and inspect.isclass(cls) and issubclass(cls, PathLike):
        yield keys, f"{value} is outside the archive"
    elif is_users:
        yield from _judge_plain(value, keys)


def _judge_object(cls: Any, value: Any, keys: Keys, folder: Path) -> Iterator[tuple[Keys, str]]:
    if not isinstance(value, Mapping):
        return  # AllenNLP makes nothing of it
    kind, made, types = None, cls, Registrable._registry.get(cls)
    if types:
        kind = value.get("type", cls.default_implementation)
        if kind not in list(types):
            is_plain = isinstance(kind, str) and "." not in kind
            yield (*keys, "type"), _unregistered(kind, cls) if is_plain else _unknown(kind)
            return
        made, value = types[kind][0], {key: value[key] for key in value if key != "type"}
    registered = [each for types in Registrable._registry.values() for each, _ in types.values()]
    base = next((each for each in made.__mro__ if "__init__" in vars(each)), made)
    made = base if base in registered else made  # a class of the user's may inherit its constructor
    if not is_data(made):
        yield keys, f"{kind or cls.__name__} reads files, runs programs or loads other models"
        return
    is_users = made.__module__.partition(".")[0] not in _REVIEWED
    own = getattr(getattr(made, "from_params", None), "__func__", None)
    options = (
        {} if is_users and own is not _FROM_PARAMS else options_of(cls, kind)
    )  # or it reads them itself
    for key, item in value.items():
        place = (*keys, key)
        is_passed = key in PASSED and key in options and not is_users
        if is_passed or (key in _FILES and not is_users and item is not None):
            yield place, f"{item} is outside the archive"
        else:
            kind_of_item = options[key].annotation if key in options else Any
            yield from _judge(kind_of_item, item, place, folder, is_users)
    if (find := getattr(made, "argument_outside", None)) and (argument := find(folder, value)):
        yield (*keys, argument), f"the file of {kind} is outside the archive"


def _judge_plain(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Judges a value that a class of the user's takes unchanged."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        found = [types[kind][0] for types in Registrable._registry.values() if kind in list(types)]
        if isinstance(kind, str) and ("." in kind or found) and not any(map(is_data, found)):
            yield (*keys, "type"), _unknown(kind)
    if isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _judge_plain(item, (*keys, key))
    elif isinstance(value, str):
        path = PureWindowsPath(value)  # splits at / also
        if path.anchor or value.startswith("~") or ".." in path.parts or "://" in value:
            yield keys, f"{value} is outside the archive"


def _unknown(kind: Any) -> str:
    if isinstance(kind, str) and "." in kind:
        return f"{kind} would be imported"
    return f"{kind!r} is not registered: list its package in .allennlp_plugins"
