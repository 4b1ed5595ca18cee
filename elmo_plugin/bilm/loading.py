"""Loads biLMs, and compares them."""

from collections.abc import Mapping

import torch
from torch import Tensor

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.io import Source


def load_bilm(source: Source, precision: str = "float32") -> BiLm:
    """
    Loads a biLM, in evaluation mode and frozen, that is shared with no other caller.

    # Parameters

    source : `str | Path | Mapping[str, str]`
        See `read_checkpoint`.
    precision : `str`
        See `BiLm`.

    Raises `BiLmError` if the source is not a usable model.
    """
    return BiLm.load(source, precision)


def has_weights(bilm: BiLm, weights: Mapping[str, Tensor]) -> bool:
    """Returns whether the biLM has exactly these weights."""
    own = bilm.state_dict()
    return own.keys() == weights.keys() and all(
        own[name].shape == values.shape and torch.equal(own[name], values.to(own[name]))
        for name, values in weights.items()
    )
