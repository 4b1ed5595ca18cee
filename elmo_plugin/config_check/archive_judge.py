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
    PASSED_BY_ALLENNLP,
    Constructor,
    explain_unknown,
    explain_unregistered,
    has_default_from_params,
)
from elmo_plugin.config_check.walk import Annotation, Judge, Keys, Value, is_list_type


def read_allowed(file: str) -> set[str]:
    """
    Returns the modules and classes of other packages that a file of this folder lists, such as
    "torch.nn.modules.activation". They may be made, and the rest of these packages is refused.
    """
    content = Path(__file__).with_name(file).read_text(encoding="utf-8")
    allowed: set[str] = set()
    for package, names in json.loads(content).items():
        allowed.update(f"{package}.{name}" for name in names)
    return allowed


# Making these reads, runs and fetches nothing.
_ALLOWED = read_allowed("data_types.json")
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
    Returns the refusal of a type that is not registered for the class `base`, or for any class.
    Trust lets AllenNLP import a type with a dot in it, such as "os.system".
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
    Returns whether an archive may make a class: one of this package, of the user's own code, or on
    the list of those that read, run and fetch nothing.
    """
    if is_of_user(cls) or cls.__module__.partition(".")[0] == "elmo_plugin":
        return True
    return is_listed(cls, _ALLOWED)


def is_of_user(cls: Any) -> bool:
    """Returns whether a class is the user's own code."""
    return cls.__module__.partition(".")[0] not in _REVIEWED


def is_listed(cls: Any, names: set[str]) -> bool:
    """Returns whether a class, its module or a package around it is one of the names."""
    name = f"{cls.__module__}.{cls.__name__}"
    while name:
        if name in names:
            return True
        name, _, _ = name.rpartition(".")
    return False


def refused(config: Mapping[str, Any], folder: Path) -> Iterator[Refusal]:
    """Yields the values that the configuration of an archive in `folder` may not have."""
    judge = ArchiveJudge(folder)
    for key, cls in _MADE.items():
        yield from judge.judge(cls, config.get(key), keys=(key,))
    # AllenNLP reads the vocabulary from files of the archive, and takes only its class from here.
    kind = config.get("vocabulary", {}).get("type")
    if kind is not None and not is_name(kind, Registrable._registry[Vocabulary]):
        yield refusal_of_type(kind, keys=("vocabulary",))


def refused_predictor(model: Model, reader: DatasetReader) -> str | None:
    """
    Returns the predictor that a loaded model names if an archive may not name it, else `None`. An
    ensemble is judged by its first member.
    """
    members = getattr(model, "members", None)
    while members:  # the members of an ensemble may be ensembles too
        model = members[0]
        members = getattr(model, "members", None)
    name = model.default_predictor
    if not name:
        return None
    # Without the tokenizer of the reader, this predictor would load a model of spaCy.
    has_tokenizer = getattr(reader, "tokenizer", None) or getattr(reader, "_tokenizer", None)
    if name == "text_classifier" and not has_tokenizer:
        return name
    if archive_may_make(Predictor.by_name(name)):
        return None
    return name


