"""
Text for a biLM, tokenized once into files of a cache, never all in memory, and the counts of its
words.
"""

import glob
import itertools
import json
import os
import shutil
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from filelock import FileLock

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, check_no_boundaries
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.formats.json_files import read_json
from elmo_plugin.common.formats.text_files import compression, decode, read_lines, sentence_lines
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.language_model.chunks import ChunkFiles, CorpusChunk, write_corpus_chunk

CHUNK_TOKENS = 2**22
_FORMAT = 5  # the version of the folder of a prepared shard, which is part of its name
# The file that has the numbers of tokens and sentences of each chunk, and their checksum.
_LIST = "pieces.json"


@dataclass(frozen=True)
class Corpus:
    """Tokenized text in the files of a cache, to be read chunk by chunk."""

    chunks: list[ChunkFiles]  # in the order of the shards
    fingerprint: str  # changes with the contents of the shards and their order

    @property
    def tokens(self) -> int:
        """The number of words, without sentence boundaries."""
        return sum(chunk.tokens for chunk in self.chunks)

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return sum(chunk.sentences for chunk in self.chunks)

    @cached_property
    def counts(self) -> Counter[str]:
        """
        The count of each word, sentence boundaries included, in the order of first appearance.
        """
        counts: Counter[str] = Counter()
        for files in self.chunks:
            chunk = files.open()
            if not counts:  # only for the first chunk
                # The first sentence brings `<S>`, its words and `</S>`, in this order.
                for word in [BEGIN_SENTENCE_TOKEN, *_first_sentence(chunk), END_SENTENCE_TOKEN]:
                    counts[word] = 0
            occurrences = np.bincount(chunk.tokens).tolist()
            for word, count in zip(chunk.words, occurrences, strict=True):
                counts[word] += count
            counts[BEGIN_SENTENCE_TOKEN] += files.sentences
            counts[END_SENTENCE_TOKEN] += files.sentences
        return counts


def _first_sentence(chunk: CorpusChunk) -> list[str]:
    """Returns the words of the first sentence."""
    begin, end = chunk.starts[:2]
    return [chunk.words[number] for number in chunk.tokens[begin:end]]


def prepare_corpus(
    shards: Sequence[str],
    cache_directory: str | Path | None = None,
    num_processes: int = 1,
    chunk_tokens: int = CHUNK_TOKENS,
) -> Corpus:
    """
    Tokenizes each shard once into the folder `corpora` of the cache, by default
    `$ELMO_PLUGIN_CACHE`, or `elmo_plugin` in torch's hub folder; `num_processes` shards at a time.
    A shard that was tokenized before, under whatever name, is only opened.

    Raises `BiLmError` as `prepare` does; then nothing of that shard is left.
    """
    cache = (
        cache_directory
        or os.environ.get("ELMO_PLUGIN_CACHE")
        or f"{torch.hub.get_dir()}/elmo_plugin"
    )
    directory = Path(cache) / "corpora"
    prepare_one = partial(prepare, directory=directory, chunk_tokens=chunk_tokens)
    distinct = list(dict.fromkeys(shards))
    chunks_of: dict[str, list[ChunkFiles]] = {}
    with progress_bar(total=len(distinct), desc="preparing text") as bar:
        prepared = _run_on_each(prepare_one, distinct, num_processes)
        for shard, chunks in zip(distinct, prepared, strict=True):
            chunks_of[shard] = chunks
            bar.update()
    all_chunks: list[ChunkFiles] = []
    contents: list[str] = []
    for shard in shards:
        chunks = chunks_of[shard]
        all_chunks += chunks
        contents.append(chunks[0].path.parent.name)  # the folder's name has the content's digest
    fingerprint = blake2b(" ".join(contents).encode(), digest_size=16).hexdigest()
    return Corpus(all_chunks, fingerprint)


def _run_on_each(
    prepare_one: Callable[[str], list[ChunkFiles]], shards: Sequence[str], num_processes: int
) -> Iterator[list[ChunkFiles]]:
    """Prepares each shard, and yields its chunks, in the order of the shards."""
    if num_processes > 1:
        with ProcessPoolExecutor(num_processes) as pool:
            yield from pool.map(prepare_one, shards)
    else:
        for shard in shards:
            yield prepare_one(shard)


def find_shards(*paths: str) -> list[str]:
    """
    Returns for each path the file itself, or the files that it matches, sorted; each file once.
    Raises `BiLmError` if there is none.
    """
    shards: dict[str, None] = {}  # a set that keeps the order
    for path in paths:
        if os.path.isfile(path):
            files = [path]
        else:
            files = sorted(match for match in glob.glob(path) if os.path.isfile(match))
        if not files:
            raise BiLmError(
                f"expected text files, or a pattern of some, got {path}{_hint_for(path)}"
            )
        for file in files:
            shards[file] = None
    return list(shards)


def _hint_for(path: str) -> str:
    """Says why a path is not a text file, if it exists."""
    if os.path.isdir(path):
        return "; it is a folder: name its files"
    if os.path.exists(path) or path == "-":
        return "; it is no file that can be read twice"
    return ""


