"""Archives of AllenNLP 0.x and 1.x, written so that AllenNLP 2.10.1 loads them, with the same
weights.
"""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import find_weights, load_archive, write_archive
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import temporary_folder, write_json
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import load_state, save_tensors
from elmo_plugin.migration.porting.computations import keep_state, port_computations
from elmo_plugin.migration.porting.config import Config, Porting, type_of
from elmo_plugin.migration.porting.rules import apply_rules
from elmo_plugin.migration.porting.weights import port_weights

if TYPE_CHECKING:
    from allennlp.models import Model

_CONFIG = "config.json"
_META = "meta.json"  # in archives of AllenNLP 2
# The list of the files that AllenNLP 0.x stored in an archive, and their folder.
_STORED_FILES = "files_to_archive.json"
_STORED_FOLDER = "fta"


def port_archive(source: str, output: str, say: Callable[[str], None], trust: bool = False) -> None:
    """
    Writes the archive of a trained model for AllenNLP 2.10.1. `say` is called with each note.

    Raises `BiLmError`, before anything is written, if the weights do not fit the model of AllenNLP
    2.10.1, or if the archive cannot be loaded without `trust`.
    """
    # The import replaces AllenNLP's classes, so it waits until an archive is ported.
    from elmo_plugin import dropin  # noqa: F401

    with temporary_folder("elmo_port_") as folder:
        unpack(source, folder)
        try:
            porting = _port_folder(folder)
            for note in porting.notes:
                say(str(note))
            model = _load_ported(porting, folder, trust)
        except BiLmError as error:
            message = _without_folder(str(error), folder)
            raise BiLmError(f"archive {source} cannot be carried over: {message}") from None
        write_archive(model, porting.config, output)
    say(f"wrote {output}, for projects with {_plugins(porting)} in .allennlp_plugins")
    _say_needed_files(porting, say)


def _say_needed_files(porting: Porting, say: Callable[[str], None]) -> None:
    """
    Says which files of biLMs a ported archive still needs. Only `elmo_token_embedder` can make its
    biLM from the archive; any other class of a configuration reads its `options_file`.
    """
    for place, part in porting.objects("model"):
        if "options_file" in part and type_of(part) != "elmo_token_embedder":
            files = f"{part['options_file']} and {part.get('weight_file')}"
            say(f"it needs the files of {place}, {files}, where it is used")


def _load_ported(porting: Porting, folder: Path, trust: bool) -> "Model":
    """
    Loads the model of an unpacked archive with its ported configuration. This also checks the
    archive: loading fails if the weights do not fit the model.
    """
    # The copy names files in the temporary folder. The ported archive gets `porting.config`.
    config = deepcopy(porting.config)
    original_files = _use_stored_files(config, folder)
    write_json(folder / _CONFIG, config)
    model = load_archive(folder, trust=trust).model
    _restore_options_files(model, original_files)
    return model


def _without_folder(message: str, folder: Path) -> str:
    """Returns an error about an archive without the temporary folder into which it was unpacked."""
    for place in (f"directory {folder}: ", f"{folder}: "):
        message = message.replace(place, "")
    return message


def _port_folder(folder: Path) -> Porting:
    """
    Ports the weights of an unpacked archive in their file, and returns its ported configuration,
    without writing it.
    """
    # Messages call the archive "it", because `port_archive` puts its name in front of them.
    config = read_json_object(folder / _CONFIG, f"its {_CONFIG}")
    weights = find_weights(folder, "it")
    tensors = load_state(weights, "it")
    porting = Porting(config)
    apply_rules(porting)
    # A model that AllenNLP 2 trained already computes as AllenNLP 2 does.
    if not (folder / _META).exists():
        port_computations(porting)
    if not _is_saved_by_dropin(tensors):
        keep_state(porting)
    if porting.version == "0":
        port_weights(tensors)
        save_tensors(tensors, weights)
    return porting


def _is_saved_by_dropin(tensors: Any) -> bool:
    """
    Returns whether a model was trained with the drop-in's ELMo. Unlike AllenNLP's, it does not
    carry its state from text to text by default.
    """
    metadata_of_modules = getattr(tensors, "_metadata", {})
    # The drop-in's `token_embedder._add_description` writes this key.
    return any("elmo" in metadata for metadata in metadata_of_modules.values())


def _use_stored_files(config: Config, folder: Path) -> dict[str, str]:
    """
    Replaces the files in a configuration by the copies of them that AllenNLP 0.x stored in the
    archive. Returns the original file of each copy.
    """
    original_files: dict[str, str] = {}
    if not (folder / _STORED_FILES).exists():
        return original_files
    # A key such as "model.elmo.weight_file" is the place of an option, and also the name of the
    # copy in the archive.
    for key in read_json_object(folder / _STORED_FILES, f"its {_STORED_FILES}"):
        if "\0" in key:
            continue  # no file has such a name, and `resolve` would fail
        *parents, option = key.split(".")
        part = _object_at(config, parents)
        copy = folder / _STORED_FOLDER / key
        is_inside = copy.resolve().is_relative_to(folder.resolve())
        if option in part and is_inside and copy.is_file():
            original_files[str(copy)] = part[option]
            part[option] = str(copy)
    return original_files


def _object_at(config: Config, keys: list[str]) -> Config:
    """Returns the object of a ported configuration at the keys of the old one, or an empty one."""
    part: Any = config
    for key in keys:
        part = _find_moved(part, key)
    if not isinstance(part, dict):
        return {}
    return part


def _find_moved(part: Any, key: str) -> Any:
    """
    Returns the value that an object had at a key before it was ported, or `None` if it had none.
    Porting may have moved the value from the object itself to its `token_embedders`.
    """
    if not isinstance(part, dict):
        return None
    if key in part:
        return part[key]
    token_embedders = part.get("token_embedders")
    if not isinstance(token_embedders, dict):
        return None
    return token_embedders.get(key)


def _restore_options_files(model: "Model", original_files: dict[str, str]) -> None:
    """
    Makes the drop-in's embedders name the file of their options as the old configuration did. They
    were made from its copy in the unpacked archive, and that will be removed. `original_files` maps
    each copy to its original.
    """
    for module in model.modules():
        description = getattr(module, "_description", None)
        if description:
            file = description["options_file"]
            description["options_file"] = original_files.get(file, file)


def _plugins(porting: Porting) -> str:
    """Returns the modules that a project with the ported archive lists."""
    for _, part in porting.objects():
        if type_of(part).startswith("old_"):  # a layer, an indexer or a tokenizer of `old_layers`
            return "elmo_plugin.dropin and elmo_plugin.plugin"
    return "elmo_plugin.dropin"
