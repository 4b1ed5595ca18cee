"""Text for a biLM, tokenized once into files of a cache: it is never all in memory."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

import torch

from elmo_plugin.common.progress import progress_bar
from elmo_plugin.language_model.corpus.chunks import ChunkFiles
from elmo_plugin.language_model.corpus.shards import CHUNK_TOKENS, find_prepared, prepare


@dataclass(frozen=True)
class Corpus:
    """
    chunks: in the order of the shards
    fingerprint: of the contents of the shards and their order
    """

    chunks: list[ChunkFiles]
    fingerprint: str

    @property
    def tokens(self) -> int:
        """The number of words, without the sentences' boundaries."""
        return sum(chunk.tokens for chunk in self.chunks)

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return sum(chunk.sentences for chunk in self.chunks)


def prepare_corpus(
    shards: Sequence[str],
    cache_directory: str | Path | None = None,
    num_processes: int = 1,
    chunk_tokens: int = CHUNK_TOKENS,
) -> Corpus:
    """
    Tokenizes each shard once into the folder `corpora` of the cache; from then on it is only opened.

    # Parameters

    shards : `Sequence[str]`
        Files as `prepare` takes them.
    cache_directory : `str` or `Path`, optional
        The cache; by default `$ELMO_PLUGIN_CACHE`, or `elmo_plugin` in torch's hub folder.
    num_processes : `int`
        How many shards are prepared at the same time.
    chunk_tokens : `int`
        The most words in a chunk, unless a sentence has more.

    Raises `BiLmError` as `prepare` does; then nothing of that shard is left.
    """
    cache = cache_directory or os.environ.get("ELMO_PLUGIN_CACHE") or f"{torch.hub.get_dir()}/elmo_plugin"
    directory = Path(cache) / "corpora"
    found = {shard: find_prepared(shard, directory, chunk_tokens) for shard in shards}
    prepared = {shard: files for shard, files in found.items() if files is not None}
    missing = [shard for shard in found if shard not in prepared]
    if missing:
        prepare_one = partial(prepare, directory=directory, chunk_tokens=chunk_tokens)
        with ProcessPoolExecutor(num_processes) if num_processes > 1 else nullcontext() as pool:
            made = (pool.map if pool else map)(prepare_one, missing)
            bar = progress_bar(iterable=made, total=len(missing), desc="preparing text")
            prepared |= zip(missing, bar, strict=True)
    in_order = [prepared[shard] for shard in shards]
    contents = " ".join(shard.folder.name for shard in in_order)
    return Corpus(
        chunks=[chunk for shard in in_order for chunk in shard.chunks],
        fingerprint=blake2b(contents.encode(), digest_size=16).hexdigest(),
    )
