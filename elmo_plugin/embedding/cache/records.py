"""A sentence's vectors as bytes, with a checksum."""

import numpy as np

CHECKSUM_SIZE = 8
WORD = np.dtype(np.uint64)


def to_record(key: bytes, vectors: np.ndarray) -> bytes:
    """
    # Parameters

    key : `bytes`
        Under which it will be stored.
    vectors : `np.ndarray`
        Of any shape.
    """
    content = vectors.tobytes()
    content += bytes(-len(content) % WORD.itemsize)
    return _checksum(key, np.frombuffer(content, WORD)) + content


def read_record(key: bytes, record: bytes | memoryview, vectors: np.ndarray) -> bool:
    """
    Copies what `to_record` made into `vectors`. Returns false, and copies nothing, where the record is not
    whole, or of another key, shape or type.
    """
    size = vectors.nbytes
    if len(record) != CHECKSUM_SIZE + size + -size % WORD.itemsize:
        return False
    if bytes(record[:CHECKSUM_SIZE]) != _checksum(key, np.frombuffer(record[CHECKSUM_SIZE:], WORD)):
        return False
    content = record[CHECKSUM_SIZE : CHECKSUM_SIZE + size]
    vectors[...] = np.frombuffer(content, vectors.dtype).reshape(vectors.shape)
    return True


def _checksum(key: bytes, words: np.ndarray) -> bytes:
    """Their sum, as fast as memory can be read, and the key."""
    total = int(words.sum()) + int.from_bytes(key, "little")
    return (total % (1 << 8 * CHECKSUM_SIZE)).to_bytes(CHECKSUM_SIZE, "little")
