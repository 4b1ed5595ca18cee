"""A digest that identifies a biLM."""

import json
from collections.abc import Iterable
from hashlib import blake2b

import torch
from torch import Tensor

from elmo_plugin.bilm.options import BiLmOptions

VERSION = b"elmo_plugin 1"  # raise it when the same biLM gives other numbers


def weights_digest(options: BiLmOptions, precision: str, tensors: Iterable[tuple[str, Tensor]]) -> bytes:
    """
    # Parameters

    options : `BiLmOptions`
        The sizes.
    precision : `str`
        The name of the precision in which the biLM computes.
    tensors : `Iterable[tuple[str, Tensor]]`
        The names and values of the weights; their bytes count.

    # Returns

    `bytes`
        32 of them.
    """
    digest = blake2b(digest_size=32, person=VERSION)
    digest.update(json.dumps([options.to_dict(), precision], sort_keys=True).encode())
    for name, tensor in tensors:
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.digest()
