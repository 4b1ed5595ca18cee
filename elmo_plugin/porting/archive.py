"""Archives of AllenNLP 0.x and 1.x, written so that AllenNLP 2.10.1 loads them, with the same
weights.
"""

import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from elmo_plugin.archives import find_weights, load_archive, write_archive
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import write_json
from elmo_plugin.common.formats.archives import unpack
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.porting.config import Config, Porting
from elmo_plugin.porting.rules import port_config

_CONFIG, _FILES, _STORED = "config.json", "files_to_archive.json", "fta"
_RENAMED = (
    "_matrix_attention._similarity_function.",
    "_matrix_attention.",
)  # parts of weights' names


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
        config, notes = port_config(
            read_json_object(folder / _CONFIG, f"archive {source}, its {_CONFIG}")
        )
        for note in notes:
            say(str(note))
        stored = deepcopy(config)
        sources = _stored_files(stored, folder)
        write_json(folder / _CONFIG, stored)
        weights = find_weights(folder, f"archive {source}")
        tensors = load_plain(weights, f"archive {source}")
        save_tensors({name.replace(*_RENAMED): tensor for name, tensor in tensors.items()}, weights)
        try:
            model = load_archive(folder, trust=trust).model
        except BiLmError as error:
            message = str(error).replace(f"directory {folder}: ", "").replace(f"{folder}: ", "")
            raise BiLmError(f"archive {source} cannot be carried over: {message}") from None
        for module in model.modules():
            if description := getattr(module, "_description", None):  # of the drop-in's embedder
                file = description["options_file"]
                description["options_file"] = sources.get(file, file)
        write_archive(model, config, output)
    say(f"wrote {output}, for projects with elmo_plugin.dropin in .allennlp_plugins")
    for place, part in Porting(config).objects("model"):
        if "options_file" in part and part.get("type") != "elmo_token_embedder":
            files = part["options_file"], part.get("weight_file")
            say(f"it needs the files of {place}, {' and '.join(map(str, files))}, where it is used")


def _stored_files(config: Config, folder: Path) -> dict[str, str]:
    """
    Makes a configuration name the files that AllenNLP 0.x stored in the archive; returns their
    sources.
    """
    sources: dict[str, str] = {}
    for key in (
        read_json_object(folder / _FILES, f"its {_FILES}") if (folder / _FILES).exists() else ()
    ):
        *parents, last = key.split(".")
        part: Any = config
        for parent in parents:  # the old keys, which lack `token_embedders` if they were flat
            part = part if isinstance(part, dict) else {}
            part = (
                part[parent] if parent in part else part.get("token_embedders", {}).get(parent, {})
            )
        copy = folder / _STORED / key
        is_inside = copy.resolve().is_relative_to(folder.resolve())
        if isinstance(part, dict) and last in part and is_inside and copy.is_file():
            sources[str(copy)] = part[last]
            part[last] = str(copy)
    return sources
