"""The judge of an archive: its configuration may name nothing that reads, runs or fetches."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple, get_origin

from allennlp.common import Registrable
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.evaluation import Evaluator
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.config_check.classes import (
    PASSED,
    Constructor,
    has_default_from_params,
    unknown,
    unregistered,
)
from elmo_plugin.config_check.walk import Annotation, Judge, Keys, Value, is_list_type


def _read_allowed() -> set[str]:
    """
    Returns the modules and classes of other packages that read, run and fetch nothing when they are
    made. The rest of these packages is refused.
    """
    content = Path(__file__).with_name("data_types.json").read_text(encoding="utf-8")
    allowed: set[str] = set()
    for package, names in json.loads(content).items():
        allowed.update(f"{package}.{name}" for name in names)
    return allowed


_ALLOWED = _read_allowed()
# All of ours is reviewed, and classes of users do what their users wrote.
_REVIEWED = {"allennlp", "allennlp_models", "elmo_plugin", "torch"}
# Arguments of allowed classes that name files.
_FILES = {
    "cache_directory",
    "file",
    "initial",
    "path",
    "pretrained_file",
    "target_pretrain_file",
    "weights_file_path",
}
# The parts of a configuration that loading, predicting and evaluating make.
_MADE = {
    "model": Model,
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "data_loader": DataLoader,
    "validation_data_loader": DataLoader,
    "evaluation": Evaluator,
}


class Refusal(NamedTuple):
    """A value that an archive may not have."""

    keys: Keys
    reason: str


def is_data(cls: Any) -> bool:
    """
    Returns whether making a class, other than one of the user's, reads, runs and fetches nothing.
    """
    package, _, _ = cls.__module__.partition(".")
    if package == "elmo_plugin" or package not in _REVIEWED:
        return True
    # The class, its module, and all packages around it: any of them may be allowed.
    name = f"{cls.__module__}.{cls.__name__}"
    while name:
        if name in _ALLOWED:
            return True
        name, _, _ = name.rpartition(".")
    return False


def refused(config: Mapping[str, Any], folder: Path) -> Iterator[Refusal]:
    """Yields the values that the configuration of an archive in `folder` may not have."""
    judge = _ArchiveJudge(folder)
    for key, cls in _MADE.items():
        yield from judge.judge(cls, config.get(key), (key,))
    kind = config.get("vocabulary", {}).get("type")
    if kind is not None and not _is_name(kind, Registrable._registry[Vocabulary]):
        yield Refusal(("vocabulary", "type"), unknown(kind))


def refused_predictor(model: Model, reader: DatasetReader) -> str | None:
    """Returns the predictor that a loaded model names, if an archive may not name it."""
    members = getattr(model, "members", None)
    while members:  # an ensemble
        model = members[0]
        members = getattr(model, "members", None)
    name = model.default_predictor
    if not name:
        return None
    has_tokenizer = getattr(reader, "tokenizer", None) or getattr(reader, "_tokenizer", None)
    if name == "text_classifier" and not has_tokenizer:
        return name  # it would load a model of spaCy
    if is_data(Predictor.by_name(name)):
        return None
    return name


@dataclass(frozen=True)
class _ArchiveJudge(Judge[Refusal]):
    """
    Refuses values in the configuration of an archive.

    folder: has the files of the archive
    in_class_of_user: whether the values are arguments of a class of the user's
    """

    folder: Path
    in_class_of_user: bool = False

    @overrides
    def judge(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Refusal]:
        if isinstance(value, Mapping) and "_pretrained" in value:
            yield Refusal(keys, "loads another model or code")
        else:
            yield from super().judge(annotation, value, keys)

    @overrides
    def judge_union(self, kinds: list[Annotation], value: Value, keys: Keys) -> Iterator[Refusal]:
        for kind in kinds:
            yield from self.judge(kind, value, keys)

    @overrides
    def judge_object(self, cls: Any, value: Value, keys: Keys) -> Iterator[Refusal]:
        if not isinstance(value, Mapping):
            return  # AllenNLP makes nothing of it
        name = cls.__name__
        constructor = Constructor(cls)
        types = Registrable._registry.get(cls)
        if types:
            kind = value.get("type", cls.default_implementation)
            if not _is_name(kind, types):
                yield Refusal((*keys, "type"), _not_registered(kind, cls))
                return
            name = kind
            constructor = Constructor(*types[kind])
            value = {key: item for key, item in value.items() if key != "type"}
        made = _with_constructor(constructor.cls)
        if is_data(made):
            yield from self._judge_arguments(constructor, made, value, keys)
            yield from self._judge_file(made, name, value, keys)
        else:
            reason = f"{name} reads files, runs programs or loads other models"
            yield Refusal(keys, reason)

    def _judge_arguments(
        self, constructor: Constructor, made: Any, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """Judges the arguments of an object; the class `made` is the one that takes them."""
        package, _, _ = made.__module__.partition(".")
        is_users = package not in _REVIEWED
        judge = replace(self, in_class_of_user=is_users)
        options = constructor.options()
        if is_users and not has_default_from_params(made):
            options = {}  # it reads its arguments itself
        for key, item in value.items():
            place = (*keys, key)
            # AllenNLP passes this argument itself, or it names a file.
            is_outside = (key in PASSED and key in options) or (key in _FILES and item is not None)
            if is_outside and not is_users:
                yield _outside(item, place)
            elif key in options:
                yield from judge.judge(options[key].annotation, item, place)
            else:
                yield from judge.judge(Any, item, place)

    def _judge_file(
        self, made: Any, name: str, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """Asks a class that takes files of its archive whether it would take one from elsewhere."""
        if not hasattr(made, "argument_outside"):
            return
        argument = made.argument_outside(self.folder, value)
        if argument:
            yield Refusal((*keys, argument), f"the file of {name} is outside the archive")

    @overrides
    def judge_plain(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Refusal]:
        """Refuses paths, and unsafe values in the arguments of a class of the user's."""
        cls = get_origin(annotation) or annotation
        if inspect.isclass(cls) and issubclass(cls, PathLike):
            yield _outside(value, keys)
            return
        if isinstance(value, Mapping) and is_list_type(annotation):
            # Where AllenNLP expects a list, it takes the keys of an object for the items.
            yield from self._judge_items(annotation, list(value), keys)
        if self.in_class_of_user:
            yield from _judge_unchanged(value, keys)


