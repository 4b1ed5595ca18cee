"""What a sentence is found by in a cache: its characters, and the content of the biLM."""

import json
from hashlib import blake2b
from itertools import chain
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.kept import Kept

VERSION = b"elmo_plugin 1"  # to be raised when the same biLM comes to give other numbers
KEY_SIZE = 16

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


def sentence_keys(character_ids: Tensor, bilm_digest: bytes, dtype: str) -> tuple[list[bytes], list[int]]:
    """
    # Parameters

    character_ids : `Tensor`
        Shape (batch, time, characters), rows of zeros behind a sentence's last word. Their type does not
        matter, and neither does the number of such rows.
    bilm_digest : `bytes`
        Of the biLM that reads them.
    dtype : `str`
        What its vectors are rounded to.

    # Returns

    `list[bytes]`, `list[int]`
        Of each sentence the key and the number of words.
    """
    ids = character_ids.to("cpu", torch.int32).contiguous().numpy()
    bytes_per_word = ids.shape[-1] * ids.itemsize
    keys, lengths = [], []
    for sentence in ids:
        content = sentence.tobytes().rstrip(b"\0")
        keys.append(blake2b(content, key=bilm_digest, person=dtype.encode(), digest_size=KEY_SIZE).digest())
        lengths.append(-(-len(content) // bytes_per_word))
    return keys, lengths
