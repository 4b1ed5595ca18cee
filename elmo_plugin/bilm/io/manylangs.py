"""
Models of ELMoForManyLangs, read from their folders: the sizes are in JSON files, the weights are two
`state_dict`s, saved by torch.

The names on the left are theirs, those on the right ours (of `BiLm.state_dict()`, without `token_encoder.`):

    word_emb_layer.embedding.weight                     word_embedding.weight
    char_emb_layer.embedding.weight                     character_embedding.weight
    convolutions.{i}.weight, .bias                      the same
    highways._layers.{k}.weight, .bias                  highways.{k}.transform, .carry, one above the other
    projection.weight, .bias                            the same

    {forward,backward}_layer_{l}.input_linearity        {forward,backward}_lm.layers.{l}.input_weight
    ….state_linearity.weight, .bias                     ….recurrent_weight, .bias
    ….state_projection                                  ….projection_weight

`elmo_plugin.bilm.io.allennlp_layout` describes how highway layers and gates differ.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from elmo_plugin.bilm.char_cnn.lexicon import (
    NEEDED_OF_CHARACTERS,
    NEEDED_OF_WORDS,
    number_of_rows,
    read_lexicon,
)
from elmo_plugin.bilm.io.allennlp_layout import Entry, highway_entries, lstm_entries
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import read_json
from elmo_plugin.common.formats.torch_files import check_finite, load_plain

CONFIG = "config.json"
CHARACTERS = "char.dic"
WORDS = "word.dic"
TOKEN_EMBEDDER = "token_embedder.pkl"
ENCODER = "encoder.pkl"

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


def is_model_folder(path: Path) -> bool:
    """Whether it has a file that only a model of ELMoForManyLangs has."""
    return any((path / name).is_file() for name in (TOKEN_EMBEDDER, ENCODER))


def read_folder(folder: Path) -> tuple[BiLmOptions, dict[str, Tensor]]:
    """
    # Parameters

    folder : `Path`
        With `config.json`, `char.dic`, `word.dic`, `token_embedder.pkl` and `encoder.pkl`.

    # Returns

    `BiLmOptions`, `dict[str, Tensor]`
        The sizes and lexicons, and the weights for `BiLm.load_state_dict`.

    Raises `BiLmError` where a file is missing or damaged, holds other things than tensors, or does not fit
    the sizes.
    """
    options = read_options(folder)
    weights: dict[str, Tensor] = {}
    for file, entries in (
        (folder / TOKEN_EMBEDDER, _token_encoder_entries(options)),
        (folder / ENCODER, lstm_entries("", options.lstm)),
    ):
        state = _read_state(file)
        for entry in entries:
            weights |= entry.converted(_take(state, entry, file))
        if state:
            raise BiLmError(f"weight file {file}: has {next(iter(state))}, which the sizes do not ask for")
    return options, weights


def _token_encoder_entries(options: BiLmOptions) -> Iterator[Entry]:
    sizes, dim = cast(LexiconCnnOptions, options.char_cnn), options.lstm.projection_dim

    def stored(name: str, shape: tuple[int, ...], ours: str) -> Entry:
        return Entry(name, (f"token_encoder.{ours}",), shape)

    if sizes.words:
        shape = (number_of_rows(sizes.words), sizes.word_dim)
        yield stored("word_emb_layer.embedding.weight", shape, "word_embedding.weight")
    if sizes.characters:
        shape = (number_of_rows(sizes.characters), sizes.character_dim)
        yield stored("char_emb_layer.embedding.weight", shape, "character_embedding.weight")
        for i, (width, number) in enumerate(sizes.filters):
            name = f"convolutions.{i}"
            yield stored(f"{name}.weight", (number, sizes.character_dim, width), f"{name}.weight")
            yield stored(f"{name}.bias", (number,), f"{name}.bias")
        yield from highway_entries("highways._layers", sizes.n_highway, sizes.n_filters)
    yield stored("projection.weight", (dim, sizes.n_features), "projection.weight")
    yield stored("projection.bias", (dim,), "projection.bias")


def _read_state(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise BiLmError(f"weight file {file}: there is no such file")
    state = load_plain(file, name=f"weight file {file}")
    if not isinstance(state, dict):
        raise BiLmError(f"weight file {file}: it holds no tensors with names")
    return state


def _take(state: dict[str, Any], entry: Entry, file: Path) -> Tensor:
    values = state.pop(entry.theirs, None)
    if not isinstance(values, Tensor):
        raise BiLmError(f"weight file {file}: the tensor {entry.theirs} is missing, which the sizes ask for")
    if values.shape != entry.shape:
        raise BiLmError(
            f"weight file {file}: the tensor {entry.theirs} has the shape {tuple(values.shape)}, "
            f"but the sizes ask for {entry.shape}"
        )
    return check_finite(f"weight file {file}: the tensor {entry.theirs}", values.float())


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
