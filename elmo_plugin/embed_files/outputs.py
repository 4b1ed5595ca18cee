"""
The formats of outputs: HDF5 in the layout of the command `allennlp elmo` that AllenNLP had before
1.0; safetensors, for any program to map into memory; NumPy's npz; and CSV.
"""

import csv
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

import h5py
import numpy as np
from safetensors import safe_open

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.errors import raise_if_sigterm_or_out_of_memory
from elmo_plugin.common.formats.formulas import count_formulas, warn_of_formulas
from elmo_plugin.common.formats.hdf5_files import new_hdf5
from elmo_plugin.common.formats.joined_lines import split_lines
from elmo_plugin.common.integers import ceil_div
from elmo_plugin.embed_files.chunks import Chunk
from elmo_plugin.embed_files.settings import EmbedSettings

_DESCRIPTION = "elmo_embed"  # its name in the attributes or the metadata of the file
_MAX_KEY_BYTES = 2**16 - 1
_HDF5_VERSION = ("v108", "v108")  # groups with very many members, and readable since 2008
_SAFETENSORS_TYPES = {"float32": "F32", "float16": "F16", "int64": "I64", "uint8": "U8"}


class Content(NamedTuple):
    """The content of an output."""

    chunks: Sequence[Path]  # the files of the vectors; they are read one at a time
    settings: EmbedSettings
    row_shape: tuple[int, ...]  # of a word's vectors, (num_layers, dim) or (dim,)
    description: dict[str, Any]  # how the vectors were made

    def stored_chunks(self) -> Iterator["_StoredChunk"]:
        """Yields the content of each chunk's file."""
        num_lines = 0  # in the chunks before
        for path in self.chunks:
            chunk = _read_chunk(path, first_line=num_lines)
            num_lines += len(chunk.sentences)
            yield chunk

    def lines(self) -> Iterator["EmbeddedLine"]:
        """Yields the lines of the text, or the proteins, with their vectors."""
        for chunk in self.stored_chunks():
            names = chunk.line_numbers
            if self.settings.has_proteins:
                names = chunk.names
            for name, text, vectors in zip(names, chunk.texts, chunk.arrays, strict=True):
                yield EmbeddedLine(name, text, vectors)

    def shaped(self, array: np.ndarray) -> np.ndarray:
        """
        Returns the vectors of a sentence, shape (words, ..., dim), in the shape of the output: with
        pooling (..., dim), otherwise (..., words, dim).
        """
        if self.settings.pooling is not None:
            return array[0]
        return np.moveaxis(array, 0, -2)


class EmbeddedLine(NamedTuple):
    """A line of a text, or a protein, and its vectors."""

    name: str  # the number of the line, or the name of the protein
    text: str  # the words, with a space between them
    vectors: np.ndarray  # Shape: (words, ..., dim)


class _StoredChunk(NamedTuple):
    """The content of a chunk's file."""

    sentences: list[str]
    texts: list[str]  # the words of each sentence, with a space between them
    arrays: list[np.ndarray]  # the vectors of each sentence, shape (words, ..., dim)
    names: list[str]  # of the records of FASTA, otherwise empty
    line_numbers: list[str]  # the number of each line in the whole text, from 0


class OutputFormat(NamedTuple):
    """How a kind of file is written and recognized."""

    suffixes: tuple[str, ...]
    # Raises `OSError` if the file cannot be written.
    write: Callable[[Path, Content], None]
    # Reads the description in a file, as JSON. Raises any error if the file is damaged, or of
    # another kind. `None` if such files cannot contain a description.
    read_json: Callable[[Path], str | bytes] | None

    def read_description(self, path: Path) -> dict[str, Any] | None:
        """Returns the description in a file; `None` without one, or if the file is damaged."""
        if self.read_json is None:
            return None
        try:
            return json.loads(self.read_json(path))
        except Exception as error:  # a damaged file can make the readers raise anything
            raise_if_sigterm_or_out_of_memory(error)
            return None


