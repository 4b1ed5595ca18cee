"""What a sentence is found by in a cache: its characters, and the content of the biLM."""

from hashlib import blake2b

import torch
from torch import Tensor

KEY_SIZE = 16


def sentence_keys(character_ids: Tensor, bilm_digest: bytes, dtype: str) -> tuple[list[bytes], list[int]]:
    """
    # Parameters

    character_ids : `Tensor`
        Shape (batch, time, characters), rows of zeros behind a sentence's last word. Their type does not
        matter, and neither does the number of such rows.
    bilm_digest : `bytes`
        Of the biLM that reads them, from `elmo_plugin.bilm.digest`.
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
