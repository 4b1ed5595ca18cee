"""Safetensors: the vectors of all sentences in one tensor, which any program can map into memory."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from elmo_plugin.embed_files.part import Part
from elmo_plugin.embed_files.settings import Settings

_DESCRIPTION = "elmo_embed"  # in the file's metadata
_STARTS = {"vectors": "starts", "text": "text_starts"}
_TYPES = {"float32": "F32", "float16": "F16", "int64": "I64", "uint8": "U8"}  # as the format calls them

Pieces = Iterable[np.ndarray]


class SafetensorsOutput:
    """
    `vectors`, shape (words of the text, num_layers, dim) or (words of the text, dim), and `starts`, shape
    (sentences + 1,): sentence i has the vectors from `starts[i]` to `starts[i + 1]`. Its words, with a space
    between them, are the UTF-8 bytes of `text` from `text_starts[i]` to `text_starts[i + 1]`.

    # Parameters

    settings : `Settings`
        Whether sentences are kept, and the type of the vectors.
    row_shape : `tuple[int, ...]`
        What there is of a word: (num_layers, dim) or (dim,).
    """

    def __init__(self, settings: Settings, row_shape: tuple[int, ...]) -> None:
        self._rows: dict[str, tuple[str, tuple[int, ...]]] = {"vectors": (settings.dtype, row_shape)}
        if settings.keep_sentences:
            self._rows["text"] = "uint8", ()

    def write(self, path: Path, part: Part, description: dict[str, Any]) -> None:
        texts = (" ".join(words).encode() for words in part.words)
        rows = {
            "vectors": [np.moveaxis(vectors, -2, 0) for vectors in part.vectors],
            "text": [np.frombuffer(text, dtype=np.uint8) for text in texts],
        }
        self._write(path, description, lambda name: [np.array(list(map(len, rows[name])))], rows.__getitem__)

    def join(self, parts: Iterable[Path], path: Path, description: dict[str, Any]) -> None:
        files = list(parts)
        self._write(
            path,
            description,
            lambda name: (np.diff(_read(file, _STARTS[name])) for file in files),
            lambda name: (_read(file, name) for file in files),
        )

    def read_description(self, path: Path) -> dict[str, Any] | None:
        try:
            with safe_open(path, "np") as file:
                return json.loads(file.metadata()[_DESCRIPTION])
        except (OSError, SafetensorError, TypeError, KeyError, ValueError):
            return None

    def _write(
        self,
        path: Path,
        description: dict[str, Any],
        lengths: Callable[[str], Pieces],
        rows: Callable[[str], Pieces],
    ) -> None:
        """
        Writes the file piece by piece, which the library does not: its header, then one tensor behind the
        other. `lengths` gives how many rows of a name each sentence has, `rows` the rows.
        """
        tensors: dict[str, tuple[str, tuple[int, ...], Pieces]] = {}
        for name in self._rows:
            sentences = sum(map(len, lengths(name)))
            tensors[_STARTS[name]] = "int64", (sentences + 1,), _ends(lengths(name))
        for name, (dtype, row_shape) in self._rows.items():
            number = sum(int(piece.sum()) for piece in lengths(name))
            tensors[name] = dtype, (number, *row_shape), rows(name)
        header: dict[str, Any] = {"__metadata__": {_DESCRIPTION: json.dumps(description, sort_keys=True)}}
        end = 0
        for name, (dtype, shape, _) in tensors.items():
            start, end = end, end + math.prod(shape) * np.dtype(dtype).itemsize
            header[name] = {"dtype": _TYPES[dtype], "shape": shape, "data_offsets": [start, end]}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for dtype, _, pieces in tensors.values():
                for piece in pieces:
                    file.write(np.ascontiguousarray(piece, dtype=np.dtype(dtype).newbyteorder("<")).data)


def _ends(lengths: Pieces) -> Iterator[np.ndarray]:
    """0, then behind how many rows each sentence ends."""
    end = 0
    yield np.zeros(1, dtype=np.int64)
    for piece in lengths:
        yield end + np.cumsum(piece)
        end += int(piece.sum())


def _read(file: Path, name: str) -> np.ndarray:
    with safe_open(file, "np") as tensors:
        return tensors.get_tensor(name)