def _write_hdf5(path: Path, content: Content) -> None:
    """
    Writes a dataset for each sentence or protein. Its name, the key, is the number of the line, the
    sentence itself, or the name of the protein. The datasets of proteins also have the name in
    their attribute `original_id`, as in bio_embeddings.

    If the keys are numbers and sentences are kept, also writes `sentence_to_index`, shape (1,): a
    JSON object, in UTF-8, that gives the number of each sentence.
    """
    with new_hdf5(path, libver=_HDF5_VERSION) as (file, target):
        file.attrs[_DESCRIPTION] = json.dumps(content.description, sort_keys=True)
        has_index = content.settings.keys == "line" and content.settings.keep_sentences
        index: list[bytes] = []  # in pieces of JSON, because a dict would take more memory
        for chunk in content.stored_chunks():
            keys = _keys_in_hdf5(chunk, content.settings.keys)
            _write_datasets(file, chunk, keys, content)
            if has_index:
                key_of_sentence = dict(zip(chunk.sentences, keys, strict=True))
                index.append(_json_without_braces(key_of_sentence))
            if target.error is not None:
                return  # at the end of the block `new_hdf5` raises this error
        if has_index:
            _write_index(file, index)


def _keys_in_hdf5(chunk: _StoredChunk, kind: str) -> list[str]:
    """Returns the name of each sentence's dataset. `kind` is one of the settings' `KEYS`."""
    if kind == "line":
        return chunk.line_numbers
    if kind == "name":
        return [sentence_key(name) for name in chunk.names]
    return [sentence_key(sentence) for sentence in chunk.sentences]


def _write_datasets(
    file: h5py.File, chunk: _StoredChunk, keys: Sequence[str], content: Content
) -> None:
    """Writes the vectors of each sentence of a chunk under its key."""
    for number, key in enumerate(keys):
        # A blank sentence cannot be a key, and a repeated sentence is written only once.
        if key and key not in file:
            dataset = _write_dataset(file, key, content, chunk.arrays[number])
            if content.settings.has_proteins:
                dataset.attrs["original_id"] = chunk.names[number]


def _write_index(file: h5py.File, members: Sequence[bytes]) -> None:
    """Writes `sentence_to_index`, given the members of its JSON object."""
    text = b"{" + b", ".join(members) + b"}"
    string = np.frombuffer(text, h5py.string_dtype(length=len(text)))
    file.create_dataset("sentence_to_index", data=string, track_times=False)


def _json_without_braces(key_of_sentence: dict[str, str]) -> bytes:
    """Returns the members of a JSON object in UTF-8, to be joined with the members of others."""
    return json.dumps(key_of_sentence, ensure_ascii=False).encode()[1:-1]


def _write_dataset(file: h5py.File, key: str, content: Content, array: np.ndarray) -> h5py.Dataset:
    """Writes the vectors of a sentence, compressed if the settings ask for it."""
    data = content.shaped(array)
    gzip = content.settings.gzip
    # HDF5 compresses only datasets in chunks, and a chunk cannot be empty. The vectors of a blank
    # line are empty.
    if gzip is None or data.size == 0:
        return file.create_dataset(key, data=data, track_times=False)
    return file.create_dataset(
        key, data=data, track_times=False, chunks=data.shape, shuffle=True, compression=gzip
    )


def _read_chunk(path: Path, first_line: int) -> _StoredChunk:
    """
    Reads a file that `write_chunk` wrote, and divides its vectors among the sentences. `first_line`
    is the number of its first line in the whole text.
    """
    with np.load(path) as stored:
        ends = np.cumsum(stored["lengths"])
        names = []
        if len(stored["names"]) > 0:  # an empty array would be split into one empty name
            names = split_lines(stored["names"])
        sentences = split_lines(stored["sentences"])
        line_numbers = [str(first_line + index) for index in range(len(sentences))]
        return _StoredChunk(
            sentences=sentences,
            texts=split_lines(stored["texts"]),
            arrays=np.split(stored["vectors"], ends[:-1]),
            names=names,
            line_numbers=line_numbers,
        )


