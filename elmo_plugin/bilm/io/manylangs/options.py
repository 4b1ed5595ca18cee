"""The sizes of a model of ELMoForManyLangs, from the JSON files of its folder."""

from pathlib import Path
from typing import Any

from elmo_plugin.bilm.char_cnn.lexicon import NEEDED_OF_CHARACTERS, NEEDED_OF_WORDS, read_lexicon
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import read_json

CONFIG = "config.json"
CHARACTERS = "char.dic"
WORDS = "word.dic"

# The network of the released models. Their `config.json` names this file, but it is not in their folders.
RELEASED_NETWORK = "cnn_50_100_512_4096_sample.json"
_RELEASED = {
    "encoder": {
        "name": "elmo",
        "projection_dim": 512,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 4096,
        "n_layers": 2,
    },
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "max_characters_per_token": 50,
    },
}


def read_options(folder: Path) -> BiLmOptions:
    """
    Reads `config.json`, the network's configuration that it names, and the lexicons. What it names by a path
    of another machine is looked for by its name, in the folder and in `configs` next to it.

    Raises `BiLmError` where one of them is missing or damaged, or describes a network of another kind.
    """
    config_file = folder / CONFIG
    config_path = _entry(read_json(config_file, f"file {config_file}"), "config_path", config_file)
    file, network = _read_network(folder, str(config_path))
    encoder, embedder = (_entry(network, section, file) for section in ("encoder", "token_embedder"))
    for section, values, expected in (("encoder", encoder, "elmo"), ("token_embedder", embedder, "cnn")):
        name = _entry(values, "name", file)
        if name != expected:
            raise BiLmError(f"file {file}: {section}.name is {name!r}, but only {expected!r} can be used")
    word_dim, character_dim = (embedder.get(key, 0) for key in ("word_dim", "char_dim"))
    lexicon_cnn = {
        "characters": read_lexicon(folder / CHARACTERS, NEEDED_OF_CHARACTERS) if character_dim else (),
        "words": read_lexicon(folder / WORDS, NEEDED_OF_WORDS) if word_dim else (),
        "character_dim": character_dim,
        "word_dim": word_dim,
        "filters": _entry(embedder, "filters", file) if character_dim else (),
        "n_highway": _entry(embedder, "n_highway", file) if character_dim else 0,
        "activation": _entry(embedder, "activation", file) if character_dim else "relu",
        "max_characters_per_word": _entry(embedder, "max_characters_per_token", file),
    }
    sizes = {key: value for key, value in encoder.items() if key != "name"}
    lstm = {**sizes, "use_skip_connections": True}
    return BiLmOptions.from_dict({"lexicon_cnn": lexicon_cnn, "lstm": lstm}, source=f"file {file}")


def _read_network(folder: Path, config_path: str) -> tuple[Path, Any]:
    """Returns the file of the network's configuration, and what is in it."""
    name = config_path.replace("\\", "/").rpartition("/")[2]
    files = [folder / name, folder.parent / "configs" / name, Path(config_path)]
    for file in files:
        if file.is_file():
            return file, read_json(file, f"file {file}")
    if name == RELEASED_NETWORK:
        return files[0], _RELEASED
    places = ", ".join(map(str, files))
    raise BiLmError(f"file {folder / CONFIG}: its config_path is not there: looked for {places}")


def _entry(section: Any, key: str, file: Path) -> Any:
    if not isinstance(section, dict) or key not in section:
        raise BiLmError(f"file {file}: the key {key!r} is missing")
    return section[key]