@dataclass(frozen=True)
class ArchiveJudge(Judge[Refusal]):
    """
    Refuses values in the configuration of an archive.

    folder: has the files of the archive
    in_class_of_user: whether the values are arguments of a class of the user's
    subject: the word for the judged archive or configuration in errors
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
        # By this key, AllenNLP takes an object from another archive, whatever is expected here.
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
        if types:  # otherwise, an object is always of the class itself
            kind = value.get("type", cls.default_implementation)
            if not is_name(kind, types):
                yield refusal_of_type(kind, keys, base=cls)
                return
            name = kind
            registered_cls, method = types[kind]
            constructor = Constructor(registered_cls, method)
            value = {key: item for key, item in value.items() if key != "type"}
        if self.may_make(constructor.class_of_init()):
            yield from self._judge_arguments(constructor, value, keys)
            yield from self.judge_own_files(constructor, name, value, keys)
        else:
            yield _refusal_of_class(name, keys)

    def _judge_arguments(
        self, constructor: Constructor, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """
        Judges the arguments of an object. The meaning of a name such as "path" or "vocab" is known
        for reviewed classes only, not for the user's.
        """
        class_of_init = constructor.class_of_init()
        in_class_of_user = is_of_user(class_of_init)
        judge = replace(self, in_class_of_user=in_class_of_user)
        options = constructor.options()
        if in_class_of_user and not has_default_from_params(class_of_init):
            options = {}  # its own `from_params` decides on the meaning of each argument
        for key, item in value.items():
            place = (*keys, key)
            if not in_class_of_user and key in options and not self.may_be_given(key):
                # It would take the place of the object or the folder that AllenNLP passes.
                yield self.refusal_of_outsider(item, place)
            elif not in_class_of_user and key in _FILES and item is not None:
                yield from self.judge_file(item, place)
            elif key in options:
                yield from judge.judge(options[key].annotation, item, place)
            else:
                yield from judge.judge(Any, item, place)

    def judge_own_files(
        self, constructor: Constructor, name: str, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """
        Judges the files that the object, called `name` in messages, reads. A class that takes files
        of its archive says by `argument_with_outside_file` which argument names one from elsewhere.
        """
        class_of_init = constructor.class_of_init()
        if not hasattr(class_of_init, "argument_with_outside_file"):
            return  # it takes no files
        argument = class_of_init.argument_with_outside_file(self.folder, value)
        if argument:
            yield Refusal((*keys, argument), f"the file of {name} is outside the archive")

    @overrides
    def judge_plain(self, annotation: Annotation, value: Value, keys: Keys) -> Iterator[Refusal]:
        """
        Judges a value for which AllenNLP makes no object: a path, an object in the place of a list,
        or anything that AllenNLP passes on unchanged to a class of the user's.
        """
        cls = get_origin(annotation) or annotation
        if inspect.isclass(cls) and issubclass(cls, PathLike):
            yield from self.judge_file(value, keys)
            return
        if isinstance(value, Mapping) and is_list_type(annotation):
            # Where AllenNLP expects a list, it takes the keys of an object for the items.
            yield from self._judge_items(annotation, list(value), keys)
        if self.in_class_of_user:
            yield from self._judge_unchanged(value, keys)

    def _judge_unchanged(self, value: Value, keys: Keys) -> Iterator[Refusal]:
        """
        Judges a value that AllenNLP passes on unchanged to a class of the user's: that class may
        construct objects or open files by the texts in it.
        """
        if isinstance(value, Mapping):
            kind = value.get("type")
            if isinstance(kind, str):
                yield from _judge_type(kind, keys)
            for key, item in value.items():
                yield from self._judge_unchanged(item, (*keys, key))
        elif isinstance(value, list):
            for position, item in enumerate(value):
                yield from self._judge_unchanged(item, (*keys, position))
        elif isinstance(value, str) and _leads_outside(value):
            yield self.refusal_of_outsider(value, keys)


def _judge_type(kind: str, keys: Keys) -> Iterator[Refusal]:
    """
    Judges a text that the arguments of a user's class have as a "type". The class may make an
    object of it, if a class is registered by this name, or is in a module, as `os.system`.
    """
    registered = [types[kind] for types in Registrable._registry.values() if kind in types]
    if not registered:
        is_in_module = "." in kind
        if is_in_module:
            yield refusal_of_type(kind, keys)
        return
    # One name may stand for classes of several bases. Which of them the user's class means is not
    # known, so it is enough that one of them may be made.
    if not any(archive_may_make(cls) for cls, _ in registered):
        yield _refusal_of_class(kind, (*keys, "type"))


def _leads_outside(text: str) -> bool:
    """Returns whether a text, taken for a path or a URL, leads out of the archive's folder."""
    path = PureWindowsPath(text)  # Both / and \\ separate its parts.
    return bool(path.anchor) or text.startswith("~") or ".." in path.parts or "://" in text


def is_name(kind: Value, names: Iterable[str]) -> bool:
    """Returns whether a type is one of the names. A configuration may have any value there."""
    return isinstance(kind, str) and kind in names