def _hdf5_description(path: Path) -> str:
    """Returns the description in a file of HDF5."""
    with h5py.File(path, "r") as file:
        return file.attrs[_DESCRIPTION]


def sentence_key(sentence: str) -> str:
    r"""
    Returns the name of a sentence's dataset if sentences are keys: the sentence, with characters
    escaped that HDF5 forbids. A slash is written `\s`, a NUL `\0`, a sentence of a single dot `\.`,
    and a backslash `\\`.
    """
    if sentence == ".":
        return r"\."
    return sentence.replace("\\", r"\\").replace("/", r"\s").replace("\0", r"\0")


def check_keys(chunk: Chunk) -> None:
    """Raises `BiLmError` if a sentence of a chunk is too long to be the name of its vectors."""
    for record in chunk.records:
        if len(sentence_key(record.text).encode()) > _MAX_KEY_BYTES:
            raise BiLmError(
                f"{record.place}: the sentence is longer than the {_MAX_KEY_BYTES:,} bytes of a "
                "name in HDF5: leave out --use-sentence-keys"
            )


def check_member_names(chunk: Chunk) -> None:
    """
    Raises `BiLmError` if the name of a record would lead out of the folder into which somebody
    unpacks an .npz file.
    """
    for record in chunk.records:
        name = PureWindowsPath(record.name)  # splits at slashes and at backslashes
        if name.anchor or ".." in name.parts:
            raise BiLmError(
                f"{record.place}: the record {record.name!r:.100} cannot be a name in .npz; "
                "write .hdf5"
            )


def _write_safetensors(path: Path, content: Content) -> None:
    """
    Writes `vectors`, shape (words of the text, num_layers, dim) or (words of the text, dim), and
    `starts`, shape (sentences + 1,): sentence i has the vectors from `starts[i]` to `starts[i +
    1]`. Its words, with a space between them, are the UTF-8 bytes of `text` from `text_starts[i]`
    to `text_starts[i + 1]`. The names of proteins, a line each, are in `names`.
    """
    tensors = _tensors(content)
    header = _safetensors_header(tensors, content.description)
    # Written in pieces, because the library needs all tensors in memory.
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for tensor in tensors.values():
            little_endian = np.dtype(tensor.dtype).newbyteorder("<")
            for piece in tensor.pieces:
                file.write(np.ascontiguousarray(piece, dtype=little_endian).data)


