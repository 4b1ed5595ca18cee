"""
Text for a biLM, tokenized once into files of a cache, never all in memory, and the counts of its
words. A shard is one file of the text. In the cache it is a folder, with a file for each chunk.
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
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.common.formats.sentences import sentence_lines
from elmo_plugin.common.formats.text_files import compression, decode, read_lines
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.language_model.chunks import ChunkFile, CorpusChunk, write_corpus_chunk

CHUNK_TOKENS = 2**22
_MEBIBYTE = 2**20
_FORMAT = 5  # the version of a prepared shard's folder; the folder's name contains it
# The file in a folder that has the numbers of tokens and sentences of each chunk, and a checksum.
_SIZES_FILE = "pieces.json"


@dataclass(frozen=True)
class Corpus:
    """Tokenized text in the files of a cache, to be read chunk by chunk."""

    chunks: list[ChunkFile]  # in the order of the shards
    fingerprint: str  # depends on the contents of the shards and their order

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
        The count of each word, sentence boundaries included, in the order of first appearance: a
        vocabulary keeps this order for words that are equally frequent.
        """
        counts: Counter[str] = Counter()
        for chunk_file in self.chunks:
            chunk = chunk_file.open()
            if not counts:  # this is the first chunk
                # A chunk's words do not include the boundaries. They first appear around the first
                # sentence of the text, so that is their place in the order. All counts are added
                # below.
                for word in [BEGIN_SENTENCE_TOKEN, *_first_sentence(chunk), END_SENTENCE_TOKEN]:
                    counts[word] = 0
            occurrences = np.bincount(chunk.tokens).tolist()  # for each word in `chunk.words`
            for word, count in zip(chunk.words, occurrences, strict=True):
                counts[word] += count
            counts[BEGIN_SENTENCE_TOKEN] += chunk_file.sentences
            counts[END_SENTENCE_TOKEN] += chunk_file.sentences
        return counts


def _first_sentence(chunk: CorpusChunk) -> list[str]:
    """Returns the words of a chunk's first sentence."""
    begin, end = chunk.starts[:2]
    return [chunk.words[number] for number in chunk.tokens[begin:end]]


def prepare_corpus(
    shards: Sequence[str],
    cache_directory: str | Path | None = None,
    num_processes: int = 1,
    chunk_tokens: int = CHUNK_TOKENS,
) -> Corpus:
    """
    Returns the text of the shards, tokenized into the folder `corpora` of the cache. The cache is
    `cache_directory`, by default `$ELMO_PLUGIN_CACHE`, and if that is not set, `elmo_plugin` in
    torch's hub folder. A shard whose content was tokenized before, under whatever name, is not
    tokenized again. `num_processes` shards are tokenized at a time.

    Raises `BiLmError` if a shard cannot be read or written; then nothing of that shard is left.
    """
    if not cache_directory:
        cache_directory = os.environ.get("ELMO_PLUGIN_CACHE")
    if not cache_directory:
        cache_directory = f"{torch.hub.get_dir()}/elmo_plugin"
    directory = Path(cache_directory) / "corpora"
    prepare_one = partial(prepare_shard, directory=directory, chunk_tokens=chunk_tokens)
    distinct_shards = list(dict.fromkeys(shards))
    chunks_of_shard: dict[str, list[ChunkFile]] = {}
    with progress_bar(total=len(distinct_shards), desc="preparing text") as bar:
        prepared = _prepare_each(prepare_one, distinct_shards, num_processes)
        for shard, chunks in zip(distinct_shards, prepared, strict=True):
            chunks_of_shard[shard] = chunks
            bar.update()
    all_chunks: list[ChunkFile] = []
    folder_names: list[str] = []
    for shard in shards:
        chunks = chunks_of_shard[shard]
        all_chunks += chunks
        folder = chunks[0].path.parent
        folder_names.append(folder.name)  # it contains a digest of the shard's content
    fingerprint = blake2b(" ".join(folder_names).encode(), digest_size=16).hexdigest()
    return Corpus(all_chunks, fingerprint)


def _prepare_each(
    prepare_one: Callable[[str], list[ChunkFile]], shards: Sequence[str], num_processes: int
) -> Iterator[list[ChunkFile]]:
    """
    Yields the chunks of each shard, in the order of the shards. `prepare_one` is called in
    `num_processes` other processes, or in this process if the number is 1.
    """
    if num_processes > 1:
        with ProcessPoolExecutor(num_processes) as pool:
            yield from pool.map(prepare_one, shards)
    else:
        for shard in shards:
            yield prepare_one(shard)


def find_shards(*paths: str) -> list[str]:
    """
    Returns text files, each once. A path is a file, or a pattern such as `train-*.txt` that stands
    for the files that match it, sorted. Raises `BiLmError` for a path that is neither.
    """
    shards: dict[str, None] = {}  # a set that keeps the order
    for path in paths:
        if os.path.isfile(path):  # even if its name looks like a pattern, such as `text[1].txt`
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
    """
    Returns the end of the error message for a path that is neither a file nor a pattern of files:
    the reason why it cannot be read, if something is there.
    """
    if os.path.isdir(path):
        return "; it is a folder: name its files"
    is_standard_input = path == "-"  # other commands read it
    is_pipe_or_device = os.path.exists(path)  # because it is neither a file nor a folder
    if is_standard_input or is_pipe_or_device:
        # A shard is read once for its digest, and once more for its words.
        return "; it is no file that can be read twice"
    return ""


