"""
Decides whether a configuration of an archive is data: each argument is judged by the constructor that takes
it, found as AllenNLP's `FromParams` finds it.
"""

import inspect
import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path, PureWindowsPath
from types import UnionType
from typing import Any, Union, get_args, get_origin

from allennlp.common import FromParams, Lazy, Registrable
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.evaluation import Evaluator
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_plugin.config_check import PASSED, options_of

Keys = tuple[str | int, ...]

# Modules and classes that read, run and fetch nothing when they are made; the rest of their packages is
# refused. All of ours is reviewed, and classes of users do what their users wrote.
_LISTED = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
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
    """Returns whether making a class, other than one of the user's, reads, runs and fetches nothing."""
    package, *_ = parts = [*cls.__module__.split("."), cls.__name__]
    prefixes = {".".join(parts[:end]) for end in range(len(parts) + 1)}
    return package == "elmo_plugin" or package not in _REVIEWED or not _ALLOWED.isdisjoint(prefixes)


def refused(config: Mapping[str, Any], folder: Path) -> Iterator[tuple[Keys, str]]:
    """Yields the keys of what the configuration of an archive in `folder` may not name, and why."""
    judge = _Judge(folder)
    for key, cls in _MADE.items():
        yield from judge.check(cls, config.get(key), (key,))
    kind = config.get("vocabulary", {}).get("type")
    if kind is not None and kind not in list(Registrable._registry[Vocabulary]):
        yield ("vocabulary", "type"), _unregistered(kind)


def refused_predictor(model: Model, reader: DatasetReader) -> str | None:
    """Returns the predictor that a loaded model names, if an archive may not name it."""
    while members := getattr(model, "members", None):
        model = members[0]
    name = model.default_predictor
    loads_spacy = name == "text_classifier" and not (
        getattr(reader, "tokenizer", None) or getattr(reader, "_tokenizer", None)
    )
    return name if name and (loads_spacy or not is_data(Predictor.by_name(name))) else None


class _Judge:
    """Judges values of constructors' arguments. Each method yields keys and reasons."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self, kind: Any, value: Any, keys: Keys, is_users: bool = False) -> Iterator[tuple[Keys, str]]:
        """Judges a value of an argument with annotation `kind`, of a class of the user's or of another."""
        origin, kinds = get_origin(kind), get_args(kind)
        cls = origin or kind
        if isinstance(value, Mapping) and "_pretrained" in value:
            yield keys, "loads another model or code"
        elif origin in (Lazy, Union, UnionType):
            for each in kinds:
                yield from self.check(each, value, keys, is_users)
        elif hasattr(kind, "from_params"):
            yield from self._check_object(cls, {"type": value} if isinstance(value, str) else value, keys)
        elif isinstance(value, Mapping) and kinds and issubclass(cls, Mapping):
            for name, item in value.items():
                yield from self.check(kinds[-1], item, (*keys, name), is_users)
        elif isinstance(value, Mapping | list) and kinds:  # AllenNLP reads the keys as a list
            is_row = cls is tuple and Ellipsis not in kinds
            for number, item in enumerate(value):
                each = kinds[number if is_row and number < len(kinds) else 0]
                yield from self.check(each, item, (*keys, number), is_users)
        elif value is not None and inspect.isclass(cls) and issubclass(cls, PathLike):
            yield keys, f"{value} is outside the archive"
        elif is_users:
            yield from self._check_plain(value, keys)

    def _check_object(self, cls: Any, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
        if not isinstance(value, Mapping):
            return  # AllenNLP makes nothing of it
        kind, types = None, Registrable._registry.get(cls)
        made = cls
        if types:
            kind = value.get("type", cls.default_implementation)
            if kind not in list(types):
                yield (*keys, "type"), _unregistered(kind)
                return
            made, value = types[kind][0], {key: value[key] for key in value if key != "type"}
        made = _with_constructor(made)
        if not is_data(made):
            yield keys, f"{kind or cls.__name__} reads files, runs programs or loads other models"
            return
        is_users = made.__module__.partition(".")[0] not in _REVIEWED
        reader = getattr(getattr(made, "from_params", None), "__func__", None)
        reads_itself = is_users and reader is not FromParams.from_params.__func__  # type: ignore[attr-defined]
        options = {} if reads_itself else options_of(cls, kind)
        for key, item in value.items():
            place = (*keys, key)
            is_passed = key in PASSED and key in options and not is_users
            if is_passed or (key in _FILES and not is_users and item is not None):
                yield place, f"{item} is outside the archive"
            else:
                yield from self.check(
                    options[key].annotation if key in options else Any, item, place, is_users
                )
        if (find := getattr(made, "argument_outside", None)) and (argument := find(self._folder, value)):
            yield (*keys, argument), f"the file of {kind} is outside the archive"

    def _check_plain(self, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
        """Judges a value that a class of the user's takes unchanged."""
        if isinstance(value, Mapping):
            kind = value.get("type")
            found = [types[kind][0] for types in Registrable._registry.values() if kind in list(types)]
            if isinstance(kind, str) and ("." in kind or found) and not any(map(is_data, found)):
                yield (*keys, "type"), _unregistered(kind)
        if isinstance(value, Mapping | list):
            for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
                yield from self._check_plain(item, (*keys, key))
        elif isinstance(value, str):
            path = PureWindowsPath(value)  # splits at / also
            if path.anchor or value.startswith("~") or ".." in path.parts or "://" in value:
                yield keys, f"{value} is outside the archive"


def _with_constructor(cls: Any) -> Any:
    """Returns the registered class whose constructor a class of the user's inherits, or the class itself."""
    registered = [each for types in Registrable._registry.values() for each, _ in types.values()]
    base = next((each for each in cls.__mro__ if "__init__" in vars(each)), cls)
    return base if base in registered else cls


def _unregistered(kind: Any) -> str:
    if isinstance(kind, str) and "." in kind:
        return f"{kind} would be imported"
    return f"{kind!r} is not registered: list its package in .allennlp_plugins"
