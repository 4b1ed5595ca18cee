"""Text for a biLM, tokenised once into files that are mapped into memory: it is never all in memory."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

import torch
from allennlp.common import Tqdm

from elmo_plugin.language_model.corpus.chunks import PieceFiles
from elmo_plugin.language_model.corpus.shards import PIECE_TOKENS, PreparedShard, find_prepared, prepare


@dataclass(frozen=True)
class Corpus:
    """
    # Parameters

    pieces : `list[PieceFiles]`
        In the order of the shards.
    fingerprint : `str`
        Of the contents of the shards and their order.
    """

    pieces: list[PieceFiles]
    fingerprint: str

    @property
    def tokens(self) -> int:
        """The number of words, without the sentences' boundaries."""
        return sum(piece.tokens for piece in self.pieces)

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return sum(piece.sentences for piece in self.pieces)


def default_cache_directory() -> Path:
    """`$ELMO_PLUGIN_CACHE`, by default `elmo_plugin` in torch's hub folder."""
    return Path(os.environ.get("ELMO_PLUGIN_CACHE") or Path(torch.hub.get_dir()) / "elmo_plugin")


def prepare_corpus(
    shards: Sequence[str],
    cache_directory: str | Path | None = None,
    num_processes: int = 1,
    piece_tokens: int = PIECE_TOKENS,
) -> Corpus:
    """
    # Parameters

    shards : `Sequence[str]`
        Files of UTF-8 text with one tokenised sentence a line, plain, `.gz` or `.zst`. Each is tokenised once
        into the folder `corpora` of the cache, and only opened from then on.
    cache_directory : `str` or `Path`, optional
        The cache; by default `$ELMO_PLUGIN_CACHE`, or `elmo_plugin` in torch's hub folder.
    num_processes : `int`
        How many shards are prepared at the same time.
    piece_tokens : `int`
        The most words in a piece, unless a sentence has more.

    Raises `ConfigurationError` where a shard has no sentence, is not UTF-8 text, is damaged, gone, or changed
    while it was read, or where the pieces cannot be written; then nothing of that shard is left.
    """
    directory = Path(cache_directory or default_cache_directory()) / "corpora"
    found = {shard: find_prepared(shard, directory, piece_tokens) for shard in shards}
    prepared = {shard: files for shard, files in found.items() if files is not None}
    missing = [shard for shard in found if shard not in prepared]
    if missing:
        made = _map(partial(prepare, directory=directory, piece_tokens=piece_tokens), missing, num_processes)
        made = Tqdm.tqdm(made, total=len(missing), desc="preparing text")
        prepared.update(zip(missing, made, strict=True))
    in_order = [prepared[shard] for shard in shards]
    contents = " ".join(shard.folder.name for shard in in_order)
    return Corpus(
        pieces=[piece for shard in in_order for piece in shard.pieces],
        fingerprint=blake2b(contents.encode(), digest_size=16).hexdigest(),
    )


def _map(
    function: Callable[[str], PreparedShard], shards: Sequence[str], num_processes: int
) -> Iterator[PreparedShard]:
    if num_processes == 1:
        yield from map(function, shards)
    else:
        with ProcessPoolExecutor(num_processes) as pool:
            yield from pool.map(function, shards)
