"""Sentences of similar length, to be read together."""

from collections.abc import Iterator, Sequence

from elmo_plugin.bilm import split_by_tokens


def length_buckets(lengths: Sequence[int], batch_size: int, max_tokens: int) -> Iterator[list[int]]:
    """
    The numbers of all sentences in batches, the shortest first.

    # Parameters

    lengths : `Sequence[int]`
        The words of each sentence.
    batch_size : `int`
        The most sentences in a batch.
    max_tokens : `int`
        The most words in a batch, with padding, unless one sentence has more.
    """
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(by_length), batch_size):
        batch = by_length[start : start + batch_size]
        for run in split_by_tokens([lengths[number] for number in batch], max_tokens):
            yield batch[run]
