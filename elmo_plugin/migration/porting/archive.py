"""Archives of AllenNLP 0.x and 1.x, written so that AllenNLP 2.10.1 loads them, with the same
weights.
"""

import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import find_weights, load_archive, write_archive
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import write_json
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.migration.porting.computations import keep_state, port_computations
from elmo_plugin.migration.porting.config import Config, Porting, type_of
from elmo_plugin.migration.porting.rules import port_config
from elmo_plugin.migration.porting.weights import port_weights

if TYPE_CHECKING:
    from allennlp.models import Model

_CONFIG, _FILES, _STORED = "config.json", "files_to_archive.json", "fta"
_META = "meta.json"  # in archives of AllenNLP 2


def port_archive(source: str, output: str, say: Callable[[str], None], trust: bool = False) -> None:
    """
    Writes the archive of a trained model for AllenNLP 2.10.1. `say` is called with each note.

    Raises `BiLmError`, before anything is written, if the model of AllenNLP 2.10.1 has other
    weights, or the archive may not be loaded as data.
    """
    from elmo_plugin import dropin  # noqa: F401  here, as it replaces AllenNLP's classes

    with tempfile.TemporaryDirectory(prefix="elmo_port_") as name:
        folder = Path(name)
        unpack(source, folder)
        try:
            porting = _port_folder(folder)
            for note in porting.notes:
                say(str(note))
            stored = deepcopy(porting.config)
            sources = _stored_files(stored, folder)
            write_json(folder / _CONFIG, stored)
            model = load_archive(folder, trust=trust).model
        except BiLmError as error:
            message = str(error).replace(f"directory {folder}: ", "").replace(f"{folder}: ", "")
            raise BiLmError(f"archive {source} cannot be carried over: {message}") from None
        _name_sources(model, sources)
        write_archive(model, porting.config, output)
    say(f"wrote {output}, for projects with {_plugins(porting)} in .allennlp_plugins")
    for place, part in porting.objects("model"):
        if "options_file" in part and part.get("type") != "elmo_token_embedder":
            files = part["options_file"], part.get("weight_file")
            say(f"it needs the files of {place}, {' and '.join(map(str, files))}, where it is used")


def _port_folder(folder: Path) -> Porting:
    """Ports the configuration of an unpacked archive, which is not written, and its weights."""
    old = read_json_object(folder / _CONFIG, f"its {_CONFIG}")
    weights = find_weights(folder, "it")
    tensors = load_plain(weights, "it")
    porting = Porting(old)
    porting.config, porting.notes = port_config(old)
    if not (folder / _META).exists():
        port_computations(porting)
    if not _is_of_dropin(tensors):
        keep_state(porting)
    if porting.version == "0":
        port_weights(tensors)
        save_tensors(tensors, weights)
    return porting


def _is_of_dropin(tensors: Any) -> bool:
    """Returns whether a model was trained with the drop-in's ELMo, which describes its weights."""
    descriptions = getattr(tensors, "_metadata", {})
    return any("elmo" in description for description in descriptions.values())


def _stored_files(config: Config, folder: Path) -> dict[str, str]:
    """
    Makes a configuration name the files that AllenNLP 0.x stored in the archive; returns their
    sources.
    """
    sources: dict[str, str] = {}
    if not (folder / _FILES).exists():
        return sources
    for key in read_json_object(folder / _FILES, f"its {_FILES}"):
        *parents, last = key.split(".")
        part = _part(config, parents)
        copy = folder / _STORED / key
        is_inside = copy.resolve().is_relative_to(folder.resolve())
        if last in part and is_inside and copy.is_file():
            sources[str(copy)] = part[last]
            part[last] = str(copy)
    return sources


def _part(config: Config, keys: list[str]) -> Config:
    """
    Returns the object at old keys, which do not have `token_embedders` if they were flat, or an
    empty one.
    """
    part: Any = config
    for key in keys:
        if not isinstance(part, dict):
            return {}
        part = part[key] if key in part else part.get("token_embedders", {}).get(key)
    return part if isinstance(part, dict) else {}


def _name_sources(model: "Model", sources: dict[str, str]) -> None:
    """Makes the drop-in's embedders describe where their options came from, not the copies."""
    for module in model.modules():
        description = getattr(module, "_description", None)
        if description:
            file = description["options_file"]
            description["options_file"] = sources.get(file, file)


def _plugins(porting: Porting) -> str:
    """Returns the modules that a project with the ported archive lists."""
    for _, part in porting.objects():
        if type_of(part).startswith("old_"):
            return "elmo_plugin.dropin and elmo_plugin.plugin"
    return "elmo_plugin.dropin"
