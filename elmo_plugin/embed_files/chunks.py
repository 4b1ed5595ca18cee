"""A text in chunks of lines, and the folder of their vectors, from which a stopped run resumes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.formats.fasta import read_fasta
from elmo_plugin.common.formats.joined_lines import join_lines
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.sentences import sentence_lines, sentence_place
from elmo_plugin.common.formats.text_files import decode, read_lines, standard_input_lines
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.unfinished import DESCRIPTION, unfinished_folder
from elmo_plugin.embed_files.settings import EmbedSettings

STANDARD_INPUT = "-"
_CHUNK_FILES = "[0-9]" * 8 + ".npz"  # a pattern of the names that `chunk_path` gives
_RECORD_BYTES = 8  # added to the size of each record, because blank lines also take memory

logger = get_logger(__name__)


class Record(NamedTuple):
    """A line of a text, or a protein of FASTA."""

    text: str  # the line, stripped; the letters of a protein
    place: str  # the file, and the line or the sentence in it
    size: int  # the bytes of the line; the number of letters
    name: str = ""  # the name of a protein


class Chunk(NamedTuple):
    """Consecutive records of a text."""

    number: int
    records: Sequence[Record]

    @property
    def sentences(self) -> list[str]:
        """The text of each record."""
        return [record.text for record in self.records]

    @property
    def names(self) -> list[str]:
        """The names of proteins; empty for other texts."""
        return [record.name for record in self.records if record.name]

    @property
    def size(self) -> int:
        """The number of bytes, or of residues."""
        return sum(record.size for record in self.records)


def read_chunks(
    source: str, settings: EmbedSettings, chunk_size: int, digest: blake2b
) -> Iterator[Chunk]:
    """
    Yields the lines or proteins of a file, or of standard input, in chunks of about `chunk_size`
    bytes or residues, and updates the digest with their texts. Raises `BiLmError` if a line is not
    UTF-8 text, a compressed file is damaged, or the text is a table and the settings have no
    `column` of words.
    """
    if source == STANDARD_INPUT:
        name = "standard input"
        lines = standard_input_lines()
    else:
        name = source
        lines = read_lines(source)
    if settings.has_proteins:
        records = _protein_records(name, lines)
    else:
        records = _line_records(name, lines, settings.column)
    yield from chunks_of(records, chunk_size, digest)


def chunks_of(records: Iterable[Record], chunk_size: int, digest: blake2b) -> Iterator[Chunk]:
    """
    Yields records in chunks, and updates the digest with their names and texts. A chunk ends with
    the record that makes its size at least `chunk_size`.
    """
    chunk_number = 0
    size = 0
    chunk: list[Record] = []
    for record in records:
        content = f"{record.text}\n"
        if record.name:
            content = f"{record.name} {content}"
        digest.update(content.encode())
        chunk.append(record)
        size += record.size + _RECORD_BYTES
        if size >= chunk_size:
            yield Chunk(chunk_number, chunk)
            chunk_number += 1
            size = 0
            chunk = []
    if chunk:
        yield Chunk(chunk_number, chunk)


def _line_records(name: str, lines: Iterable[bytes], column: int | None) -> Iterator[Record]:
    """
    Yields a record for each line of a text. With a `column`, the text is a table with a word in
    each row: yields a record for each sentence, until the next blank row.
    """
    for number, line in enumerate(sentence_lines(lines, name, column), 1):
        place = sentence_place(name, number, column)
        yield Record(text=decode(line, place).strip(), place=place, size=len(line))


def _protein_records(name: str, lines: Iterable[bytes]) -> Iterator[Record]:
    """Yields a record for each protein of FASTA."""
    for protein in read_fasta(name, lines):
        yield Record(
            text=protein.letters,
            place=protein.place,
            size=len(protein.letters),
            name=protein.name,
        )


def chunk_path(folder: Path, number: int) -> Path:
    """Returns the file of a chunk's vectors."""
    return folder / f"{number:08d}.npz"


def write_chunk(
    folder: Path, chunk: Chunk, words_of_lines: Sequence[Sequence[str]], vectors: np.ndarray
) -> None:
    """
    Writes the file of a chunk, given the words of each line and the vectors of all words. Its
    arrays are `sentences`, the lines; `texts`, the words of each line, with a space between them;
    `lengths`, the number of words of each line; `names`, the names of proteins; and `vectors`,
    shape (words, num_layers, dim) or (words, dim). Raises `OSError` if it cannot be written.
    """
    with atomic_write(chunk_path(folder, chunk.number)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            sentences=join_lines(chunk.sentences),
            texts=join_lines([" ".join(words) for words in words_of_lines]),
            lengths=np.array([len(words) for words in words_of_lines]),
            vectors=vectors,
            names=join_lines(chunk.names),
        )


def has_chunk(folder: Path, chunk: Chunk) -> bool:
    """
    Returns whether the file of a chunk is in the folder and undamaged. Raises `BiLmError` if it was
    made from other lines or proteins.
    """
    path = chunk_path(folder, chunk.number)
    if not path.exists():
        return False
    try:
        with np.load(path) as arrays:
            stored = dict(arrays)  # reads all arrays, and so checks them
            sentences = stored["sentences"]
            names = stored["names"]
    except Exception as error:  # a damaged file can make the reader raise anything
        raise_if_sigterm_or_out_of_memory(error)
        logger.warning("%s is damaged: its lines are embedded again", path)
        return False
    has_same_sentences = np.array_equal(sentences, join_lines(chunk.sentences))
    has_same_names = np.array_equal(names, join_lines(chunk.names))
    if not has_same_sentences or not has_same_names:
        raise BiLmError(
            f"{folder} was started with another text (it differs from {chunk.records[0].place} "
            "on): use that text, or remove the folder to start over"
        )
    return True


@contextmanager
def unfinished_chunks(output: Path, description: Mapping[str, Any]) -> Iterator[Path]:
    """
    Yields the folder for the chunks of an output, locked for this process, with the chunks that an
    earlier run left in it. If the block succeeds, the folder is removed. Raises `BiLmError` if the
    chunks have another description, another process writes the output, or something else is in the
    place of the folder or in it.
    """
    with unfinished_folder(output, _CHUNK_FILES) as folder:
        _check_or_describe(folder, description)
        yield folder


def _check_or_describe(folder: Path, description: Mapping[str, Any]) -> None:
    """
    Checks that the chunks in a folder have this description, and otherwise raises `BiLmError`. If
    it has none yet, or chunks without a description, writes the description, and removes the
    chunks.
    """
    file = folder / DESCRIPTION
    has_chunks = any(folder.glob(_CHUNK_FILES))
    if has_chunks and file.exists():
        check_description(read_json_object(file, str(file)), description, folder)
        return
    # If there are chunks but no description, the run that made them had succeeded, and was killed
    # while it removed the folder. If there is a description but no chunk, nothing was made with it.
    for chunk in folder.glob(_CHUNK_FILES):
        chunk.unlink()
    write_json(file, description)


def check_description(found: Mapping[str, Any], expected: Mapping[str, Any], path: Path) -> None:
    """
    Raises `BiLmError` if the description that was found in `path` differs from the expected one. It
    may have more entries. The description of a finished output, for example, also has the digest of
    the text.
    """
    wrong = [name for name, value in expected.items() if found.get(name) != value]
    if wrong:
        changes = []
        for name in wrong:
            option = name.replace("_", " ")
            changes.append(f"{option} was {found.get(name)}, not {expected[name]}")
        raise BiLmError(
            f"{path} was made with other arguments ({'; '.join(changes)}): use those, or remove "
            "it to start over"
        )
