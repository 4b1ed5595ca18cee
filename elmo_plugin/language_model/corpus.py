"""
Text for a biLM, tokenized once into files of a cache, never all in memory, and the counts of its
words.
"""

import glob
import json
import os
import shutil
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain
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
from elmo_plugin.language_model.chunks import ChunkFiles, write_corpus_chunk

CHUNK_TOKENS = 2**22
_FORMAT = 4  # of prepared shards; another layout needs another number
_LIST = "pieces.json"  # has the numbers of tokens and sentences of each chunk


@dataclass(frozen=True)
class Corpus:
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
        for chunk in self.chunks:
            words, tokens, starts = chunk.open()
            if not counts:
                first_sentence = words[: tokens[: starts[1]].max() + 1]
                counts.update(
                    dict.fromkeys([BEGIN_SENTENCE_TOKEN, *first_sentence, END_SENTENCE_TOKEN], 0)
                )
            counts.update(dict(zip(words, np.bincount(tokens).tolist(), strict=True)))
            counts.update(
                {BEGIN_SENTENCE_TOKEN: chunk.sentences, END_SENTENCE_TOKEN: chunk.sentences}
            )
        return counts


def prepare_corpus(
    shards: Sequence[str],
    cache_directory: str | Path | None = None,
    num_processes: int = 1,
    chunk_tokens: int = CHUNK_TOKENS,
) -> Corpus:
    """
    Tokenizes each shard once into the folder `corpora` of the cache, by default
    `$ELMO_PLUGIN_CACHE`, or `elmo_plugin` in torch's hub folder; `num_processes` shards at a time.
    From then on it is known by its content and only opened.

    Raises `BiLmError` as `prepare` does; then nothing of that shard is left.
    """
    cache = (
        cache_directory
        or os.environ.get("ELMO_PLUGIN_CACHE")
        or f"{torch.hub.get_dir()}/elmo_plugin"
    )
    directory = Path(cache) / "corpora"
    distinct = list(dict.fromkeys(shards))
    prepare_one = partial(prepare, directory=directory, chunk_tokens=chunk_tokens)
    show = partial(progress_bar, total=len(distinct), desc="preparing text")
    if num_processes > 1:
        with ProcessPoolExecutor(num_processes) as pool:
            prepared = list(show(iterable=pool.map(prepare_one, distinct)))
    else:
        prepared = [prepare_one(shard) for shard in show(iterable=distinct)]
    chunks_of = dict(zip(distinct, prepared, strict=True))
    in_order = [chunks_of[shard] for shard in shards]
    contents = " ".join(chunks[0].path.parent.name for chunks in in_order)
    fingerprint = blake2b(contents.encode(), digest_size=16).hexdigest()
    return Corpus([chunk for chunks in in_order for chunk in chunks], fingerprint)


def find_shards(*paths: str) -> list[str]:
    """
    Returns for each path the file itself, or the files that it matches, sorted; each file once.
    Raises `BiLmError` if there is none.
    """
    shards: dict[str, None] = {}
    for path in paths:
        if os.path.isfile(path):
            files = [path]
        else:
            files = sorted(match for match in glob.glob(path) if os.path.isfile(match))
        if not files:
            hint = ""
            if os.path.isdir(path):
                hint = "; it is a folder: name its files"
            elif os.path.exists(path) or path == "-":
                hint = "; it is no file that can be read twice"
            raise BiLmError(f"expected text files, or a pattern of some, got {path}{hint}")
        shards |= dict.fromkeys(files)
    return list(shards)


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
        digest = _content(shard)
        folder = directory / f"{digest}-{chunk_tokens}-v{_FORMAT}"
        with FileLock(f"{folder}.lock"):
            return _open(folder) or _write(shard, digest, folder, chunk_tokens)
    except OSError as error:
        raise BiLmError(
            f"cannot prepare {shard} for training ({error}); prepared text is written to "
            f"{directory}, or where $ELMO_PLUGIN_CACHE says"
        ) from None


def _open(folder: Path) -> list[ChunkFiles] | None:
    """Returns the chunks in a folder, `None` if it is missing or incomplete."""
    try:
        sizes = read_json(folder / _LIST, str(folder / _LIST))
        numbers = list(chain.from_iterable(sizes))
    except (BiLmError, TypeError):
        return None
    are_counts = all(type(number) is int and number >= 0 for number in numbers)
    if not sizes or not are_counts or any(len(size) != 2 for size in sizes):
        return None
    return _chunks(folder, sizes)


def _chunks(folder: Path, sizes: Iterable[Sequence[int]]) -> list[ChunkFiles]:
    """Returns the chunks in a folder, given the tokens and the sentences of each."""
    return [
        ChunkFiles(_chunk_path(folder, number), tokens, sentences)
        for number, (tokens, sentences) in enumerate(sizes)
    ]


def _chunk_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.npz"


def _write(shard: str, digest: str, folder: Path, chunk_tokens: int) -> list[ChunkFiles]:
    """Writes the folder; it appears when it is complete. Only one process at a time may be here."""
    shutil.rmtree(folder, ignore_errors=True)  # it is damaged
    with atomic_write(folder) as part:
        part.mkdir()
        sizes: list[tuple[int, int]] = []
        for words, tokens, lengths in _tokenized(read_sentences(shard), chunk_tokens):
            write_corpus_chunk(_chunk_path(part, len(sizes)), words, tokens, lengths)
            sizes.append((len(tokens), len(lengths)))
        (part / _LIST).write_text(json.dumps(sizes))
        if _content(shard) != digest:
            raise BiLmError(f"{shard} was changed while it was read; start again when it is whole")
    return _chunks(folder, sizes)


def _tokenized(
    sentences: Iterable[list[str]], chunk_tokens: int
) -> Iterator[tuple[list[str], array, array]]:
    """
    Yields for each chunk its distinct words, each token's place among them, and the sentences'
    lengths.
    """
    places: dict[str, int] = defaultdict(lambda: len(places))  # a new word gets the next place
    tokens = array("I")
    lengths = array("q")
    for sentence in sentences:
        if lengths and len(tokens) + len(sentence) > chunk_tokens:
            yield list(places), tokens, lengths
            places.clear()
            tokens = array("I")
            lengths = array("q")
        tokens.extend([places[word] for word in sentence])
        lengths.append(len(sentence))
    yield list(places), tokens, lengths


def _content(shard: str) -> str:
    """Digests the content of the file, and how it is compressed."""
    digest = blake2b(compression(shard).encode(), digest_size=16)
    with open(shard, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
