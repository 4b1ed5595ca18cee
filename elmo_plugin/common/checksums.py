"""The checksum of all that this package writes and reads back."""

import zlib

import numpy as np


def checksum(*parts: bytes | memoryview | np.ndarray) -> int:
    """
    Returns the CRC-32 of the bytes of all parts, one after another, arrays in row-major order. It sees every
    change of up to four bytes in a row and other damage but for one case in four billion; it is no defence
    against somebody who means harm. It reads about 2.5 GB a second.
    """
    crc = 0
    for part in parts:
        if isinstance(part, np.ndarray):
            part = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        crc = zlib.crc32(part, crc)
    return crc
