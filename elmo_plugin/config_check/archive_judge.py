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

from elmo_plugin.common.nested_values import Keys, values_in
from elmo_plugin.config_check.classes import (
    PASSED_BY_ALLENNLP,
    Constructor,
    explain_unknown,
    explain_unregistered,
    has_default_from_params,
)
from elmo_plugin.config_check.walk import Annotation, Judge, Value, is_list_type


def read_allowed(file: str) -> set[str]:
    """
    Returns the modules and classes of other packages that a file of this folder lists, such as
    "torch.nn.modules.activation". Only these classes of the packages may be made.
    """
    content = Path(__file__).with_name(file).read_text(encoding="utf-8")
    allowed: set[str] = set()
    for package, names in json.loads(content).items():
        allowed.update(f"{package}.{name}" for name in names)
    return allowed


# Making objects of these classes reads, runs and fetches nothing.
_ALLOWED = read_allowed("data_types.json")
# Packages whose classes are reviewed. All others are the user's own code.
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
# The keys of a configuration from which loading, predicting and evaluating make objects, with the
# classes of the objects.
_CLASS_OF_KEY = {
    "model": Model,
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "data_loader": DataLoader,
    "validation_data_loader": DataLoader,
    "evaluation": Evaluator,
}


class Refusal(NamedTuple):
    """
    A value that an archive may not have.

    keys: the keys that lead to the value
    reason: why it is refused
    trust_helps: whether a trusted archive may have the value
    """

    keys: Keys
    reason: str
    trust_helps: bool = True


def refusal_of_type(kind: Value, keys: Keys, base: Any = None) -> Refusal:
    """
    Returns the refusal of a type that is not registered for the class `base`. Without `base`, it is
    not registered for any class. Trust helps with a type that has a dot in it, such as "os.system":
    AllenNLP imports it.
    """
    is_imported = isinstance(kind, str) and "." in kind
    if base is not None and isinstance(kind, str) and not is_imported:
        reason = explain_unregistered(kind, base)
    else:
        reason = explain_unknown(kind)
    return Refusal((*keys, "type"), reason, trust_helps=is_imported)


def _refusal_of_class(name: str, keys: Keys) -> Refusal:
    """Returns the refusal of a registered class that an archive may not make."""
    return Refusal(keys, f"{name} reads files, runs programs or loads other models")


def archive_may_make(cls: Any) -> bool:
    """
    Returns whether an archive may make objects of a class. The class must be of this package or of
    the user's own code, or on the list of classes that read, run and fetch nothing.
    """
    if is_of_user(cls) or cls.__module__.partition(".")[0] == "elmo_plugin":
        return True
    return is_listed(cls, _ALLOWED)


def is_of_user(cls: Any) -> bool:
    """Returns whether a class is the user's own code."""
    return cls.__module__.partition(".")[0] not in _REVIEWED


def is_listed(cls: Any, names: set[str]) -> bool:
    """Returns whether the names list a class, its module or a package that has the module."""
    name = f"{cls.__module__}.{cls.__name__}"
    while name:
        if name in names:
            return True
        name, _, _ = name.rpartition(".")
    return False


def refused_in_archive(config: Mapping[str, Any], folder: Path) -> Iterator[Refusal]:
    """Yields the values that the configuration of an archive in `folder` may not have."""
    judge = ArchiveJudge(folder)
    for key, cls in _CLASS_OF_KEY.items():
        yield from judge.judge(cls, config.get(key), keys=(key,))
    # AllenNLP reads a vocabulary from files of the archive, so only its type matters here.
    kind = config.get("vocabulary", {}).get("type")
    if kind is not None and not is_name(kind, Registrable._registry[Vocabulary]):
        yield refusal_of_type(kind, keys=("vocabulary",))


def refused_predictor(model: Model, reader: DatasetReader) -> str | None:
    """
    Returns the name of a loaded model's predictor if an archive may not name it, otherwise `None`.
    An ensemble has the predictor of its first member.
    """
    name = _first_member(model).default_predictor
    if not name:
        return None
    if name == "text_classifier" and not _has_tokenizer(reader):
        return name  # it would load a model of spaCy, to split text into words
    if archive_may_make(Predictor.by_name(name)):
        return None
    return name


def _first_member(model: Model) -> Model:
    """Returns the first member of an ensemble that is no ensemble itself. Returns other models."""
    members = getattr(model, "members", None)
    while members:
        model = members[0]
        members = getattr(model, "members", None)
    return model


def _has_tokenizer(reader: DatasetReader) -> bool:
    """Returns whether a dataset reader has a tokenizer, by the two names that AllenNLP looks up."""
    names = ("tokenizer", "_tokenizer")
    return any(getattr(reader, name, None) is not None for name in names)