def read_sentences(shard: str) -> Iterator[list[str]]:
    """
    Yields the words of each line, separated by white space; skips blank lines. Raises `BiLmError`
    if the shard is empty, is a table or other data instead of text, is not in UTF-8, contains
    sentence boundaries, or is a damaged `.gz` or `.zst` file.
    """
    is_empty = True
    for number, line in enumerate(sentence_lines(read_lines(shard), shard), start=1):
        place = f"{shard}, line {number}"
        words = decode(line, place).split()
        if words:
            is_empty = False
            check_no_boundaries(words, place)
            yield words
    if is_empty:
        raise BiLmError(f"{shard} is empty; remove it from the data path")


def prepare_shard(shard: str, directory: Path, chunk_tokens: int = CHUNK_TOKENS) -> list[ChunkFile]:
    """
    Returns the chunks of a shard. If they are missing, they are written to a folder in `directory`.
    If several processes need them at the same time, one writes them and the others wait. A chunk
    has at most `chunk_tokens` words, unless it is a single longer sentence.

    Raises `BiLmError` if the shard cannot be read or the chunks cannot be written; then nothing of
    them is left.
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


def _open_folder(folder: Path) -> list[ChunkFile] | None:
    """
    Returns the chunks in a folder; `None` if the folder is missing, or the file with the sizes of
    the chunks is missing or damaged. The files of the chunks are not opened.
    """
    sizes_file = folder / _SIZES_FILE
    try:
        content = read_json_object(sizes_file, name=str(sizes_file))
    except BiLmError:
        return None
    sizes = content.get("sizes")
    if sizes is None or content.get("crc32") != _checksum(sizes):
        return None
    return _chunk_files(folder, sizes)


def _checksum(sizes: object) -> int:
    """Returns a checksum (CRC-32) of the sizes of chunks, by which a changed digit is noticed."""
    return zlib.crc32(json.dumps(sizes).encode())


def _chunk_files(folder: Path, sizes: Iterable[Sequence[int]]) -> list[ChunkFile]:
    """Returns the chunks in a folder, given the number of tokens and of sentences in each."""
    chunks = []
    for number, (tokens, sentences) in enumerate(sizes):
        chunks.append(ChunkFile(_chunk_path(folder, number), tokens, sentences))
    return chunks


def _chunk_path(folder: Path, number: int) -> Path:
    """Returns the file of a chunk in a folder."""
    return folder / f"{number:06d}.npz"


def _write_folder(shard: str, digest: str, folder: Path, chunk_tokens: int) -> list[ChunkFile]:
    """
    Writes the chunks of a shard into a folder, and returns them. The folder appears when it is
    complete. The caller holds its lock.

    Raises `BiLmError` if the content of the shard does not have this digest any more.
    """
    shutil.rmtree(folder, ignore_errors=True)  # if it exists, it is damaged
    with atomic_write(folder) as temporary:
        temporary.mkdir()
        sizes: list[tuple[int, int]] = []
        for chunk in _divide(read_sentences(shard), chunk_tokens):
            path = _chunk_path(temporary, len(sizes))
            write_corpus_chunk(path, chunk.words, chunk.tokens, chunk.lengths)
            sizes.append((len(chunk.tokens), len(chunk.lengths)))
        content = {"sizes": sizes, "crc32": _checksum(sizes)}
        (temporary / _SIZES_FILE).write_text(json.dumps(content))
        if _content_digest(shard) != digest:
            raise BiLmError(f"{shard} was changed while it was read; start again when it is whole")
    return _chunk_files(folder, sizes)


class _TokenizedChunk:
    """
    A chunk before it is written.

    tokens: for each word of the text, its place in `words`
    lengths: the number of words in each sentence
    """

    def __init__(self) -> None:
        # Arrays, because they need less memory than lists of numbers.
        self.tokens = array("I")
        self.lengths = array("q")
        # The number of each distinct word. If a word that is new is looked up, it gets the next
        # number.
        next_number = itertools.count().__next__
        self._numbers: defaultdict[str, int] = defaultdict(next_number)

    @property
    def words(self) -> list[str]:
        """The distinct words, in the order of their first appearance."""
        return list(self._numbers)

    def has_room_for(self, sentence: list[str], chunk_tokens: int) -> bool:
        """Returns whether a sentence fits into the chunk."""
        if not self.lengths:
            return True  # any sentence fits into an empty chunk, because it must fit into some
        return len(self.tokens) + len(sentence) <= chunk_tokens

    def add(self, sentence: list[str]) -> None:
        """Adds the words of a sentence."""
        numbers = self._numbers
        self.tokens.extend([numbers[word] for word in sentence])
        self.lengths.append(len(sentence))


def _divide(sentences: Iterable[list[str]], chunk_tokens: int) -> Iterator[_TokenizedChunk]:
    """
    Divides sentences into chunks of at most `chunk_tokens` words. A longer sentence is a chunk of
    its own.
    """
    chunk = _TokenizedChunk()
    for sentence in sentences:
        if not chunk.has_room_for(sentence, chunk_tokens):
            yield chunk
            chunk = _TokenizedChunk()
        chunk.add(sentence)
    yield chunk


def _content_digest(shard: str) -> str:
    """Returns a digest of the content of a file, and of the compression that its suffix means."""
    # The same bytes are another text if a file is renamed from `.gz` to `.txt`.
    digest = blake2b(compression(shard).encode(), digest_size=16)
    with open(shard, "rb") as file:
        while part := file.read(_MEBIBYTE):
            digest.update(part)
    return digest.hexdigest()
