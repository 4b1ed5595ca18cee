"""
The judge of a configuration from elsewhere, for a dry run. The objects that the configuration makes
may read the files of this machine that it names. They may not run other code, fetch anything or
write anything.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allennlp.common import Registrable
from allennlp.data import Vocabulary
from overrides import overrides

from elmo_plugin.common.bundled import bundled_models
from elmo_plugin.common.downloads import is_url
from elmo_plugin.common.nested_values import Keys, values_in
from elmo_plugin.config_check.archive_judge import (
    ArchiveJudge,
    Refusal,
    archive_may_make,
    is_listed,
    is_name,
    is_of_user,
    read_allowed,
    refusal_of_type,
)
from elmo_plugin.config_check.classes import Constructor
from elmo_plugin.config_check.walk import Value

_ALLOWED_IN_TRAININGS = read_allowed("dry_run_types.json")
# Arguments that name a file to read as data, or a model of this package.
_ARGUMENTS_TO_READ = {
    "bilm",
    "file",
    "initial",
    "options_file",
    "pretrained_file",
    "pretrained_files",
    "target_pretrain_file",
    "vectors",
    "weight_file",
}
# The argument that names the folder with the files of a vocabulary.
_VOCABULARY_FOLDER = "directory"
# Constructors of vocabularies that download a model; the others read data.
_DOWNLOADING_VOCABULARIES = {
    "from_pretrained_transformer",
    "from_pretrained_transformer_and_instances",
}
# AllenNLP passes these paths to constructors, so a configuration does not have them.
_PATHS_THAT_ARE_PASSED = {"serialization_dir", "data_path"}
# Arguments that say where files are written.
_ARGUMENTS_TO_WRITE = {"cache_directory", "path"}
# Keys of a training's data: each value is a path, or a list or an object of paths.
_KEYS_OF_DATA = ("train_data_path", "validation_data_path", "test_data_path")


def refused_in_dry_run(config: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yields the values of a configuration that would make a dry run of it unsafe."""
    from allennlp.commands.train import TrainModel

    kind = config.get("type", TrainModel.default_implementation)
    if not is_name(kind, Registrable._registry[TrainModel]):
        yield refusal_of_type(kind, keys=())
        return
    cls, method = Registrable._registry[TrainModel][kind]
    options = Constructor(cls, method).options()
    judge = _DryRunJudge(folder=Path(), subject="the configuration")
    for key, value in config.items():
        if key in _KEYS_OF_DATA:
            yield from _judge_data(value, keys=(key,))
        elif key in options:  # a dry run ignores all other keys
            yield from judge.judge(options[key].annotation, value, keys=(key,))


def _judge_data(value: Value, keys: Keys) -> Iterator[Refusal]:
    """
    Refuses the data of a training if they are at an address, or in a device or a pipe. A missing
    file is allowed, because the dataset reader reports it.
    """
    for place, path in values_in(value, keys):
        if isinstance(path, str) and (_is_address(path) or _is_special(path)):
            yield Refusal(place, f"{path} is not a file of this machine")


@dataclass(frozen=True)
class _DryRunJudge(ArchiveJudge):
    """Allows more than the judge of an archive: the objects of a training, and files to read."""

    @overrides
    def may_make(self, cls: Any) -> bool:
        return archive_may_make(cls) or is_listed(cls, _ALLOWED_IN_TRAININGS)

    @overrides
    def judge_object(self, cls: Any, value: Value, keys: Keys) -> Iterator[Refusal]:
        if cls is Vocabulary and isinstance(value, Mapping):
            constructor = value.get("type")
            if is_name(constructor, _DOWNLOADING_VOCABULARIES):
                yield Refusal((*keys, "type"), f"{constructor} fetches a model")
                return
        yield from super().judge_object(cls, value, keys)

    @overrides
    def may_be_given(self, name: str) -> bool:
        return name not in _PATHS_THAT_ARE_PASSED  # a trainer is given its optimizer, for example

    @overrides
    def judge_file(self, value: Value, keys: Keys) -> Iterator[Refusal]:
        argument = keys[-1]
        if argument in _ARGUMENTS_TO_READ:
            yield from _judge_paths_to_read(value, keys)
        elif argument == _VOCABULARY_FOLDER:
            yield from _judge_folder(value, keys)
        else:
            yield self.refusal_of_outsider(value, keys)

    @overrides
    def judge_own_files(
        self, constructor: Constructor, name: str, value: Mapping[str, Value], keys: Keys
    ) -> Iterator[Refusal]:
        """
        Judges the files that a class reads or writes. If the configuration leaves an argument out,
        its default is judged, because a default may be an address.
        """
        if is_of_user(constructor.class_of_init()):
            return  # only its author knows the meaning of its arguments
        for key, option in constructor.options().items():
            given = value.get(key, option.default)
            if key in _ARGUMENTS_TO_READ:
                yield from _judge_paths_to_read(given, (*keys, key))
            elif key == _VOCABULARY_FOLDER and isinstance(given, str):
                yield from _judge_folder(given, (*keys, key))
            elif key in _ARGUMENTS_TO_WRITE and isinstance(given, str):
                yield Refusal((*keys, key), f"{name} writes files there")


def _judge_paths_to_read(value: Value, keys: Keys) -> Iterator[Refusal]:
    """Refuses a text that names neither a model of this package nor a file of this machine."""
    for place, text in values_in(value, keys):
        if isinstance(text, str) and text not in bundled_models() and not _is_file(text):
            yield Refusal(place, f"{text} is not a file of this machine")


def _judge_folder(value: Value, keys: Keys) -> Iterator[Refusal]:
    """Refuses all but a folder of this machine: `Vocabulary` would download anything else."""
    if not isinstance(value, str) or not os.path.isdir(value):
        yield Refusal(keys, f"{value} is not a folder of this machine")


def _is_file(text: str) -> bool:
    """Returns whether a text is the path of a file or a folder."""
    if _is_address(text) or _is_special(text):
        return False
    return os.path.exists(os.path.expanduser(text))


def _is_address(text: str) -> bool:
    """Returns whether a text is an address, even if this package cannot download it."""
    return is_url(text) or "://" in text


def _is_special(text: str) -> bool:
    """Returns whether a path leads to a device or a pipe. Reading one of these may never end."""
    try:
        mode = os.stat(os.path.expanduser(text)).st_mode
    except (OSError, ValueError):  # no file has this path
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