def _judge_unchanged(value: Value, keys: Keys) -> Iterator[Refusal]:
    """
    Judges a value that AllenNLP passes on unchanged to a class of the user's: that class may
    construct objects or open files by the texts in it.
    """
    if isinstance(value, Mapping):
        kind = value.get("type")
        if isinstance(kind, str) and not _may_be_named(kind):
            yield Refusal((*keys, "type"), unknown(kind))
        for key, item in value.items():
            yield from _judge_unchanged(item, (*keys, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _judge_unchanged(item, (*keys, position))
    elif isinstance(value, str) and _leads_outside(value):
        yield _outside(value, keys)


def _may_be_named(kind: str) -> bool:
    """
    Returns whether a class of the user's may be given this text as a type: it names no class, or
    one that is data.
    """
    classes = []
    for types in Registrable._registry.values():
        if kind in types:
            cls, _ = types[kind]
            classes.append(cls)
    if classes:
        return any(is_data(cls) for cls in classes)
    return "." not in kind


def _leads_outside(text: str) -> bool:
    """Returns whether a text, taken for a path or a URL, leads out of the archive's folder."""
    path = PureWindowsPath(text)  # Both / and \\ separate its parts.
    return bool(path.anchor) or text.startswith("~") or ".." in path.parts or "://" in text


def _is_name(kind: Value, names: Iterable[str]) -> bool:
    return isinstance(kind, str) and kind in names


def _not_registered(kind: Value, cls: Any) -> str:
    """Says why a type that is not registered for a base class is refused."""
    if isinstance(kind, str) and "." not in kind:
        return unregistered(kind, cls)
    return unknown(kind)


def _with_constructor(cls: Any) -> Any:
    """
    Returns the class itself, or the registered class whose constructor it inherits: a class of the
    user's does what that one does.
    """
    for base in cls.__mro__:
        if "__init__" in vars(base):
            if _is_registered(base):
                return base
            return cls
    return cls


def _is_registered(cls: Any) -> bool:
    """Returns whether a class is registered under any name."""
    for types in Registrable._registry.values():
        for registered, _ in types.values():
            if registered is cls:
                return True
    return False


def _outside(value: Value, keys: Keys) -> Refusal:
    return Refusal(keys, f"{value} is outside the archive")
