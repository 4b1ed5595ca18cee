"""Loads biLMs. Frozen ones that are shared are in memory once."""

import threading
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.inference_weights import parameter_versions
from elmo_plugin.bilm.io import Source, read_checkpoint, source_files
from elmo_plugin.bilm.options import BiLmOptions

Kind = TypeVar("Kind", bound=BiLm)

# The one cache of biLMs, with what each was when it was loaded: what is loaded again while somebody holds it
# is not read again. Nothing but memory depends on it: a biLM that was changed is not given out again.
_shared: WeakKeyDictionary[BiLm, Hashable] = WeakKeyDictionary()
_lock = threading.Lock()


def load_bilm(source: Source, precision: str = "float32", shared: bool = False) -> BiLm:
    """
    Loads a biLM, in evaluation mode and frozen.

    # Parameters

    source : `str | Path | Mapping[str, str]`
        See `read_checkpoint`.
    precision : `str`
        See `BiLm`.
    shared : `bool`
        Whether others may get the same object: who asks for the same unchanged files again, while somebody
        holds it and nobody has changed or moved it. Whoever wants to change it takes a copy.

    Raises `BiLmError` where the source is no usable model.
    """
    return load_bilm_as(BiLm, source, precision, shared)


def load_bilm_as(kind: type[Kind], source: Source, precision: str = "float32", shared: bool = False) -> Kind:
    """Does what `load_bilm` does for a subclass of `BiLm`. Objects of another class are never given out."""

    def load() -> Kind:
        return kind.from_checkpoint(read_checkpoint(source, with_softmax=False), precision)

    if not shared:
        return load()
    files = (*map(_identity, source_files(source)), precision)
    with _lock:
        for held, loaded_as in _shared.items():
            versions = parameter_versions(held.parameters())
            is_unchanged = versions is not None and loaded_as == (files, versions)
            if is_unchanged and type(held) is kind and held.precision == precision:
                return held
        bilm = load()
        _shared[bilm] = (files, parameter_versions(bilm.parameters()))
        return bilm


def bilm_with_weights(
    options: BiLmOptions,
    weights: Mapping[str, Tensor],
    precision: str,
    like: Tensor | None = None,
    kind: type[Kind] = BiLm,  # type: ignore[assignment]
) -> Kind:
    """
    Returns a frozen biLM that has these weights: one that was loaded before and is still held, or a new one.
    So the placements in an archive, and the members of an ensemble, have one biLM in memory.

    # Parameters

    options : `BiLmOptions`
        The sizes.
    weights : `Mapping[str, Tensor]`
        As `state_dict()` of this kind of biLM gives them.
    precision : `str`
        See `BiLm`.
    like : `Tensor | None`
        Has the type and the device of the biLM; by default float32, on the CPU.
    kind : `type[BiLm]`
        The class of the biLM.

    Raises `BiLmError` where the weights do not fit the options.
    """
    like = torch.empty(0) if like is None else like
    with _lock:
        for held in _shared:
            weight = held.token_encoder.projection.weight
            is_alike = (weight.dtype, weight.device) == (like.dtype, like.device) and not held.is_trained
            is_alike = is_alike and (held.precision, held.options) == (precision, options)
            if is_alike and type(held) is kind and has_weights(held, weights):
                return held
        bilm = kind.from_weights(options, weights.items(), precision).to(like)
        _shared[bilm] = None
        return bilm


def has_weights(bilm: BiLm, weights: Mapping[str, Tensor]) -> bool:
    """Tells whether the biLM has these very weights."""
    own = bilm.state_dict()
    return own.keys() == weights.keys() and all(
        own[name].shape == values.shape and torch.equal(own[name], values.to(own[name]))
        for name, values in weights.items()
    )


def _identity(file: Path) -> Hashable:
    """Returns what changes when the file is written; `None` where there is none."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return file.resolve(), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
