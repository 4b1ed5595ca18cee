"""Reads ELMo from the weights of a trained model: its biLM, and its description."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, BiLmOptions
from elmo_plugin.bilm.io import BUNDLED_MODELS, check_weights, weights_file
from elmo_plugin.common.formats.torch_files import (
    EXTRA_STATE,
    entries_from_tensor,
    json_to_tensor,
    load_state,
)

METADATA_NAME = "the metadata of ELMo in the weights"  # in messages


class ElmoMetadata(NamedTuple):
    """
    Describes a `ContextualElmo`; stored with its weights.

    source: the biLM's name in the configuration
    options: the biLM's sizes, as in `options.json`
    layers: for each placement, the numbers of the layers that are mixed
    digest: stored in place of the weights if the biLM is frozen and comes with this package;
        otherwise empty
    version: the version of this package
    """

    source: str | dict[str, str]
    options: dict[str, Any]
    layers: dict[str, list[int]]
    digest: str
    version: str

    def to_tensor(self) -> Tensor:
        """Returns the description in a form that is stored with weights."""
        return json_to_tensor(self._asdict())

    @classmethod
    def from_tensor(cls, content: Tensor) -> "ElmoMetadata":
        """
        Reads a description from the tensor that was stored with the weights. Raises `BiLmError` if
        the tensor does not contain one. Does not check the options: `BiLmOptions.from_dict` does.
        """
        metadata = entries_from_tensor(content, METADATA_NAME, keys=cls._fields)
        layers = metadata["layers"]
        if not _are_layers_of_placements(layers):
            raise BiLmError(f"{METADATA_NAME}: expected lists of layers, got {layers!r}")
        return cls(**metadata)


def _are_layers_of_placements(value: object) -> bool:
    """Returns whether a value read from JSON has a list of layer numbers for each placement."""
    if not isinstance(value, dict):
        return False
    return all(_are_layer_numbers(numbers) for numbers in value.values())


def _are_layer_numbers(value: object) -> bool:
    """Returns whether a value read from JSON is a list of layer numbers."""
    if not isinstance(value, list):
        return False
    # `isinstance` would take JSON's `true` for an integer.
    return all(type(number) is int and number >= 0 for number in value)


def archived_bilm(
    folder: str | PathLike[str] | None, source: str | dict[str, str], precision: str
) -> BiLm | None:
    """
    Makes the biLM of a trained model from the weights in `folder`. `source` is its name in the
    configuration. The biLM computes in `precision`. Returns `None` if the folder does not contain
    weights yet, as at the start of training, or if the biLM comes with this package and is not
    stored.

    Raises `BiLmError` if the weights lack a biLM that does not come with this package, because an
    archive must neither read nor download files.
    """
    state = stored_state(folder)
    if state is None:
        return None
    for prefix, weights in find_bilms(state, marker=EXTRA_STATE, bilm_path="bilm."):
        if not weights:
            # The extra state belongs to another module, such as word vectors, or to a biLM that
            # comes with this package and is not stored.
            continue
        metadata_name = prefix + EXTRA_STATE
        metadata = ElmoMetadata.from_tensor(state[metadata_name])
        if metadata.source == source:
            options = BiLmOptions.from_dict(metadata.options, source=metadata_name)
            check_weights(weights, options, name=f"{prefix}bilm")
            return BiLm(options, precision=precision, weights=weights.items())
    if source not in BUNDLED_MODELS:
        raise BiLmError(f"{folder}: the biLM {source} is not in the weights")
    return None


def stored_state(folder: str | PathLike[str] | None) -> Mapping[str, Any] | None:
    """
    Reads the weights of a trained model from its folder, an extracted archive or a serialization
    directory. Returns `None` without a folder, or if the folder does not contain weights yet, as at
    the start of training. Raises `BiLmError` if the weights are damaged.
    """
    if folder is None:
        return None
    file = weights_file(Path(folder))
    if file is None:
        return None
    return load_state(file, name=str(file))


def find_bilms(
    state: Mapping[str, Any], marker: str, bilm_path: str
) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """
    Finds the modules that may contain a biLM in a `state_dict`. Each of them has an entry whose
    name ends in `marker`. The biLM's path within the module is `bilm_path`, such as "bilm.".

    Yields the prefix of each module's names, such as "encoder.elmo.", and the weights of its biLM
    under their names in the biLM. The weights are empty if the module does not contain a biLM.
    """
    for name in state:
        if not name.endswith(marker):
            continue
        prefix = name.removesuffix(marker)
        bilm_prefix = prefix + bilm_path
        weights = {}
        for parameter in state:
            if parameter.startswith(bilm_prefix):
                weights[parameter.removeprefix(bilm_prefix)] = state[parameter]
        yield prefix, weights