def read_sentences(shard: str) -> Iterator[list[str]]:
    """
    Yields the words of each line, separated by white space; skips blank lines. Raises `BiLmError`
    if the shard is empty, is not UTF-8 text, contains sentence boundaries, or is a damaged `.gz` or
    `.zst` file.
    """
    is_empty = True
    for number, line in enumerate(sentence_lines(read_lines(shard), shard), start=1):
        words = decode(line, f"{shard}, line {number}").split()
        if words:
            is_empty = False
            check_no_boundaries(words, f"{shard}, line {number}")
            yield words
    if is_empty:
        raise BiLmError(f"{shard} is empty; remove it from the data path")


def prepare(shard: str, directory: Path, chunk_tokens: int = CHUNK_TOKENS) -> list[ChunkFiles]:
    """
    Returns the chunks of a shard, written to `directory` if they are missing; if several processes
    prepare the same shard, one does it and the rest wait. A chunk has at most `chunk_tokens`
    words, or a single longer sentence.

    Raises `BiLmError` if the shard cannot be read or the chunks cannot be written; nothing of them
    is left.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        digest = _content_digest(shard)
        folder = directory / f"{digest}-{chunk_tokens}-v{_FORMAT}"
        with FileLock(f"{folder}.lock"):
            chunks = _open_folder(folder)
            if chunks is None:
                chunks = _write_folder(shard, digest, folder, chunk_tokens)
            return chunks
    except OSError as error:
        raise BiLmError(
            f"cannot prepare {shard} for training ({error}); prepared text is written to "
            f"{directory}, or where $ELMO_PLUGIN_CACHE says"
        ) from None


def _open_folder(folder: Path) -> list[ChunkFiles] | None:
    """Returns the chunks in a folder, `None` if it is missing or incomplete."""
    try:
        content = read_json(folder / _LIST, str(folder / _LIST))
    except BiLmError:
        return None
    if not isinstance(content, dict):
        return None
    sizes = content.get("sizes")
    if not isinstance(sizes, list) or not sizes:
        return None
    if not all(_is_size(size) for size in sizes) or content.get("crc32") != _checksum(sizes):
        return None
    return _chunk_files(folder, sizes)


def _is_size(value: object) -> bool:
    """Returns whether a value of JSON is the size of a chunk: two counts."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(type(count) is int and count >= 0 for count in value)


def _checksum(sizes: Sequence[Sequence[int]]) -> int:
    """Returns the CRC-32 of the sizes of chunks."""
    return zlib.crc32(json.dumps(sizes).encode())


def _chunk_files(folder: Path, sizes: Iterable[Sequence[int]]) -> list[ChunkFiles]:
    """Returns the chunks in a folder, given the tokens and the sentences of each."""
    chunks = []
    for number, (tokens, sentences) in enumerate(sizes):
        chunks.append(ChunkFiles(_chunk_path(folder, number), tokens, sentences))
    return chunks


def _chunk_path(folder: Path, number: int) -> Path:
    """Returns the file of a chunk in a folder."""
    return folder / f"{number:06d}.npz"


def _write_folder(shard: str, digest: str, folder: Path, chunk_tokens: int) -> list[ChunkFiles]:
    """Writes the folder of a shard. It appears when it is complete. The caller has locked it."""
    shutil.rmtree(folder, ignore_errors=True)  # if there is one, it is damaged
    with atomic_write(folder) as part:
        part.mkdir()
        sizes: list[tuple[int, int]] = []
        for chunk in _divide(read_sentences(shard), chunk_tokens):
            path = _chunk_path(part, len(sizes))
            write_corpus_chunk(path, chunk.words, chunk.tokens, chunk.lengths)
            sizes.append((len(chunk.tokens), len(chunk.lengths)))
        content = {"sizes": sizes, "crc32": _checksum(sizes)}
        (part / _LIST).write_text(json.dumps(content))
        if _content_digest(shard) != digest:
            raise BiLmError(f"{shard} was changed while it was read; start again when it is whole")
    return _chunk_files(folder, sizes)


class _TokenizedChunk:
    """
    Sentences as numbers of words, before they are written.

    tokens: the number of each word of the text
    lengths: the number of words in each sentence
    """

    def __init__(self) -> None:
        self.tokens = array("I")
        self.lengths = array("q")
        numbers_from_0 = itertools.count()
        # The number of each word: a word that is not here yet gets the next number.
        self._numbers: defaultdict[str, int] = defaultdict(numbers_from_0.__next__)

    @property
    def words(self) -> list[str]:
        """The distinct words, in the order of their numbers."""
        return list(self._numbers)

    def has_room_for(self, sentence: list[str], chunk_tokens: int) -> bool:
        """Returns whether a sentence fits into the chunk. Any sentence fits into an empty one."""
        if not self.lengths:
            return True
        return len(self.tokens) + len(sentence) <= chunk_tokens

    def add(self, sentence: list[str]) -> None:
        """Adds the words of a sentence."""
        numbers = self._numbers
        self.tokens.extend([numbers[word] for word in sentence])
        self.lengths.append(len(sentence))


def _divide(sentences: Iterable[list[str]], chunk_tokens: int) -> Iterator[_TokenizedChunk]:
    """Divides sentences into chunks of at most `chunk_tokens` words, or a longer sentence."""
    chunk = _TokenizedChunk()
    for sentence in sentences:
        if not chunk.has_room_for(sentence, chunk_tokens):
            yield chunk
            chunk = _TokenizedChunk()
        chunk.add(sentence)
    yield chunk


def _content_digest(shard: str) -> str:
    """Returns a digest of the content of a file, and of how it is compressed."""
    digest = blake2b(compression(shard).encode(), digest_size=16)
    with open(shard, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
