"""What tells the content of a biLM."""

import json
from hashlib import blake2b
from itertools import chain
from weakref import WeakKeyDictionary

import torch

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.kept import Kept

VERSION = b"elmo_plugin 1"  # to be raised when the same biLM comes to give other numbers

_digests: WeakKeyDictionary[BiLm, Kept[bytes]] = WeakKeyDictionary()


def bilm_digest(bilm: BiLm) -> bytes:
    """
    Tells this biLM from all others, by its options, its precision and the bytes of its weights. It is made
    again when the weights have changed, as far as torch counts that (see `kept.fingerprint`).
    """
    kept = _digests.setdefault(bilm, Kept())
    return kept.get(bilm.parameters(), bilm.precision, lambda: _digest(bilm))


def _digest(bilm: BiLm) -> bytes:
    digest = blake2b(digest_size=32, person=VERSION)
    digest.update(json.dumps([bilm.options.to_dict(), bilm.precision], sort_keys=True).encode())
    for name, tensor in chain(bilm.named_parameters(), bilm.named_buffers()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.digest()
