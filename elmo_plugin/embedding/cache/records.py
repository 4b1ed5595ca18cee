"""Keys and records of a cache: the vectors of a sentence as bytes with a checksum."""

from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.common.files import checksum

KEY_SIZE = 16
CHECKSUM_SIZE = 4


def sentence_keys(character_ids: Tensor, bilm_digest: bytes, dtype: str) -> tuple[list[bytes], list[int]]:
    """
    Returns the key of each sentence: a hash of its characters and of the biLM.

    # Parameters

    character_ids : `Tensor`
        Shape (batch, time, characters), of any integer type, with any number of rows of zeros after a
        sentence's last word.
    bilm_digest : `bytes`
        See `BiLm.digest`.
    dtype : `str`
        The type of the stored vectors.

    # Returns

    `list[bytes]`, `list[int]`
        The key and the number of words of each sentence.
    """
    ids = character_ids.to("cpu", torch.int32).contiguous().numpy()
    bytes_per_word = ids.shape[-1] * ids.itemsize
    keys, lengths = [], []
    for sentence in ids:
        content = sentence.tobytes().rstrip(b"\0")
        keys.append(blake2b(content, key=bilm_digest, person=dtype.encode(), digest_size=KEY_SIZE).digest())
        lengths.append(-(-len(content) // bytes_per_word))
    return keys, lengths


def to_record(key: bytes, vectors: np.ndarray) -> bytes:
    """Returns the record of a sentence's vectors, of any shape."""
    content = vectors.tobytes()
    return _checksum(key, content) + content


def read_record(key: bytes, record: bytes | memoryview, vectors: np.ndarray) -> bool:
    """
    Copies a record into `vectors`. Returns false, and copies nothing, if the record is damaged, or of another
    key, shape or type.
    """
    if len(record) != CHECKSUM_SIZE + vectors.nbytes:
        return False
    content = memoryview(record)[CHECKSUM_SIZE:]
    if bytes(record[:CHECKSUM_SIZE]) != _checksum(key, content):
        return False
    vectors[...] = np.frombuffer(content, vectors.dtype).reshape(vectors.shape)
    return True


def _checksum(key: bytes, content: bytes | memoryview) -> bytes:
    return checksum(key, content).to_bytes(CHECKSUM_SIZE, "little")