@dataclass(frozen=True)
class ArchiveJudge(Judge[Refusal]):
    """
    Refuses values in the configuration of an archive.

    folder: has the files of the archive
    in_class_of_user: whether the judged values are arguments of one of the user's own classes
    subject: the name of the archive or configuration in messages
    """

    folder: Path
    in_class_of_user: bool = False
    subject: str = "the archive"

    def may_make(self, cls: Any) -> bool:
        """Returns whether the configuration may make a class."""
        return archive_may_make(cls)

    def may_be_given(self, name: str) -> bool:
        """Returns whether a configuration may have an argument that AllenNLP may also pass."""
        return name not in PASSED_BY_ALLENNLP

    def judge_file(self, value: Value, keys: Keys) -> Iterator[Refusal]:
        """Judges an argument that names a file."""
        yield self.refusal_of_outsider(value, keys)

    def refusal_of_outsider(self, value: Value, keys: Keys) -> Refusal:
        """Returns the refusal of a file that is not part of the archive."""
        return Refusal(keys, f"{value} is outside {self.subject}")

    @overrides
    def judge(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Refusal]:
        # With this key, AllenNLP takes an object of any class from another archive.
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
        types = Registrable._registry.get(cls)
        if not types:  # An object can only be of the class itself.
            yield from self._judge_making(Constructor(cls), cls.__name__, value, keys)
            return
        kind = value.get("type", cls.default_implementation)
        if not is_name(kind, types):
            yield refusal_of_type(kind, keys, base=cls)
            return
        registered_cls, method = types[kind]
        arguments = {key: item for key, item in value.items() if key != "type"}
        yield from self._judge_making(Constructor(registered_cls, method), kind, arguments, keys)

    def _judge_making(
        self, constructor: Constructor, name: str, arguments: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """Judges an object that a constructor makes from arguments; `name` is for messages."""
        if self.may_make(constructor.class_of_init()):
            yield from self._judge_arguments(constructor, arguments, keys)
            yield from self.judge_own_files(constructor, name, arguments, keys)
        else:
            yield _refusal_of_class(name, keys)

    def _judge_arguments(
        self, constructor: Constructor, arguments: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """
        Judges the arguments of a constructor. In classes that are reviewed, a name such as "path"
        or "vocab" has a known meaning. In the user's classes it may mean anything, so there only
        the values are judged.
        """
        class_of_init = constructor.class_of_init()
        is_reviewed = not is_of_user(class_of_init)
        judge = replace(self, in_class_of_user=not is_reviewed)
        options = constructor.options()
        if not is_reviewed and not has_default_from_params(class_of_init):
            options = {}  # The class's own `from_params` gives each argument its type.
        for key, value in arguments.items():
            place = (*keys, key)
            is_passed_by_allennlp = key in options and not self.may_be_given(key)
            if is_reviewed and is_passed_by_allennlp:
                # The value would replace the object or the folder that AllenNLP passes.
                yield self.refusal_of_outsider(value, place)
            elif is_reviewed and key in _FILES and value is not None:
                yield from self.judge_file(value, place)
            elif key in options:
                yield from judge.judge(options[key].annotation, value, place)
            else:
                yield from judge.judge(Any, value, place)

    def judge_own_files(
        self, constructor: Constructor, name: str, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """
        Judges the files that an object reads by its arguments; `name` is the object in messages. A
        class that reads files of its archive has a method `argument_with_outside_file`. It returns
        the argument that names a file from elsewhere, if any.
        """
        class_of_init = constructor.class_of_init()
        if not hasattr(class_of_init, "argument_with_outside_file"):
            return  # The class reads no files of its archive.
        argument = class_of_init.argument_with_outside_file(self.folder, value)
        if argument:
            yield Refusal((*keys, argument), f"the file of {name} is outside the archive")

    @overrides
    def judge_plain(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Refusal]:
        """
        Judges a value from which AllenNLP makes no object of a class. It may be a path, an object
        where a list is expected, or any value that a class of the user's gets unchanged.
        """
        cls = get_origin(annotation) or annotation
        if inspect.isclass(cls) and issubclass(cls, PathLike):
            yield from self.judge_file(value, keys)
            return
        if isinstance(value, Mapping) and is_list_type(annotation):
            # AllenNLP takes the keys of the object for the items of the list.
            yield from self._judge_items(annotation, list(value), keys)
        if self.in_class_of_user:
            yield from self._judge_unchanged(value, keys)

    def _judge_unchanged(self, value: Value, keys: Keys) -> Iterator[Refusal]:
        """
        Judges a value that a class of the user's gets unchanged. The class may make objects of the
        types in it, and open the files that it names.
        """
        for place, item in values_in(value, keys):
            if isinstance(item, Mapping) and isinstance(item.get("type"), str):
                yield from _judge_type(item["type"], place)
            elif isinstance(item, str) and _leads_outside(item):
                yield self.refusal_of_outsider(item, place)


def _judge_type(kind: str, keys: Keys) -> Iterator[Refusal]:
    """
    Judges a "type" in the arguments of a class of the user's, because the class may make an object
    of it. The type may be the registered name of a class, or name a module, such as `os.system`.
    """
    registered = [types[kind] for types in Registrable._registry.values() if kind in types]
    if not registered:
        names_module = "." in kind
        if names_module:
            yield refusal_of_type(kind, keys)
        return
    # Classes of several bases may be registered by one name. It is unknown which of them the user's
    # class makes, so the type is only refused if none of them may be made.
    if not any(archive_may_make(cls) for cls, _ in registered):
        yield _refusal_of_class(kind, (*keys, "type"))


def _leads_outside(text: str) -> bool:
    """Returns whether a text, taken for a path or a URL, leads out of the archive's folder."""
    path = PureWindowsPath(text)  # Both / and \\ separate its parts.
    return bool(path.anchor) or text.startswith("~") or ".." in path.parts or "://" in text


def is_name(kind: Value, names: Iterable[str]) -> bool:
    """Returns whether a type is one of the names. A configuration may have any value there."""
    return isinstance(kind, str) and kind in names
