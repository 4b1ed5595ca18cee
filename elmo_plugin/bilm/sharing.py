"""Frozen biLMs that several modules hold: one copy of the same weights, which none of them changes."""

import copy
import threading
from collections.abc import Callable, Hashable, Mapping
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.kept import fingerprint, need_gradient

_lock = threading.Lock()
_shared: WeakKeyDictionary[BiLm, Hashable] = WeakKeyDictionary()  # and what each was when it was loaded


def load_shared(source: Hashable, load: Callable[[], BiLm]) -> BiLm:
    """The biLM that an earlier call for this `source` gave, if it is held by somebody and as it was then."""
    with _lock:
        for bilm, condition in _shared.items():
            if condition == (source, _condition(bilm)):
                return bilm
        bilm = load().requires_grad_(False)
        condition = _condition(bilm)
        if condition is not None:
            _shared[bilm] = (source, condition)
        return bilm


def shared_with_weights(bilm: BiLm, weights: Mapping[str, Tensor]) -> BiLm:
    """
    What to load `weights` into, in place of a biLM that others may hold too: `bilm` itself where it has these
    very weights, else another of its kind that has them, else a copy.
    """
    with _lock:
        for held in (bilm, *_shared):
            if _kind(held) == _kind(bilm) and _has(held, weights):
                return held
        own = copy.deepcopy(bilm)
        try:
            own.load_state_dict(weights)
        except RuntimeError:
            return own  # weights that do not fit: whoever loads them says so
        _shared[own] = None
        return own


def _condition(bilm: BiLm) -> Hashable | None:
    weights = fingerprint(bilm.parameters())
    return None if weights is None else (weights, bilm.precision, need_gradient(bilm.parameters()))


def _kind(bilm: BiLm) -> Hashable:
    tensors = frozenset((parameter.dtype, parameter.device) for parameter in bilm.parameters())
    return bilm.options, bilm.precision, tensors, need_gradient(bilm.parameters())


def _has(bilm: BiLm, weights: Mapping[str, Tensor]) -> bool:
    own = bilm.state_dict()
    return own.keys() == weights.keys() and all(
        own[name].shape == values.shape and torch.equal(own[name], values.to(own[name]))
        for name, values in weights.items()
    )
