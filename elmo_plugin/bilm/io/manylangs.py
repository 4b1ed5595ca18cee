"""
Reads the folders of ELMoForManyLangs: the sizes are in JSON files, the weights are two
`state_dict`s that torch saved.

The names on the left are theirs, those on the right ours (of `BiLm.state_dict()`, without
`token_encoder.`):

    word_emb_layer.embedding.weight                     word_embedding.weight
    char_emb_layer.embedding.weight                     character_embedding.weight
    convolutions.{i}.weight, .bias                      the same
    projection.weight, .bias                            the same

Highway layers and LSTMs are in AllenNLP's layout, see `elmo_plugin.bilm.io.layouts`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from elmo_plugin.bilm.io.layouts import TensorMapping, convert, highway_mappings, lstm_mappings
from elmo_plugin.bilm.lexicon_encoder import (
    BOUNDARIES,
    FIRST_MARK,
    LAST_MARK,
    PADDING,
    UNKNOWN,
    num_rows,
)
from elmo_plugin.bilm.options import BiLmOptions, Lexicon, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.archives import AnyPath
from elmo_plugin.common.formats.json_files import read_json
from elmo_plugin.common.formats.torch_files import load_plain

CONFIG = "config.json"
TOKEN_EMBEDDER, ENCODER = "token_embedder.pkl", "encoder.pkl"

_NEEDED_CHARACTERS = (UNKNOWN, PADDING, *BOUNDARIES.values(), FIRST_MARK, LAST_MARK)
_MAX_DIGITS = 9  # of the number of a row

# The network of the released models. Their `config.json` names this file, but it is not in their
# folders.
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
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "max_characters_per_token": 50,
    },
}


def is_model_folder(path: AnyPath) -> bool:
    """Returns whether a folder has a file that only a model of ELMoForManyLangs has."""
    return any((path / name).is_file() for name in (TOKEN_EMBEDDER, ENCODER))


def read_folder(folder: AnyPath) -> tuple[BiLmOptions, dict[str, Tensor]]:
    """
    Reads the sizes and lexicons, and the weights for `BiLm.load_state_dict`. Raises `BiLmError` if
    a file is missing or damaged, has anything but tensors, or does not match the sizes.
    """
    options = read_options(folder)
    weights: dict[str, Tensor] = {}
    for file, mappings in (
        (folder / TOKEN_EMBEDDER, _token_encoder_mappings(options)),
        (folder / ENCODER, lstm_mappings("", options.lstm)),
    ):
        weights |= convert(_read_state(file), mappings, f"weight file {file}")
    return options, weights


def _token_encoder_mappings(options: BiLmOptions) -> Iterator[TensorMapping]:
    sizes, dim = cast(LexiconCnnOptions, options.char_cnn), options.lstm.projection_dim

    def same(name: str, *shape: int, ours: str = "") -> TensorMapping:
        return TensorMapping(name, (f"token_encoder.{ours or name}",), shape)

    if sizes.words:
        shape = num_rows(sizes.words), sizes.word_dim
        yield same("word_emb_layer.embedding.weight", *shape, ours="word_embedding.weight")
    if sizes.characters:
        shape = num_rows(sizes.characters), sizes.character_dim
        yield same("char_emb_layer.embedding.weight", *shape, ours="character_embedding.weight")
        for i, (width, n_filters) in enumerate(sizes.filters):
            yield same(f"convolutions.{i}.weight", n_filters, sizes.character_dim, width)
            yield same(f"convolutions.{i}.bias", n_filters)
        yield from highway_mappings("highways._layers", sizes.n_highway, sizes.n_filters)
    yield same("projection.weight", dim, sizes.n_features)
    yield same("projection.bias", dim)


def _read_state(file: AnyPath) -> dict[str, Any]:
    if not file.is_file():
        raise BiLmError(f"weight file not found: {file}")
    state = load_plain(
        file if isinstance(file, Path) else file.read_bytes(), name=f"weight file {file}"
    )
    if not isinstance(state, dict):
        raise BiLmError(f"weight file {file}: expected a dictionary of tensors")
    return state


def read_options(folder: AnyPath) -> BiLmOptions:
    """
    Reads `config.json`, the network's configuration that it names, and the lexicons. Raises
    `BiLmError` if one of them is missing or damaged, or describes a network of another kind.
    """
    config_file = folder / CONFIG
    config_path = _value(read_json(config_file, f"file {config_file}"), "config_path", config_file)
    file, network = _read_network(folder, str(config_path))
    encoder, embedder = (
        _value(network, section, file) for section in ("encoder", "token_embedder")
    )
    for section, values, expected in (
        ("encoder", encoder, "elmo"),
        ("token_embedder", embedder, "cnn"),
    ):
        name = _value(values, "name", file)
        if name != expected:
            raise BiLmError(f"file {file}: {section}.name: expected {expected!r}, got {name!r}")
    lexicon_cnn: dict[str, Any] = {
        "characters": (),
        "words": (),
        "character_dim": embedder.get("char_dim", 0),
        "word_dim": embedder.get("word_dim", 0),
        "filters": (),
        "n_highway": 0,
        "activation": "relu",
        "max_characters_per_word": _value(embedder, "max_characters_per_token", file),
    }
    if lexicon_cnn["word_dim"]:
        lexicon_cnn["words"] = read_lexicon(folder / "word.dic", [UNKNOWN])
    if lexicon_cnn["character_dim"]:
        lexicon_cnn["characters"] = read_lexicon(folder / "char.dic", _NEEDED_CHARACTERS)
        lexicon_cnn |= {
            key: _value(embedder, key, file) for key in ("filters", "n_highway", "activation")
        }
    lstm = {**encoder, "use_skip_connections": True}
    del lstm["name"]
    return BiLmOptions.from_dict({"lexicon_cnn": lexicon_cnn, "lstm": lstm}, source=f"file {file}")


def read_lexicon(path: AnyPath, needed: Sequence[str]) -> Lexicon:
    """
    Reads lines `token<TAB>row`. White space around a token is ignored, so of a token of white space
    only the row is left: it stands for the ideographic space U+3000. Raises `BiLmError` if the file
    is missing, has other lines, or lacks a needed token.
    """
    rows: dict[str, int] = {}
    try:
        lines = read_bytes(path, f"lexicon {path}").decode("utf-8-sig").rstrip("\n").split("\n")
    except UnicodeDecodeError as error:
        raise BiLmError(f"lexicon {path}: not UTF-8 ({error})") from None
    for line_number, line in enumerate(lines, start=1):
        *tokens, row = line.strip().split("\t")
        if len(tokens) > 1 or not row.isdecimal() or len(row) > _MAX_DIGITS:
            raise BiLmError(
                f"lexicon {path}, line {line_number}: expected token<TAB>row, got {line!r}"
            )
        rows[tokens[0] if tokens else "\u3000"] = int(row)
    for token in needed:
        if token not in rows:
            raise BiLmError(f"lexicon {path}: {token} is missing")
    return tuple(rows.items())


def _read_network(folder: AnyPath, config_path: str) -> tuple[AnyPath, Any]:
    """Finds the network's file by its name, also in `configs` beside the folder; reads it."""
    name = config_path.replace("\\", "/").rpartition("/")[2]
    files: list[AnyPath] = [folder / name]
    if isinstance(folder, Path):
        files += [folder.parent / "configs" / name, Path(config_path)]
    for file in files:
        if file.is_file():
            return file, read_json(file, f"file {file}")
    if name == RELEASED_NETWORK:
        return files[0], _RELEASED
    raise BiLmError(
        f"file {folder / CONFIG}: config_path not found: tried {', '.join(map(str, files))}"
    )


def _value(section: Any, key: str, file: AnyPath) -> Any:
    if not isinstance(section, dict) or key not in section:
        raise BiLmError(f"file {file}: the key {key!r} is missing")
    return section[key]
