"""A piece of a text that is embedded at a time."""

from hashlib import blake2b
from typing import NamedTuple


class Passage(NamedTuple):
    """
    number: of the passage, from 0
    first_line: the number, from 0, of its first line in the text
    sentences: its lines, without the white space around them
    num_bytes: how many bytes of the text it is
    """

    number: int
    first_line: int
    sentences: list[str]
    num_bytes: int

    def digest(self) -> str:
        """Tells its sentences."""
        return blake2b("\n".join(self.sentences).encode(), digest_size=16).hexdigest()