class _Tensor(NamedTuple):
    """A tensor of safetensors. Its rows are read only when they are written."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[np.ndarray]

    @classmethod
    def of(cls, array: np.ndarray) -> "_Tensor":
        """Returns a tensor that is in memory."""
        return cls(str(array.dtype), array.shape, [array])

    @property
    def item_size(self) -> int:
        """The number of bytes of each value."""
        return np.dtype(self.dtype).itemsize


def _tensors(content: Content) -> dict[str, _Tensor]:
    """Returns the tensors in their order in the file: larger types first, so all are aligned."""
    tensors: dict[str, _Tensor] = {}
    if content.settings.keep_sentences:
        tensors.update(_text_tensors(content))
    tensors.update(_vector_tensors(content))
    if content.settings.has_proteins:
        names = b"\n".join(bytes(joined) for joined in _arrays(content.chunks, "names"))
        tensors["names"] = _Tensor.of(np.frombuffer(names, np.uint8))
    larger_types_first = sorted(tensors, key=lambda name: tensors[name].item_size, reverse=True)
    return {name: tensors[name] for name in larger_types_first}


def _vector_tensors(content: Content) -> dict[str, _Tensor]:
    """Returns the tensors `starts`, the first row of each sentence, and `vectors`, the rows."""
    # The empty array is for a text without chunks, as numpy needs one array to concatenate.
    no_lengths = np.zeros(0, np.int64)
    num_words = np.concatenate([no_lengths, *_arrays(content.chunks, "lengths")])
    vectors = _Tensor(
        dtype=content.settings.dtype,
        shape=(int(num_words.sum()), *content.row_shape),
        pieces=_arrays(content.chunks, "vectors"),
    )
    return {"starts": _Tensor.of(_starts(num_words)), "vectors": vectors}


def _text_tensors(content: Content) -> dict[str, _Tensor]:
    """Returns the tensors `text_starts`, the first byte of each sentence, and `text`, the bytes."""
    sentences: list[bytes] = []
    for joined in _arrays(content.chunks, "texts"):
        for sentence in split_lines(joined):
            sentences.append(sentence.encode())
    starts = _starts([len(sentence) for sentence in sentences])
    text = np.frombuffer(b"".join(sentences), np.uint8)
    return {"text_starts": _Tensor.of(starts), "text": _Tensor.of(text)}


def _safetensors_header(tensors: dict[str, _Tensor], description: dict[str, Any]) -> bytes:
    """Returns the JSON that says where each tensor is in the file; its length is divisible by 8."""
    header: dict[str, Any] = {
        "__metadata__": {_DESCRIPTION: json.dumps(description, sort_keys=True)}
    }
    start = 0
    for name, tensor in tensors.items():
        end = start + math.prod(tensor.shape) * tensor.item_size
        header[name] = {
            "dtype": _SAFETENSORS_TYPES[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": [start, end],
        }
        start = end
    encoded = json.dumps(header).encode()
    padded_length = 8 * ceil_div(len(encoded), 8)
    return encoded.ljust(padded_length)


def _arrays(chunks: Iterable[Path], name: str) -> Iterator[np.ndarray]:
    """Yields the array of this name from the file of each chunk."""
    for chunk in chunks:
        with np.load(chunk) as arrays:
            yield arrays[name]


def _starts(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Returns where each part starts, given their lengths, and the end of the last one."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def _safetensors_description(path: Path) -> str:
    """Returns the description in a file of safetensors."""
    with safe_open(path, "np") as file:
        return file.metadata()[_DESCRIPTION]


def _write_npz(path: Path, content: Content) -> None:
    """
    Writes an array for each line or protein. Its name is the number of the line, from 0, or the
    name of the protein.
    """
    # Written in pieces, because numpy needs all arrays in memory.
    with zipfile.ZipFile(path, "w") as file:
        file.comment = json.dumps(content.description, sort_keys=True).encode()
        for line in content.lines():
            with file.open(f"{line.name}.npy", "w", force_zip64=True) as target:
                np.lib.format.write_array(target, content.shaped(line.vectors), allow_pickle=False)


def _npz_description(path: Path) -> bytes:
    """Returns the description in a file of npz."""
    with zipfile.ZipFile(path) as file:
        return file.comment


def _write_csv(path: Path, content: Content) -> None:
    """
    Writes a row for each word, or with pooling for each line: the number of the line, from 0, or
    the name of its protein; the number of the word; the word; and its values, one layer after the
    other. The description is not written.
    """
    # Value 511 of layer 2, for example, has the column 2_511. With a single layer it is 511.
    value_columns = []
    for index in np.ndindex(*content.row_shape):
        value_columns.append("_".join(str(number) for number in index))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["sentence", "position", "word", *value_columns])
        num_formulas = 0
        for line in content.lines():
            if content.settings.pooling is not None:
                words = [line.text]  # one row for the whole line
            else:
                words = line.text.split()
            for position, (word, row) in enumerate(zip(words, line.vectors, strict=True)):
                written_word = ""
                if content.settings.keep_sentences:
                    written_word = word
                # A spreadsheet would compute a word such as "=1+1" instead of showing it.
                num_formulas += count_formulas([line.name, written_word])
                writer.writerow([line.name, position, written_word, *row.ravel().astype(str)])
    warn_of_formulas(path.name, num_formulas)


OUTPUT_FORMATS = {
    "hdf5": OutputFormat((".hdf5", ".h5"), _write_hdf5, _hdf5_description),
    "safetensors": OutputFormat((".safetensors",), _write_safetensors, _safetensors_description),
    "npz": OutputFormat((".npz",), _write_npz, _npz_description),
    "csv": OutputFormat((".csv",), _write_csv, None),
}
