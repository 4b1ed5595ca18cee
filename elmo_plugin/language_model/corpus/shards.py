"""Files of text (shards), each tokenized once into chunks in a folder that is named by the file's content."""

import glob
import json
import os
import shutil
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from pathlib import Path

from filelock import FileLock

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, remove_leftovers, write_json
from elmo_plugin.common.formats.json_files import read_json
from elmo_plugin.common.formats.text_files import compression, decode, read_lines
from elmo_plugin.language_model.corpus.chunks import RESERVED_WORDS, ChunkFiles, write_corpus_chunk

CHUNK_TOKENS = 2**22
_FORMAT = 2  # of prepared shards; another number for another layout
_LIST = "pieces.json"  # the tokens, the sentences and the checksum of each chunk


@dataclass(frozen=True)
class PreparedShard:
    """
    folder: where the chunks are; its name stands for the content of the shard
    chunks: in the order of the text
    """

    folder: Path
    chunks: list[ChunkFiles]


def find_shards(*paths: str) -> list[str]:
    """
    Returns for each path the file itself, or the files that it matches, sorted; a file that several of them
    name is there once. Raises `BiLmError` if there is none.
    """
    found: dict[str, None] = {}
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise BiLmError(f"a data path is text, not {path!r}")
        files = [path] if os.path.isfile(path) else sorted(filter(os.path.isfile, glob.glob(path)))
        if not files:
            raise BiLmError(f"no file matches the data path {path}")
        found |= dict.fromkeys(files)
    return list(found)


def read_sentences(shard: str) -> Iterator[list[str]]:
    """
    Yields the words of each line, separated by white space; blank lines are skipped. Raises
    `BiLmError` where the shard has no sentence, is not UTF-8 text, or is a damaged `.gz` or `.zst`
    file.
    """
    found = False
    for number, line in enumerate(read_lines(shard), start=1):
        if words := decode(line, f"{shard}, line {number}").split():
            found = True
            yield words
    if not found:
        raise BiLmError(f"{shard} has no sentence in it; remove it from the data path")


def find_prepared(shard: str, directory: Path, chunk_tokens: int = CHUNK_TOKENS) -> PreparedShard | None:
    """Returns the prepared form of a shard if it can be found without reading the shard."""
    with _errors_named(shard, directory):
        content = _recorded_content(shard, directory)
    return _open(_folder(directory, content, chunk_tokens)) if content is not None else None


def prepare(shard: str, directory: Path, chunk_tokens: int = CHUNK_TOKENS) -> PreparedShard:
    """
    Returns the prepared form of a shard, a file of UTF-8 text with one tokenized sentence a line, plain,
    `.gz` or `.zst`. It is written to `directory` if it is not there yet. Several processes may prepare the
    same shard at the same time: one of them does it, the others wait. A chunk has at most `chunk_tokens`
    words, unless a sentence has more.

    Raises `BiLmError` where the shard has no sentence, is not UTF-8 text, is damaged, gone, or
    changed while it was read, or where the chunks cannot be written; then nothing of them is left.
    """
    with _errors_named(shard, directory):
        directory.mkdir(parents=True, exist_ok=True)
        stamp = _stamp(shard)
        content = _recorded_content(shard, directory) or _content(shard)
        folder = _folder(directory, content, chunk_tokens)
        with FileLock(f"{folder}.lock"):
            if _open(folder) is None:
                _write(shard, stamp, folder, chunk_tokens)
        write_json(
            _record(shard, directory),
            {"path": str(Path(shard).resolve()), "stamp": stamp, "content": content},
        )
        return PreparedShard(folder, _chunks(folder))


@contextmanager
def _errors_named(shard: str, directory: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, BiLmError) as error:
        if not Path(shard).exists():
            message = f"{shard} is gone; put it back or remove it from the data path"
        elif isinstance(error, BiLmError):
            raise
        else:
            message = (
                f"cannot prepare {shard} for training ({error}); prepared text is written to {directory}, "
                "or where $ELMO_PLUGIN_CACHE says"
            )
        raise BiLmError(message) from None


def _folder(directory: Path, content: str, chunk_tokens: int) -> Path:
    return directory / f"{content}-{chunk_tokens}-v{_FORMAT}"


def _open(folder: Path) -> PreparedShard | None:
    """Returns `None` where the folder is missing or incomplete."""
    try:
        return PreparedShard(folder, _chunks(folder))
    except (OSError, ValueError, TypeError):
        return None


def _chunks(folder: Path) -> list[ChunkFiles]:
    """Raises `BiLmError` or `TypeError` where the list is damaged."""
    sizes = read_json(folder / _LIST, str(folder / _LIST))
    if not sizes or not all(type(each) is int and each >= 0 for size in sizes for each in size):
        raise BiLmError(f"{folder / _LIST} is damaged")
    return [ChunkFiles(folder / f"{number:06d}", *size) for number, size in enumerate(sizes)]


def _write(shard: str, stamp: list[int], folder: Path, chunk_tokens: int) -> None:
    """Writes the folder, which appears when it is whole. Only one process at a time may be here."""
    remove_leftovers(folder.parent, folder.name)
    shutil.rmtree(folder, ignore_errors=True)  # it is damaged
    with atomic_write(folder) as part:
        part.mkdir()
        sizes: list[tuple[int, int, int]] = []
        for words, types, lengths in _tokenized(read_sentences(shard), chunk_tokens):
            checksum = write_corpus_chunk(part / f"{len(sizes):06d}", words, types, lengths)
            sizes.append((len(types), len(lengths), checksum))
        (part / _LIST).write_text(json.dumps(sizes))
        if _stamp(shard) != stamp:
            raise BiLmError(f"{shard} was changed while it was read; start again when it is whole")


def _tokenized(sentences: Iterable[list[str]], chunk_tokens: int) -> Iterator[tuple[list[str], array, array]]:
    """For each chunk its words from type 3 on, the type of each token, and the length of each sentence."""
    reserved = {word: number for number, word in enumerate(RESERVED_WORDS)}
    types_of = defaultdict(count(len(reserved)).__next__, reserved)
    types, lengths = array("I"), array("q")
    for sentence in sentences:
        if lengths and len(types) + len(sentence) > chunk_tokens:
            yield list(types_of)[len(reserved) :], types, lengths
            types, lengths = array("I"), array("q")
            types_of = defaultdict(count(len(reserved)).__next__, reserved)
        types.extend(map(types_of.__getitem__, sentence))
        lengths.append(len(sentence))
    yield list(types_of)[len(reserved) :], types, lengths


def _content(shard: str) -> str:
    """Digests the content of the file, and of how it is read."""
    digest = blake2b(compression(shard).encode(), digest_size=16)
    with open(shard, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _stamp(shard: str) -> list[int]:
    """Returns what changes when the file is written to."""
    status = Path(shard).stat()
    return [status.st_size, status.st_mtime_ns]


def _record(shard: str, directory: Path) -> Path:
    """Returns where the digest of the file at a path is recorded, so that the file need not be read again."""
    path = bytes(Path(shard).resolve())
    return directory / "contents" / f"{blake2b(path, digest_size=16).hexdigest()}.json"


def _recorded_content(shard: str, directory: Path) -> str | None:
    stamp = _stamp(shard)
    try:
        record = read_json(_record(shard, directory), "the record of a shard")
        return str(record["content"]) if record["stamp"] == stamp else None
    except (BiLmError, KeyError, TypeError):
        return None
