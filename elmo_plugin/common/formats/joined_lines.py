"""Lines of text as arrays of bytes, as numpy's files hold them."""

from collections.abc import Sequence

import numpy as np


def join_lines(lines: Sequence[str]) -> np.ndarray:
    """Returns lines as bytes of UTF-8, with line feeds between them, shape (bytes,)."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def split_lines(joined: np.ndarray) -> list[str]:
    """Returns the lines that `join_lines` joined."""
    return joined.tobytes().decode().split("\n")
