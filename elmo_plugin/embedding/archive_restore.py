"""Restores the biLM of a trained model from the model's archive, with none of the files that it came from."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io import WEIGHTS_NAMES, check_weights
from elmo_plugin.common.formats.json_tensor import json_from_tensor, json_to_tensor
from elmo_plugin.common.formats.torch_files import load_plain

EXTRA_STATE = "_extra_state"  # torch's name for what a module stores with its tensors
BILM = "_elmo.bilm."  # where a token embedder has its biLM


class EmbedderMetadata(NamedTuple):
    """
    Describes a token embedder; stored with its weights.

    source: what the configuration calls the biLM
    options: the biLM's sizes, as in `options.json`
    layers: the numbers of the layers that are mixed
    """

    source: str | dict[str, str]
    options: dict[str, Any]
    layers: list[int]

    def to_tensor(self) -> Tensor:
        return json_to_tensor(self._asdict())

    @classmethod
    def from_tensor(cls, content: Tensor) -> "EmbedderMetadata":
        """Reads what `to_tensor` gave. Raises `BiLmError` where this is something else."""
        what = "what is stored with the weights of an ELMo embedder"
        metadata = json_from_tensor(content, what)
        if not isinstance(metadata, dict) or set(metadata) != set(cls._fields):
            raise BiLmError(f"{what} is not {', '.join(cls._fields)}, but {metadata!r}")
        layers = metadata["layers"]
        if not isinstance(layers, list) or not all(type(layer) is int and layer >= 0 for layer in layers):
            raise BiLmError(f"{what} has layers that are no numbers of layers, but {layers!r}")
        return cls(**metadata)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a token embedder of a trained model from nothing but the model's weights.

    # Parameters

    folder : `str | PathLike | None`
        Where an archive was unpacked, or the directory of a training.
    source : `str | dict[str, str]`
        What the configuration calls the biLM.
    precision : `str`
        See `BiLm`.

    # Returns

    `BiLm | None`
        `None` where the folder has no weights (the training begins), or weights that do not have this biLM.
    """
    state = stored_state(folder)
    found = None if state is None else _find(state, source)
    if found is None:
        return None
    options, weights = found
    return BiLm.from_weights(options, weights.items(), precision)


def stored_state(folder: str | PathLike[str] | None) -> dict[str, Any] | None:
    """Reads the weights of a trained model; `None` where the folder has none."""
    files = [Path(folder) / name for name in WEIGHTS_NAMES] if folder is not None else []
    file = next(filter(Path.is_file, files), None)
    if file is None:
        return None
    try:
        return load_plain(file, name=str(file))
    except BiLmError:  # AllenNLP, which reads the file next, says what it makes of it
        return None


def _find(
    state: Mapping[str, Tensor], source: str | dict[str, str]
) -> tuple[BiLmOptions, dict[str, Tensor]] | None:
    """Returns the sizes and the weights of the first biLM that came from `source`."""
    for name in state:
        if not name.endswith(EXTRA_STATE):
            continue
        prefix = name.removesuffix(EXTRA_STATE) + BILM
        weights = {key.removeprefix(prefix): state[key] for key in state if key.startswith(prefix)}
        if weights and (metadata := EmbedderMetadata.from_tensor(state[name])).source == source:
            options = BiLmOptions.from_dict(metadata.options, name)
            check_weights(weights, options, prefix.removesuffix("."))
            return options, weights
    return None
