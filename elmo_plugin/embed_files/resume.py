"""The folder of an output's chunks, from which a stopped run resumes."""

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import raise_stop
from elmo_plugin.common.files import atomic_write, remove_leftovers
from elmo_plugin.embed_files.text import Segment

_ARRAYS = ("segment", "description", "sentences", "texts", "lengths", "vectors")

logger = logging.getLogger(__name__)


def write_chunk(
    path: Path,
    segment: Segment,
    words: Sequence[Sequence[str]],
    vectors: np.ndarray,
    description: Mapping[str, Any],
) -> None:
    """
    Writes the vectors of a segment, whole or not at all. Raises `OSError` if that fails.

    # Parameters

    path : `Path`
        An `.npz` file of any name.
    segment : `Segment`
        The `sentences` as they are in the text.
    words : `Sequence[Sequence[str]]`
        Of each sentence: their number is stored as `lengths`, and they as `texts`, with spaces between them.
    vectors : `np.ndarray`
        Of all words, shape (words, num_layers, dim) or (words, dim).
    description : `Mapping[str, Any]`
        How the output is made.
    """
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            segment=np.array(segment.digest()),
            description=np.array(json.dumps(description)),
            sentences=_to_bytes(segment.sentences),
            texts=_to_bytes([" ".join(each) for each in words]),
            lengths=np.array([len(each) for each in words]),
            vectors=vectors,
        )


def read_array(path: Path, name: str) -> np.ndarray:
    """
    Reads one array of a chunk. Raises `BiLmError` if it is damaged, as its checksum shows.
    """
    try:
        with np.load(path) as arrays:
            return arrays[name]
    except Exception as error:  # a damaged file can make the reader raise anything
        raise_stop(error)
        damage = error or type(error).__name__
        raise BiLmError(f"{path} is damaged ({damage}): remove it and start again to continue") from None


def read_texts(path: Path, name: str) -> list[str]:
    """Returns the `sentences` or the `texts` of a chunk."""
    return read_array(path, name).tobytes().decode().split("\n")


def _to_bytes(lines: Sequence[str]) -> np.ndarray:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def chunk_path(folder: Path, number: int) -> Path:
    """Returns the path of the chunk of a segment."""
    return folder / f"{number:08d}.part"


def has_chunk(folder: Path, segment: Segment) -> bool:
    """
    Reads the chunk of a segment. Returns whether it is there and undamaged. Raises `BiLmError` if it is of
    another segment.
    """
    path = chunk_path(folder, segment.number)
    if not path.exists():
        return False
    try:
        arrays = {name: read_array(path, name) for name in _ARRAYS}
    except BiLmError:
        logger.warning("%s is damaged: its lines are embedded again", path)
        return False
    if str(arrays["segment"]) != segment.digest():
        first, last = segment.first_line + 1, segment.first_line + len(segment.sentences)
        raise BiLmError(
            f"{folder} was started with another text, which differs in lines {first} to {last}: give that "
            "text, or remove it to start over"
        )
    return True


@contextmanager
def unfinished_chunks(output: Path, description: Mapping[str, Any]) -> Iterator[Path]:
    """
    Yields the folder of an output's chunks, locked for this process. Removes it when the block succeeds.

    # Parameters

    output : `Path`
        The file to be written.
    description : `Mapping[str, Any]`
        How it is made.

    Raises `BiLmError` if there are chunks of another description, or another process writes the same output.
    """
    folder = output.with_name(f"{output.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(folder / "lock"), timeout=0):
            try:
                remove_leftovers(folder, "*")
                for chunk in folder.glob("*.part"):
                    check_description(_read_description(chunk) or description, description, folder)
                yield folder
                _remove(folder)
            finally:
                if folder.exists() and not any(folder.glob("*.part")):
                    _remove(folder)
    except Timeout:
        raise BiLmError(f"another process is writing {output}") from None
    finally:
        with suppress(OSError):  # there are chunks in it, or it is gone
            folder.rmdir()


def _remove(folder: Path) -> None:
    """Removes a folder; on Windows all but its lock, an open file that the lock's release deletes."""
    shutil.rmtree(folder, ignore_errors=os.name == "nt")


def _read_description(chunk: Path) -> dict[str, Any] | None:
    """Returns `None` for a damaged chunk."""
    try:
        description: dict[str, Any] = json.loads(str(read_array(chunk, "description")))
        return description
    except (BiLmError, OSError):
        return None


def check_description(found: Mapping[str, Any], expected: Mapping[str, Any], path: Path) -> None:
    """Raises `BiLmError` unless `path` was made as expected."""
    differences = [
        f"{name.replace('_', ' ')} was {found.get(name)}, not {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if differences:
        raise BiLmError(
            f"{path} was made with other arguments ({'; '.join(differences)}): give those, or remove it to "
            "start over"
        )
