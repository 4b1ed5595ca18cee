"""The folder next to an output in which its chunks gather until it is whole, and from which a run resumes."""

import json
import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import raise_stop
from elmo_plugin.common.files import remove_leftovers, replace_when_written, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.embed_files.text import Passage

_MANIFEST = "manifest.json"
_ARRAYS = ("passage", "made_by", "sentences", "texts", "lengths", "vectors")

logger = logging.getLogger(__name__)


def write_chunk(
    path: Path, passage: Passage, words: Sequence[Sequence[str]], vectors: np.ndarray, made_by: str = ""
) -> None:
    """
    Writes what was embedded of a passage, whole or not at all. Raises `OSError` where it cannot.

    # Parameters

    path : `Path`
        An `.npz` file, whatever its name.
    passage : `Passage`
        Which has the `sentences` as they are in the text.
    words : `Sequence[Sequence[str]]`
        Of each sentence: their number is in `lengths`, and they are in `texts`, with a space between them.
    vectors : `np.ndarray`
        Of all words, shape (words, num_layers, dim) or (words, dim).
    made_by : `str`
        Tells chunks that are made otherwise from this one, see `Chunks`.
    """
    with replace_when_written(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            passage=np.array(passage.digest()),
            made_by=np.array(made_by),
            sentences=_to_bytes(passage.sentences),
            texts=_to_bytes([" ".join(each) for each in words]),
            lengths=np.array([len(each) for each in words]),
            vectors=vectors,
        )


def read_array(path: Path, name: str) -> np.ndarray:
    """
    Returns one array of a chunk, and reads no other. Raises `BiLmError` where it is not what was written:
    each has a checksum, which is compared when it is read to its end.
    """
    try:
        with np.load(path) as arrays:
            return arrays[name]
    except Exception as error:  # damage can make the reader stumble over anything
        raise_stop(error)
        message = f"{path} is damaged ({error or type(error).__name__}): remove it and start again to go on"
        raise BiLmError(message) from None


def read_strings(path: Path, name: str) -> list[str]:
    """Returns the `sentences` or the `texts` of a chunk."""
    return read_array(path, name).tobytes().decode().split("\n")


def _to_bytes(lines: Sequence[str]) -> np.ndarray:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


class Chunks:
    """
    The chunks, in a folder, of an output that is not whole yet.

    # Parameters

    folder : `Path`
        Where they are.
    made_by : `str`
        A hash of how they are made. Each chunk has it.
    """

    def __init__(self, folder: Path, made_by: str = "") -> None:
        self.folder = folder
        self.made_by = made_by

    def path(self, number: int) -> Path:
        """Returns where the chunk of the passage with this number is."""
        return self.folder / f"{number:08d}.part"

    def has(self, passage: Passage) -> bool:
        """
        Reads the chunk of a passage, if there is one, to its end. Returns false where it is damaged. Raises
        `BiLmError` where it is of another passage, or made otherwise.
        """
        path = self.path(passage.number)
        if not path.exists():
            return False
        try:
            arrays = {name: read_array(path, name) for name in _ARRAYS}
        except BiLmError:
            logger.warning("%s is damaged: its lines are embedded again", path)
            return False
        if str(arrays["made_by"]) != self.made_by:
            raise BiLmError(f"{path} was made with other arguments: give those, or remove it to begin again")
        if str(arrays["passage"]) != passage.digest():
            first, last = passage.first_line + 1, passage.first_line + len(passage.sentences)
            raise BiLmError(
                f"{self.folder} was begun with another text, which differs in lines {first} to {last}: give "
                "that text, or remove it to begin again"
            )
        return True


@contextmanager
def unfinished_chunks(output: Path, description: dict[str, Any]) -> Iterator[Chunks]:
    """
    Yields the chunks of an output, for this process alone. They are removed when the block succeeds.

    # Parameters

    output : `Path`
        What is to be written.
    description : `dict[str, Any]`
        How it is made. Chunks that were made otherwise are not taken.

    Raises `BiLmError` where there are such chunks, and where another process writes the same output.
    """
    made_by = blake2b(json.dumps(description, sort_keys=True).encode(), digest_size=16).hexdigest()
    folder = output.with_name(f"{output.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(folder / "lock"), timeout=0):
            try:
                remove_leftovers(folder, "*")
                manifest = folder / _MANIFEST
                found = _read_manifest(manifest)
                if found is not None:
                    check_description(found, description, folder)
                else:
                    write_json(manifest, description)
                yield Chunks(folder, made_by)
                shutil.rmtree(folder)
            finally:
                if folder.exists() and not any(folder.glob("*.part")):
                    shutil.rmtree(folder)
    except Timeout:
        raise BiLmError(f"another process is writing {output}") from None


def _read_manifest(path: Path) -> dict[str, Any] | None:
    """Returns `None` where there is none, or it is damaged: the chunks tell, too, how they were made."""
    try:
        return read_json_object(path, str(path))
    except BiLmError as error:
        if path.exists():
            logger.warning("%s; it is written again", error)
        return None


def check_description(found: dict[str, Any], expected: dict[str, Any], path: Path) -> None:
    """Raises `BiLmError` where what is at `path` was made otherwise than is asked for."""
    differences = [
        f"{name.replace('_', ' ')} was {found.get(name)}, not {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if differences:
        raise BiLmError(
            f"{path} was made with other arguments ({'; '.join(differences)}): give those, or remove it to "
            "begin again"
        )
