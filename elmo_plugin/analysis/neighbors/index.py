"""The vectors of all words of a corpus, in a folder: built once and mapped into memory."""

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.analysis.representations import batches_of_words
from elmo_plugin.bilm import BiLm
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, checksum, locked, remove_leftovers, write_json
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.common.process import trim_heap
from elmo_plugin.common.progress import progress_bar

VERSION = 1  # of the format
WORDS_AT_ONCE = 10_000  # fewer take less memory and more time
BATCHES_UNTIL_FREED = 4
_DESCRIPTION, _SENTENCES, _STARTS, _VECTORS = "index.json", "sentences.txt", "starts.npy", "vectors.npy"


class CorpusIndex:
    """
    Opens an index: a folder with

    - `vectors.npy`, the vectors of all words, of length 1, in half precision. Shape (words, dim).
    - `sentences.txt`, the sentences, and `starts.npy`, where each begins: the byte in that file and the row
      among the vectors. Shape (sentences + 1, 2).
    - `index.json`, a description.

    # Parameters

    folder : `Path`
        See `open_index`, which makes it.

    Raises `BiLmError` if the index is damaged, or of another version of the format.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.description = read_json_object(folder / _DESCRIPTION, f"index {folder}")
            self.vectors: np.ndarray = np.load(folder / _VECTORS, mmap_mode="r")
            self._starts: np.ndarray = np.load(folder / _STARTS)
            self._text: np.ndarray = np.memmap(folder / _SENTENCES, mode="r")
        except (OSError, ValueError, BiLmError) as error:
            raise BiLmError(f"index {folder}: damaged; delete it and try again ({error})") from None
        version = self.description.get("version")
        if version != VERSION:
            raise BiLmError(f"index {folder}: has format version {version}, not {VERSION}; delete it")
        if self.description.get("checksum") != checksum(self._text, self._starts) or (
            self._starts[-1].tolist() != [len(self._text), len(self.vectors)]
        ):
            raise BiLmError(f"index {folder}: its files do not fit together; delete it")
        self.folder = folder

    def blocks(self, rows: int) -> Iterator[np.ndarray]:
        """Yields all vectors, `rows` at a time, which are all that is in memory."""
        num_words, dim = self.vectors.shape
        with open(self.folder / _VECTORS, "rb") as file:
            file.seek(-self.vectors.nbytes, os.SEEK_END)
            for start in range(0, num_words, rows):
                numbers = np.fromfile(file, np.float16, min(rows, num_words - start) * dim)
                yield numbers.reshape(-1, dim)

    def occurrence(self, row: int) -> tuple[list[str], int]:
        """Returns the sentence of the word with this row among the vectors, and its position there."""
        number = int(np.searchsorted(self._starts[:, 1], row, side="right")) - 1
        (start, first_row), (end, _) = self._starts[number : number + 2].tolist()
        return self._text[start:end].tobytes().decode().split(), row - first_row


def open_index(folder: Path, bilm: BiLm, corpus: str, layer: int) -> CorpusIndex:
    """
    Opens the index of a corpus, which is made if it is missing.

    # Parameters

    folder : `Path`
        Has a folder for each corpus, biLM and layer, named after their content.
    bilm : `BiLm`
        Gives the vectors.
    corpus : `str`
        A sentence a line, with white space between its words; plain, `.gz` or `.zst`.
    layer : `int`
        Whose vectors; 0 is the token layer.

    Raises `BiLmError` if the corpus has no words, or is not UTF-8 text.
    """
    digest = blake2b(bilm.digest() + layer.to_bytes(4, "big"), digest_size=8)
    with open(corpus, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    place = folder / f"{Path(corpus).name.partition('.')[0]}-{digest.hexdigest()}"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / f".{place.name}.lock"):  # one process makes it, the others wait
            remove_leftovers(folder, place.name)
            if not place.exists():
                with atomic_write(place) as temporary:
                    _build(temporary, bilm, corpus, layer)
    return CorpusIndex(place)


def _build(folder: Path, bilm: BiLm, corpus: str, layer: int) -> None:
    folder.mkdir()
    starts = _write_sentences(folder / _SENTENCES, corpus)
    np.save(folder / _STARTS, starts)
    num_words, dim = int(starts[-1, 1]), bilm.output_dim
    header = {"descr": np.dtype(np.float16).str, "fortran_order": False, "shape": (num_words, dim)}
    progress = progress_bar(total=num_words, unit=" words", unit_scale=True, desc=f"index of {corpus}")
    with (
        progress,
        open(folder / _SENTENCES, encoding="utf-8", newline="\n") as sentences,
        open(folder / _VECTORS, "wb") as file,  # not mapped, as that would count as memory in use
    ):
        np.lib.format.write_array_header_1_0(file, header)
        batches = batches_of_words(map(str.split, sentences), WORDS_AT_ONCE, len)
        for number, batch in enumerate(batches, start=1):
            of_batch = unit_length(torch.cat([layers[layer] for layers in bilm.embed(batch)]))
            file.write(of_batch.half().cpu().numpy().tobytes())
            progress.update(len(of_batch))
            if number % BATCHES_UNTIL_FREED == 0:
                trim_heap()
    description: dict[str, Any] = {
        "version": VERSION,
        "corpus": corpus,
        "bilm": bilm.digest().hex(),
        "layer": layer,
        "sentences": len(starts) - 1,
        "words": num_words,
        "checksum": checksum(np.fromfile(folder / _SENTENCES, np.uint8), starts),
    }
    write_json(folder / _DESCRIPTION, description)


def _write_sentences(path: Path, corpus: str) -> np.ndarray:
    """Writes the sentences of a corpus without empty lines, and returns their starts."""
    starts = [(0, 0)]
    with open(path, "wb") as file:
        for number, line in enumerate(read_lines(corpus), start=1):
            words = decode(line, f"{corpus}, line {number}").split()
            if words:
                num_bytes = file.write(f"{' '.join(words)}\n".encode())
                starts.append((starts[-1][0] + num_bytes, starts[-1][1] + len(words)))
    if len(starts) == 1:
        raise BiLmError(f"{corpus}: there is no word in this file")
    return np.array(starts)


def unit_length(vectors: Tensor) -> Tensor:
    """Returns vectors of length 1. Vectors of zeros stay zeros."""
    return torch.nn.functional.normalize(vectors.float(), dim=-1)
