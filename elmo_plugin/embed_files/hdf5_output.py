"""HDF5 in the layout of the command `allennlp elmo` that AllenNLP had before 1.0."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_plugin.common.formats.hdf5_files import DeferringFile, new_hdf5
from elmo_plugin.embed_files.resume import read_array, read_texts
from elmo_plugin.embed_files.settings import EmbedSettings

logger = logging.getLogger(__name__)

SUFFIXES = (".hdf5", ".h5")
SENTENCE_TO_INDEX = "sentence_to_index"
_DESCRIPTION = "elmo_embed"  # an attribute of the file
LONGEST_KEY = 2**16 - 1  # bytes of a name
_LONGEST_STRING = 2**31 - 1  # bytes that numpy can read
_VERSION = ("v108", "v108")  # of HDF5's format: groups with very many members, and readable since 2008


def write(
    path: Path,
    chunks: Sequence[Path],
    settings: EmbedSettings,
    row_shape: tuple[int, ...],
    description: dict[str, Any],
) -> None:
    """
    Writes a dataset for each sentence, and `sentence_to_index`: shape (1,), a JSON object with the key of
    each sentence, in UTF-8. It is left out if there are no sentences, or they are the keys themselves.

    # Parameters

    path : `Path`
        The file.
    chunks : `Sequence[Path]`
        Its content. The vectors of one chunk are in memory at a time.
    settings : `EmbedSettings`
        The keys, the compression, the type of the vectors, and whether sentences are kept.
    row_shape : `tuple[int, ...]`
        The shape of a word's vectors, (num_layers, dim) or (dim,).
    description : `dict[str, Any]`
        How it was made, for `read_description`.

    Raises `OSError` if it cannot be written.
    """
    with new_hdf5(path, libver=_VERSION) as (file, target):
        file.attrs[_DESCRIPTION] = json.dumps(description, sort_keys=True)
        _write_sentences(file, target, chunks, settings)


def read_description(path: Path) -> dict[str, Any] | None:
    """Returns the description in a file, or `None` if it is damaged or of another kind."""
    try:
        with h5py.File(path, "r") as file:
            return json.loads(file.attrs[_DESCRIPTION])
    except (OSError, KeyError, ValueError):
        return None


def sentence_key(sentence: str) -> str:
    r"""
    Returns the name of a sentence's dataset if sentences are keys: the sentence itself, with escapes for what
    HDF5 forbids in a name. A slash is written `\s`, a NUL `\0`, a sentence of a single dot `\.`, and a
    backslash `\\`.
    """
    if sentence == ".":
        return r"\."
    return sentence.replace("\\", r"\\").replace("/", r"\s").replace("\0", r"\0")


def _write_sentences(
    file: h5py.File, target: DeferringFile, chunks: Sequence[Path], settings: EmbedSettings
) -> None:
    has_index = settings.keep_sentences and settings.keys == "line"
    index = bytearray()  # takes as much memory as the sentences, six bytes a word
    line = 0
    for path in chunks:
        sentences = read_texts(path, "sentences")
        keys = {}
        ends = np.cumsum(read_array(path, "lengths"))
        arrays = np.split(read_array(path, "vectors"), ends[:-1])  # Shape: (words, ..., dim)
        for sentence, array in zip(sentences, arrays, strict=True):
            keys[sentence] = str(line) if settings.keys == "line" else sentence_key(sentence)
            _write_array(file, keys[sentence], np.moveaxis(array, 0, -2), settings.gzip)
            line += 1
        if has_index and len(index) <= _LONGEST_STRING:
            index += b", " + json.dumps(keys, ensure_ascii=False).encode()[1:-1]
        if target.error is not None:
            return
    if has_index and len(index) <= _LONGEST_STRING:
        text = b"{" + index[2:] + b"}"
        string = np.frombuffer(text, h5py.string_dtype(length=len(text)))
        file.create_dataset(SENTENCE_TO_INDEX, data=string, track_times=False)
    elif has_index:
        logger.warning("%s gets no %s: it would be too long to be read", target.name, SENTENCE_TO_INDEX)


def _write_array(file: h5py.File, key: str, array: np.ndarray, gzip: int | None) -> None:
    """Writes vectors of shape (words, dim) or (num_layers, words, dim)."""
    if key and key not in file:
        options: dict[str, Any] = {}
        if gzip is not None and array.size > 0:
            options = {"chunks": array.shape, "shuffle": True, "compression": gzip}  # a level is one of gzip
        file.create_dataset(key, data=array, track_times=False, **options)
