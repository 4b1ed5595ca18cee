"""Safetensors: the vectors of all sentences in one tensor, which any program can map into memory."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from elmo_plugin.common.files import checksum
from elmo_plugin.embed_files.resume import read_array, read_texts
from elmo_plugin.embed_files.settings import EmbedSettings

SUFFIXES = (".safetensors",)
_DESCRIPTION, _CHECKSUM = "elmo_embed", "crc32"  # in the file's metadata; of all after the header
_TYPES = {"float32": "F32", "float16": "F16", "int64": "I64", "uint8": "U8"}  # as the format calls them

Tensor = tuple[str, tuple[int, ...], Iterable[np.ndarray]]  # its type, its shape, and its rows


def write(
    path: Path,
    chunks: Sequence[Path],
    settings: EmbedSettings,
    row_shape: tuple[int, ...],
    description: dict[str, Any],
) -> None:
    """
    Writes `vectors`, shape (words of the text, num_layers, dim) or (words of the text, dim), and `starts`,
    shape (sentences + 1,): sentence i has the vectors from `starts[i]` to `starts[i + 1]`. Its words, with a
    space between them, are the UTF-8 bytes of `text` from `text_starts[i]` to `text_starts[i + 1]`.

    For the parameters and errors see `hdf5_output.write`.
    """
    starts = _starts([length for chunk in chunks for length in read_array(chunk, "lengths")])
    vectors = (read_array(chunk, "vectors") for chunk in chunks)
    rows: Tensor = (settings.dtype, (int(starts[-1]), *row_shape), vectors)
    tensors: dict[str, Tensor] = {"starts": ("int64", starts.shape, [starts])}
    if settings.keep_sentences:
        texts = [text.encode() for chunk in chunks for text in read_texts(chunk, "texts")]
        text_starts = _starts([len(text) for text in texts])
        text = np.frombuffer(b"".join(texts), np.uint8)
        tensors["text_starts"] = "int64", text_starts.shape, [text_starts]
        tensors |= {"vectors": rows, "text": ("uint8", text.shape, [text])}
    else:
        tensors["vectors"] = rows
    _write_tensors(path, tensors, description)


def read_description(path: Path) -> dict[str, Any] | None:
    """Reads a file as a whole. Returns its description, or `None` if it is damaged or of another kind."""
    try:
        with safe_open(path, "np") as file:
            metadata = file.metadata()
        header_bytes = int.from_bytes(np.fromfile(path, np.uint8, 8).tobytes(), "little")
        found = checksum(np.memmap(path, np.uint8, "r", offset=8 + header_bytes))
        return json.loads(metadata[_DESCRIPTION]) if metadata[_CHECKSUM] == f"{found:08x}" else None
    except (OSError, SafetensorError, TypeError, KeyError, ValueError):
        return None


def _starts(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths])


def _write_tensors(path: Path, tensors: dict[str, Tensor], description: dict[str, Any]) -> None:
    """Writes the header, then the tensors piece by piece. The library would need all of them in memory."""
    metadata = {_DESCRIPTION: json.dumps(description, sort_keys=True), _CHECKSUM: f"{0:08x}"}
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, (dtype, shape, _) in tensors.items():
        start, end = end, end + math.prod(shape) * np.dtype(dtype).itemsize
        header[name] = {"dtype": _TYPES[dtype], "shape": shape, "data_offsets": [start, end]}
    found = 0
    with open(path, "wb") as file:
        file.write(_header_bytes(header))
        for dtype, _, pieces in tensors.values():
            for piece in pieces:
                content = np.ascontiguousarray(piece, dtype=np.dtype(dtype).newbyteorder("<"))
                found = checksum(content, start=found)
                file.write(content.data)
        metadata[_CHECKSUM] = f"{found:08x}"
        file.seek(0)
        file.write(_header_bytes(header))


def _header_bytes(header: dict[str, Any]) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
