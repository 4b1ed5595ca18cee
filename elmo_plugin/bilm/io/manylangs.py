"""
Reads the folders of ELMoForManyLangs: the sizes are in JSON files, the weights are two
`state_dict`s that torch saved.

Highway layers and LSTMs are in AllenNLP's layout, see `elmo_plugin.bilm.io.layouts`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from elmo_plugin.bilm.io.layouts import TensorMapping, convert, highway_mappings, lstm_mappings
from elmo_plugin.bilm.lexicon import (
    MAX_ROW_DIGITS,
    NEEDED_CHARACTERS,
    NEEDED_WORDS,
    Lexicon,
    check_tokens,
    num_rows,
)
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes
from elmo_plugin.common.formats.archives import AnyPath
from elmo_plugin.common.formats.json_files import read_json
from elmo_plugin.common.formats.torch_files import load_state

CONFIG = "config.json"
TOKEN_EMBEDDER = "token_embedder.pkl"
ENCODER = "encoder.pkl"

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
    weights = _read_weights(folder / TOKEN_EMBEDDER, _token_encoder_mappings(options))
    weights |= _read_weights(folder / ENCODER, lstm_mappings("", options.lstm))
    return options, weights


def _read_weights(file: AnyPath, mappings: Iterable[TensorMapping]) -> dict[str, Tensor]:
    """Reads a weight file, and converts its tensors to ours."""
    name = f"weight file {file}"
    source: Path | bytes
    if isinstance(file, Path):
        source = file
    else:  # in a zip archive
        source = read_bytes(file, name)
    return convert(load_state(source, name), mappings, name)


def _token_encoder_mappings(options: BiLmOptions) -> Iterator[TensorMapping]:
    """Yields the mappings of all tensors of a token encoder."""
    sizes = cast(LexiconCnnOptions, options.char_cnn)
    ours = "token_encoder"
    if sizes.words:
        yield TensorMapping(
            "word_emb_layer.embedding.weight",
            (f"{ours}.word_embedding.weight",),
            (num_rows(sizes.words), sizes.word_dim),
        )
    if sizes.characters:
        yield TensorMapping(
            "char_emb_layer.embedding.weight",
            (f"{ours}.character_embedding.weight",),
            (num_rows(sizes.characters), sizes.character_dim),
        )
        for number, (width, n_filters) in enumerate(sizes.filters):
            name = f"convolutions.{number}"
            shape = (n_filters, sizes.character_dim, width)
            yield TensorMapping(f"{name}.weight", (f"{ours}.{name}.weight",), shape)
            yield TensorMapping(f"{name}.bias", (f"{ours}.{name}.bias",), (n_filters,))
        yield from highway_mappings("highways._layers", sizes.n_highway, sizes.n_filters)
    dim = options.lstm.projection_dim
    yield TensorMapping(
        "projection.weight", (f"{ours}.projection.weight",), (dim, sizes.n_features)
    )
    yield TensorMapping("projection.bias", (f"{ours}.projection.bias",), (dim,))


def read_options(folder: AnyPath) -> BiLmOptions:
    """
    Reads `config.json`, the network's configuration that it names, and the lexicons. Raises
    `BiLmError` if one of them is missing or damaged, or describes a network of another kind.
    """
    config_file = folder / CONFIG
    config = read_json(config_file, f"file {config_file}")
    config_path = _value(config, "config_path", config_file)
    network_file, network = _read_network(folder, str(config_path))
    encoder = _section(network, "encoder", kind="elmo", file=network_file)
    embedder = _section(network, "token_embedder", kind="cnn", file=network_file)
    lstm = dict(encoder)
    del lstm["name"]  # the kind, no option of ours
    lstm["use_skip_connections"] = True  # ELMoForManyLangs always has them
    sections = {"lexicon_cnn": _lexicon_cnn(folder, embedder, network_file), "lstm": lstm}
    return BiLmOptions.from_dict(sections, source=f"file {network_file}")


def _lexicon_cnn(folder: AnyPath, embedder: dict[str, Any], file: AnyPath) -> dict[str, Any]:
    """
    Reads the lexicons, and returns the arguments of `LexiconCnnOptions`: the lexicons and the sizes
    in the section `token_embedder` of the network's `file`.
    """
    # The entries () and 0 remain if the network reads no words, or no characters.
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
        lexicon_cnn["words"] = read_lexicon(folder / "word.dic", NEEDED_WORDS)
    if lexicon_cnn["character_dim"]:
        lexicon_cnn["characters"] = read_lexicon(folder / "char.dic", NEEDED_CHARACTERS)
        for key in ("filters", "n_highway", "activation"):
            lexicon_cnn[key] = _value(embedder, key, file)
    return lexicon_cnn


def read_lexicon(path: AnyPath, needed: Sequence[str]) -> Lexicon:
    """
    Reads lines `token<TAB>row`, ignoring white space around each line. If only the row is left of a
    line, its token was white space itself. ELMoForManyLangs reads it as the ideographic space
    U+3000, and so does this function.

    Raises `BiLmError` if the file is missing, has other lines, or does not contain a token of
    `needed`.
    """
    rows: dict[str, int] = {}
    try:
        text = read_bytes(path, f"lexicon {path}").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BiLmError(f"lexicon {path}: not UTF-8 ({error})") from None
    lines = text.rstrip("\n").split("\n")
    for line_number, line in enumerate(lines, start=1):
        fields = line.strip().split("\t")
        row = fields[-1]
        if len(fields) > 2 or not row.isdecimal() or len(row) > MAX_ROW_DIGITS:
            raise BiLmError(
                f"lexicon {path}, line {line_number}: expected token<TAB>row, got {line!r}"
            )
        if len(fields) == 2:
            token = fields[0]
        else:
            token = "\u3000"
        rows[token] = int(row)
    check_tokens(f"lexicon {path}", rows, needed)
    return tuple(rows.items())


def _read_network(folder: AnyPath, config_path: str) -> tuple[AnyPath, Any]:
    """
    Reads the file that describes the network, and returns its path and its content. `config_path`
    is where the file was on the machine of the training, so only its name is used: the file is
    looked up in the folder, and in `configs` beside the folder. The file of the released models is
    not needed, because its content is known. Raises `BiLmError` if the file is not found.
    """
    _, _, name = config_path.replace("\\", "/").rpartition("/")  # perhaps a path of Windows
    candidates: list[AnyPath] = [folder / name]
    if isinstance(folder, Path):  # a folder in a zip archive has nothing beside it
        candidates.append(folder.parent / "configs" / name)
    for file in candidates:
        if file.is_file():
            return file, read_json(file, f"file {file}")
    if name == RELEASED_NETWORK:
        return candidates[0], _RELEASED
    tried = ", ".join(str(file) for file in candidates)
    raise BiLmError(f"file {folder / CONFIG}: config_path not found: tried {tried}")


def _section(network: Any, section: str, kind: str, file: AnyPath) -> Any:
    """
    Returns a section of a network's file. Raises `BiLmError` unless its `name`, the kind of module
    that it describes, is `kind`.
    """
    values = _value(network, section, file)
    name = _value(values, "name", file)
    if name != kind:
        raise BiLmError(f"file {file}: {section}.name: expected {kind!r}, got {name!r}")
    return values


def _value(section: Any, key: str, file: AnyPath) -> Any:
    """Returns a value of a section. Raises `BiLmError`, naming the file, if the key is missing."""
    if not isinstance(section, dict) or key not in section:
        raise BiLmError(f"file {file}: the key {key!r} is missing")
    return section[key]
