"""
The weights of a model of ELMoForManyLangs: two `state_dict`s, saved by torch.

The names on the left are theirs, those on the right ours (of `BiLm.state_dict()`, without `token_encoder.`):

    word_emb_layer.embedding.weight                     word_embedding.weight
    char_emb_layer.embedding.weight                     character_embedding.weight
    convolutions.{i}.weight, .bias                      the same
    highways._layers.{k}.weight, .bias                  highways.{k}.transform, .carry, one above the other
    projection.weight, .bias                            the same

    {forward,backward}_layer_{l}.input_linearity        {forward,backward}_lm.layers.{l}.input_weight
    ….state_linearity.weight, .bias                     ….recurrent_weight, .bias
    ….state_projection                                  ….projection_weight

`elmo_plugin.bilm.io.allennlp_layout` tells how highway layers and gates differ.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from torch import Tensor

from elmo_plugin.bilm.char_cnn.lexicon import number_of_rows
from elmo_plugin.bilm.io.allennlp_layout import bias_from_allennlp, split_highway, swap_gates
from elmo_plugin.bilm.io.manylangs_options import read_options
from elmo_plugin.bilm.io.training_archive import load_plain
from elmo_plugin.bilm.options import BiLmOptions, LexiconCnnOptions, LstmOptions
from elmo_plugin.common.errors import BiLmError

TOKEN_EMBEDDER = "token_embedder.pkl"
ENCODER = "encoder.pkl"


class _Stored(NamedTuple):
    """A tensor of theirs: its name and shape, and those of ours that it holds."""

    name: str
    shape: tuple[int, ...]
    ours: tuple[str, ...]


def is_model_folder(path: Path) -> bool:
    """Whether it has a file that only a model of ELMoForManyLangs has."""
    return any((path / name).is_file() for name in (TOKEN_EMBEDDER, ENCODER))


def model_files(folder: Path) -> list[Path]:
    """All files that the model may be made of."""
    return sorted([*folder.iterdir(), *folder.parent.glob("configs/*.json")])


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
    for file, tensors in (
        (folder / TOKEN_EMBEDDER, _of_token_embedder(options)),
        (folder / ENCODER, _of_encoder(options.lstm)),
    ):
        state = _read_state(file)
        for stored in tensors:
            weights |= zip(stored.ours, _to_ours(stored, _take(state, stored, file)), strict=True)
        if state:
            raise BiLmError(f"weight file {file}: has {next(iter(state))}, which the sizes do not ask for")
    return options, weights


def _of_token_embedder(options: BiLmOptions) -> Iterator[_Stored]:
    sizes, features = cast(LexiconCnnOptions, options.char_cnn), 0

    def stored(name: str, shape: tuple[int, ...], *ours: str) -> _Stored:
        return _Stored(name, shape, tuple(f"token_encoder.{name}" for name in ours))

    if sizes.words:
        shape = (number_of_rows(sizes.words), sizes.word_dim)
        yield stored("word_emb_layer.embedding.weight", shape, "word_embedding.weight")
        features += sizes.word_dim
    if sizes.characters:
        shape = (number_of_rows(sizes.characters), sizes.character_dim)
        yield stored("char_emb_layer.embedding.weight", shape, "character_embedding.weight")
        for i, (width, number) in enumerate(sizes.filters):
            name = f"convolutions.{i}"
            yield stored(f"{name}.weight", (number, sizes.character_dim, width), f"{name}.weight")
            yield stored(f"{name}.bias", (number,), f"{name}.bias")
        square = (2 * sizes.n_filters, sizes.n_filters)
        for k in range(sizes.n_highway):
            for kind, shape_of_both in (("weight", square), ("bias", square[:1])):
                ours = (f"highways.{k}.transform.{kind}", f"highways.{k}.carry.{kind}")
                yield stored(f"highways._layers.{k}.{kind}", shape_of_both, *ours)
        features += sizes.n_filters
    yield stored("projection.weight", (options.lstm.projection_dim, features), "projection.weight")
    yield stored("projection.bias", (options.lstm.projection_dim,), "projection.bias")


def _of_encoder(sizes: LstmOptions) -> Iterator[_Stored]:
    for direction in ("forward", "backward"):
        for number in range(sizes.n_layers):
            layer, ours = f"{direction}_layer_{number}", f"{direction}_lm.layers.{number}"
            square = (4 * sizes.dim, sizes.projection_dim)
            yield _Stored(f"{layer}.input_linearity.weight", square, (f"{ours}.input_weight",))
            yield _Stored(f"{layer}.state_linearity.weight", square, (f"{ours}.recurrent_weight",))
            yield _Stored(f"{layer}.state_linearity.bias", square[:1], (f"{ours}.bias",))
            projection = (sizes.projection_dim, sizes.dim)
            yield _Stored(f"{layer}.state_projection.weight", projection, (f"{ours}.projection_weight",))


def _read_state(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise BiLmError(f"weight file {file}: there is no such file")
    state = load_plain(file, name=f"weight file {file}")
    if not isinstance(state, dict):
        raise BiLmError(f"weight file {file}: it holds no tensors with names")
    return state


def _take(state: dict[str, Any], stored: _Stored, file: Path) -> Tensor:
    values = state.pop(stored.name, None)
    if not isinstance(values, Tensor):
        raise BiLmError(f"weight file {file}: the tensor {stored.name} is missing, which the sizes ask for")
    if values.shape != stored.shape:
        raise BiLmError(
            f"weight file {file}: the tensor {stored.name} has the shape {tuple(values.shape)}, "
            f"but the sizes ask for {stored.shape}"
        )
    return values.float()


def _to_ours(stored: _Stored, values: Tensor) -> tuple[Tensor, ...]:
    """From their arrangement to the model's."""
    if stored.name.startswith("highways"):
        return split_highway(values)
    if stored.name.endswith("_linearity.bias"):
        return (bias_from_allennlp(values),)
    return (swap_gates(values) if "_linearity" in stored.name else values,)
