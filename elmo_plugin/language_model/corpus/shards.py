"""Files of text (shards), each tokenised once into pieces that are kept by the content of the file."""

import json
import shutil
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from os import getpid
from pathlib import Path

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import FileLock

from elmo_plugin.common.text_files import compression, decode, read_lines
from elmo_plugin.language_model.corpus.chunks import RESERVED_WORDS, PieceFiles, write_piece

PIECE_TOKENS = 2**22
_FORMAT = 1  # of prepared shards; another number for another layout
_LIST = "pieces.json"  # the tokens and sentences of each piece


@dataclass(frozen=True)
class PreparedShard:
    """
    # Parameters

    folder : `Path`
        Where the pieces are. Its name stands for the content of the shard.
    pieces : `list[PieceFiles]`
        In the order of the text.
    """

    folder: Path
    pieces: list[PieceFiles]


def read_sentences(shard: str) -> Iterator[list[str]]:
    """
    The words of each line, separated by white space; blank lines are skipped. Raises `ConfigurationError`
    where the shard has no sentence, is not UTF-8 text, or is a damaged `.gz` or `.zst` file.
    """
    found = False
    for number, line in enumerate(read_lines(shard), start=1):
        if words := decode(line, f"{shard}, line {number}").split():
            found = True
            yield words
    if not found:
        raise ConfigurationError(f"{shard} has no sentence in it; remove it from the data path")


def find_prepared(shard: str, directory: Path, piece_tokens: int = PIECE_TOKENS) -> PreparedShard | None:
    """The prepared form of a shard where it can be told without reading the shard."""
    with _errors_named(shard, directory):
        content = _remembered_content(shard, directory)
    return _read(_folder(directory, content, piece_tokens)) if content is not None else None


def prepare(shard: str, directory: Path, piece_tokens: int = PIECE_TOKENS) -> PreparedShard:
    """
    # Parameters

    shard : `str`
        A file of UTF-8 text with a sentence a line, plain, `.gz` or `.zst`.
    directory : `Path`
        Where prepared shards are. Several processes may prepare the same shard at the same time: one of them
        does it, the others wait.
    piece_tokens : `int`
        The most words in a piece, unless a sentence has more.

    Raises `ConfigurationError` where the shard has no sentence, is not UTF-8 text, is damaged, gone, or
    changed while it was read, or where the pieces cannot be written; then nothing of them is left.
    """
    with _errors_named(shard, directory):
        directory.mkdir(parents=True, exist_ok=True)
        stamp = _stamp(shard)
        content = _remembered_content(shard, directory) or _content(shard)
        folder = _folder(directory, content, piece_tokens)
        with FileLock(f"{folder}.lock"):
            prepared = _read(folder) or _write(shard, stamp, folder, piece_tokens)
        _remember_content(shard, stamp, content, directory)
    return prepared


@contextmanager
def _errors_named(shard: str, directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not Path(shard).exists():
            message = f"{shard} is gone; put it back or remove it from the data path"
        else:
            message = (
                f"cannot prepare {shard} for training ({error}); prepared text is written to {directory}, "
                "or where $ELMO_PLUGIN_CACHE says"
            )
        raise ConfigurationError(message) from None


def _folder(directory: Path, content: str, piece_tokens: int) -> Path:
    return directory / f"{content}-{piece_tokens}-v{_FORMAT}"


def _read(folder: Path) -> PreparedShard | None:
    """None where the folder is not there, or is not whole."""
    try:
        sizes = json.loads((folder / _LIST).read_text())
    except (FileNotFoundError, ValueError):
        return None
    return PreparedShard(folder, [PieceFiles(_piece(folder, i), *size) for i, size in enumerate(sizes)])


def _write(shard: str, stamp: list[int], folder: Path, piece_tokens: int) -> PreparedShard:
    """The folder appears when it is whole. Only one process at a time may be here."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
    try:
        part.mkdir()
        sizes: list[tuple[int, int]] = []
        for words, types, lengths in _tokenised(read_sentences(shard), piece_tokens):
            write_piece(_piece(part, len(sizes)), words, types, lengths)
            sizes.append((len(types), len(lengths)))
        (part / _LIST).write_text(json.dumps(sizes))
        if _stamp(shard) != stamp:
            raise ConfigurationError(f"{shard} was changed while it was read; start again when it is whole")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return PreparedShard(folder, [PieceFiles(_piece(folder, i), *size) for i, size in enumerate(sizes)])


def _piece(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"


def _tokenised(sentences: Iterable[list[str]], piece_tokens: int) -> Iterator[tuple[list[str], array, array]]:
    """For each piece its words from type 3 on, the type of each token, and the length of each sentence."""
    reserved = {word: number for number, word in enumerate(RESERVED_WORDS)}
    types_of = defaultdict(count(len(reserved)).__next__, reserved)
    types, lengths = array("I"), array("q")
    for sentence in sentences:
        if lengths and len(types) + len(sentence) > piece_tokens:
            yield list(types_of)[len(reserved) :], types, lengths
            types_of = defaultdict(count(len(reserved)).__next__, reserved)
            types, lengths = array("I"), array("q")
        types.extend(map(types_of.__getitem__, sentence))
        lengths.append(len(sentence))
    yield list(types_of)[len(reserved) :], types, lengths


def _content(shard: str) -> str:
    """Tells the content of the file, and how it is read."""
    digest = blake2b(compression(shard).encode(), digest_size=16)
    with open(shard, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _stamp(shard: str) -> list[int]:
    """Differs once the file was written to."""
    status = Path(shard).stat()
    return [status.st_size, status.st_mtime_ns]


def _memory(shard: str, directory: Path) -> Path:
    """Where the content of the file at a path is remembered, so that it need not be read to tell it."""
    path = bytes(Path(shard).resolve())
    return directory / "contents" / f"{blake2b(path, digest_size=16).hexdigest()}.json"


def _remembered_content(shard: str, directory: Path) -> str | None:
    stamp = _stamp(shard)
    try:
        remembered = json.loads(_memory(shard, directory).read_text())
    except (OSError, ValueError):
        return None
    return remembered["content"] if remembered["stamp"] == stamp else None


def _remember_content(shard: str, stamp: list[int], content: str, directory: Path) -> None:
    memory = _memory(shard, directory)
    memory.parent.mkdir(exist_ok=True)
    part = memory.with_name(f"{memory.name}.{getpid()}.part")
    part.write_text(json.dumps({"path": str(Path(shard).resolve()), "stamp": stamp, "content": content}))
    part.replace(memory)
