"""Restores the biLM of a trained model from the model's archive, without the files that it came from."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io import WEIGHTS_NAMES, check_weights
from elmo_plugin.common.formats.torch_files import json_from_tensor, json_to_tensor, load_plain

EXTRA_STATE = "_extra_state"  # torch's name for what a module stores besides its tensors
BILM = "_elmo.bilm."  # where a token embedder has its biLM


class EmbedderMetadata(NamedTuple):
    """
    Describes a token embedder; stored with its weights.

    source: the biLM's name in the configuration
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
        """Reads what `to_tensor` returned. Raises `BiLmError` if it is something else."""
        what = "what is stored with the weights of an ELMo embedder"
        metadata = json_from_tensor(content, what)
        if not isinstance(metadata, dict) or set(metadata) != set(cls._fields):
            raise BiLmError(f"{what} is not {', '.join(cls._fields)}, but {metadata!r}")
        layers = metadata["layers"]
        if not isinstance(layers, list) or not all(type(layer) is int and layer >= 0 for layer in layers):
            raise BiLmError(f"{what} has layers that are not numbers of layers, but {layers!r}")
        return cls(**metadata)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a token embedder of a trained model from the model's weights.

    # Parameters

    folder : `str | PathLike | None`
        Where an archive was unpacked, or the directory of a training.
    source : `str | dict[str, str]`
        The biLM's name in the configuration.
    precision : `str`
        See `BiLm`.

    # Returns

    `BiLm | None`
        `None` if the folder has no weights (the training begins), or weights without this biLM.
    """
    state = stored_state(folder)
    for embedder, weights in find_bilms(state, EXTRA_STATE, BILM):
        metadata = EmbedderMetadata.from_tensor(state[embedder + EXTRA_STATE]) if weights else None
        if metadata is not None and metadata.source == source:
            options = BiLmOptions.from_dict(metadata.options, embedder + EXTRA_STATE)
            check_weights(weights, options, (embedder + BILM).removesuffix("."))
            return BiLm.from_weights(options, weights.items(), precision)
    return None


def stored_state(folder: str | PathLike[str] | None) -> Mapping[str, Any]:
    """Reads the weights of a trained model. They are empty if the folder has no weights, or damaged ones."""
    files = [Path(folder) / name for name in WEIGHTS_NAMES] if folder is not None else []
    file = next(filter(Path.is_file, files), None)
    try:
        return {} if file is None else load_plain(file, name=str(file))
    except BiLmError:  # AllenNLP, which reads the file next, reports it
        return {}


def find_bilms(state: Mapping[str, Any], marker: str, path: str) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """
    Finds the token embedders in the weights of a model, by an entry that each has.

    # Parameters

    state : `Mapping[str, Any]`
        A `state_dict`.
    marker, path : `str`
        The end of the name of that entry, and where an embedder has its biLM.

    # Returns

    `Iterator[tuple[str, dict[str, Tensor]]]`
        The name of each embedder, and the weights of its biLM.
    """
    for name in state:
        if name.endswith(marker):
            embedder = name.removesuffix(marker)
            start = embedder + path
            yield embedder, {key.removeprefix(start): state[key] for key in state if key.startswith(start)}
