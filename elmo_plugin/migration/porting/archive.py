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
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.migration.porting.computations import keep_state, port_computations
from elmo_plugin.migration.porting.config import Config, Porting, type_of
from elmo_plugin.migration.porting.rules import port_config
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

    Raises `BiLmError`, before anything is written, if the model of AllenNLP 2.10.1 has other
    weights, or the archive may not be loaded as data.
    """
    from elmo_plugin import dropin  # noqa: F401  here, as it replaces AllenNLP's classes

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
    # An archive contains the biLM and its options only for the drop-in's token embedder.
    for place, part in porting.objects("model"):
        if "options_file" in part and type_of(part) != "elmo_token_embedder":
            files = f"{part['options_file']} and {part.get('weight_file')}"
            say(f"it needs the files of {place}, {files}, where it is used")


def _load_ported(porting: Porting, folder: Path, trust: bool) -> "Model":
    """
    Loads the model of an unpacked archive with its ported configuration, which also checks the
    archive: a model with other weights is refused.
    """
    config = deepcopy(porting.config)
    sources = _use_stored_files(config, folder)
    write_json(folder / _CONFIG, config)
    model = load_archive(folder, trust=trust).model
    _restore_options_files(model, sources)
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
    old = read_json_object(folder / _CONFIG, f"its {_CONFIG}")
    # "it" in messages is the archive, which `port_archive` names before them.
    weights = find_weights(folder, "it")
    tensors = load_plain(weights, "it")
    porting = Porting(old)
    porting.config, porting.notes = port_config(old)
    # A model that AllenNLP 2 trained already computes as AllenNLP 2 does.
    if not (folder / _META).exists():
        port_computations(porting)
    if not _is_of_dropin(tensors):
        keep_state(porting)
    if porting.version == "0":
        port_weights(tensors)
        save_tensors(tensors, weights)
    return porting


def _is_of_dropin(tensors: Any) -> bool:
    """
    Returns whether a model was trained with the drop-in's ELMo, and so with its state. The drop-in
    describes its weights in torch's metadata.
    """
    descriptions = getattr(tensors, "_metadata", {})
    # "elmo" is the key of these descriptions in `token_embedder`.
    return any("elmo" in description for description in descriptions.values())


def _use_stored_files(config: Config, folder: Path) -> dict[str, str]:
    """
    Replaces the files in a configuration by the copies of them that AllenNLP 0.x stored in the
    archive. Returns the file that each copy was made of.
    """
    sources: dict[str, str] = {}
    if not (folder / _STORED_FILES).exists():
        return sources
    # A key is the place of an option, such as "model.elmo.weight_file", and its copy's name.
    for key in read_json_object(folder / _STORED_FILES, f"its {_STORED_FILES}"):
        if "\0" in key:
            continue  # no file has such a name, and `resolve` would fail
        *parents, last = key.split(".")
        part = _object_at(config, parents)
        copy = folder / _STORED_FOLDER / key
        is_inside = copy.resolve().is_relative_to(folder.resolve())
        if last in part and is_inside and copy.is_file():
            sources[str(copy)] = part[last]
            part[last] = str(copy)
    return sources


def _object_at(config: Config, keys: list[str]) -> Config:
    """
    Returns the object at the keys of an old configuration, or an empty one. Where porting has put
    objects under `token_embedders`, the old keys do not say so.
    """
    part: Any = config
    for key in keys:
        if not isinstance(part, dict):
            return {}
        if key not in part:
            part = part.get("token_embedders", {})
        part = part.get(key)
    if not isinstance(part, dict):
        return {}
    return part


def _restore_options_files(model: "Model", sources: dict[str, str]) -> None:
    """
    Makes the drop-in's embedders name the file of their options as the old configuration did,
    because its copy in the unpacked archive will be removed. `sources` has the old names, by the
    copies.
    """
    for module in model.modules():
        description = getattr(module, "_description", None)
        if description:
            file = description["options_file"]
            description["options_file"] = sources.get(file, file)


def _plugins(porting: Porting) -> str:
    """Returns the modules that a project with the ported archive lists."""
    for _, part in porting.objects():
        if type_of(part).startswith("old_"):  # a layer, an indexer or a tokenizer of `old_layers`
            return "elmo_plugin.dropin and elmo_plugin.plugin"
    return "elmo_plugin.dropin"
