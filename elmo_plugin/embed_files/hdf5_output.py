"""HDF5 in the layout of the command `allennlp elmo` that AllenNLP had before 1.0."""

import io
import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_plugin.embed_files.part import Part
from elmo_plugin.embed_files.settings import Settings

logger = logging.getLogger(__name__)

SENTENCE_TO_INDEX = "sentence_to_index"
_DESCRIPTION = "elmo_embed"  # an attribute of the file
_LONGEST_STRING = 2**31 - 1  # that numpy can read
_VERSION = ("v108", "v108")  # of HDF5's format: groups with very many members, and readable since 2008


class Hdf5Output:
    """
    A dataset for each sentence, and `sentence_to_index`: shape (1,), a JSON object with the key of each
    sentence, in UTF-8. Without sentences, and where they are the keys themselves, there is no such dataset.

    The old command's string was of variable length, which HDF5 takes from memory, three times over. This one
    is as long as its type says, and is read in the same way.

    # Parameters

    settings : `Settings`
        Which keys and which compression.
    """

    def __init__(self, settings: Settings) -> None:
        self._by_sentence = settings.keys == "sentence"
        self._has_index = settings.keep_sentences and not self._by_sentence
        self._gzip = settings.gzip

    def write(self, path: Path, part: Part, description: dict[str, Any]) -> None:
        keys = [self._key(line, sentence) for line, sentence in enumerate(part.sentences, part.first_line)]
        with _new_file(path, description) as (file, target):
            for key, vectors in zip(keys, part.vectors, strict=True):
                if key and key not in file:
                    file.create_dataset(key, data=vectors, track_times=False, **self._packed(vectors))
            if self._has_index:
                index = json.dumps(dict(zip(part.sentences, keys, strict=True)), ensure_ascii=False).encode()
                _write_index(file, target, [index], len(index))

    def join(self, parts: Iterable[Path], path: Path, description: dict[str, Any]) -> None:
        paths = []
        index_size = 0
        with _new_file(path, description) as (file, target):
            for name in parts:
                paths.append(name)
                with h5py.File(name, "r") as part:
                    for key in part:
                        if self._has_index and key == SENTENCE_TO_INDEX:
                            index_size += part[key].dtype.itemsize
                        elif key not in file:
                            part.copy(key, file, name=key)
                if target.error is not None:
                    return
            if self._has_index and index_size <= _LONGEST_STRING:
                _write_index(file, target, _joined_index(paths), max(index_size, len("{}")))
            elif self._has_index:
                logger.warning("%s gets no %s: it would have %d bytes", path, SENTENCE_TO_INDEX, index_size)

    def read_description(self, path: Path) -> dict[str, Any] | None:
        try:
            with h5py.File(path, "r") as file:
                return json.loads(file.attrs[_DESCRIPTION])
        except (OSError, KeyError, ValueError):
            return None

    def _key(self, line: int, sentence: str) -> str:
        return sentence_key(sentence) if self._by_sentence else str(line)

    def _packed(self, vectors: np.ndarray) -> dict[str, Any]:
        if self._gzip is None or vectors.size == 0:
            return {}
        return {
            "chunks": vectors.shape,
            "shuffle": True,
            "compression": "gzip",
            "compression_opts": self._gzip,
        }


def sentence_key(sentence: str) -> str:
    r"""
    The name of a sentence's dataset where sentences are keys: the sentence itself, but for what HDF5 cannot
    have in a name. A slash is written `\s`, a NUL `\0`, a sentence of a single dot `\.`, and a backslash,
    which would look like one of these, `\\`.
    """
    if sentence == ".":
        return r"\."
    return sentence.replace("\\", r"\\").replace("/", r"\s").replace("\0", r"\0")


def _joined_index(parts: Iterable[Path]) -> Iterator[bytes]:
    """Pieces of one JSON object, as long as those of the parts together."""
    before = b"{"
    for path in parts:
        with h5py.File(path, "r") as part:
            yield before + part[SENTENCE_TO_INDEX][0][1:-1]
        before = b", "
    yield b"{}" if before == b"{" else b"}"


def _write_index(file: h5py.File, target: io.FileIO, pieces: Iterable[bytes], size: int) -> None:
    """Past HDF5, which would need all of a string at once: it only says where the pieces belong."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    kind = h5py.string_dtype(length=size)
    dataset = file.create_dataset(SENTENCE_TO_INDEX, (1,), kind, track_times=False, dcpl=creation)
    target.seek(dataset.id.get_offset())
    for piece in pieces:
        target.write(piece)


class _CalmFile(io.FileIO):
    """
    A file that never fails to be written: it keeps the first error for later. HDF5 crashes the process when a
    write fails, as on a full disk.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = self.error or error
        return size


@contextmanager
def _new_file(path: Path, description: dict[str, Any]) -> Iterator[tuple[h5py.File, _CalmFile]]:
    """An empty file with its description, and what it is written to."""
    with _CalmFile(path, "w+") as target:
        try:
            with h5py.File(target, "w", libver=_VERSION) as file:
                file.attrs[_DESCRIPTION] = json.dumps(description, sort_keys=True)
                yield file, target
        finally:
            if target.error is not None:
                raise target.error
