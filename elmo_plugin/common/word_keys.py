"""The keys by which tables find words without storing the words themselves."""

from hashlib import blake2b

KEYS_NAME = "keys.bin"
"""The file beside a table's vectors: `DIGEST_SIZE` bytes that identify them, then the key of each
word, in their order.
"""
DIGEST_SIZE = 16


def word_key(word: str) -> int:
    """
    Returns a hash of a word, a number from -2^63 to 2^63 - 1. It is never 0, because 0 stands for
    padding.
    """
    hashed = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    key = int.from_bytes(hashed, "little", signed=True)
    if key == 0:
        return 1
    return key
