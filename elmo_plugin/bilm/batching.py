"""Batches of sentences: their distinct words, their rows in the order of an LSTM, and its
states.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS, word_to_character_ids
from elmo_plugin.common.errors import BiLmError

MAX_PROJECTED_ROWS = 512  # of a direction: their gates take 32 MiB with 4096 cells in float32
_ID_TYPES = (torch.uint8, torch.int16, torch.int32, torch.int64)


class LstmState(NamedTuple):
    """
    The states of both directions.

    hidden: (layers, directions, sentences, projection_dim), or the state of one layer without the
    first cell: (layers, directions, sentences, dim)
    """

    hidden: Tensor
    cell: Tensor


def map_state(function: Callable[..., Tensor], *states: LstmState) -> LstmState:
    """Applies `function` to the tensors of the given states."""
    return LstmState(*map(function, *states))


class Packing(NamedTuple):
    """
    The tokens of a batch, time step by time step; within a step the longer sentences come first, so
    that the sentences that continue are always the first ones (as in torch's `PackedSequence`).

    batch_sizes: the number of sentences of each time step, never increasing
    sentences: (batch,), the sentences in order of decreasing length
    sentence: (rows,), the sentence of each row
    time: (rows,), its time step
    """

    batch_sizes: list[int]
    sentences: Tensor
    sentence: Tensor
    time: Tensor


def pack(lengths: Tensor, device: torch.device | None = None) -> Packing:
    """
    Packs sentences with these numbers of tokens, shape (batch,); some may be zero. The result is on
    `device`, by default the lengths' device. Lengths on a GPU are waited for once, those on the CPU
    not at all.
    """
    device = device or lengths.device
    ordered, sentences = lengths.cpu().sort(descending=True, stable=True)
    steps = torch.arange(int(ordered[0]) if len(ordered) else 0)
    is_active = steps[:, None] < ordered  # Shape: (time, batch)
    time, batch_index = is_active.nonzero(as_tuple=True)
    tensors = [
        part.to(device, non_blocking=True) for part in (sentences, sentences[batch_index], time)
    ]
    return Packing(is_active.sum(dim=1).tolist(), *tensors)


def rows_in_reverse(packing: Packing, lengths: Tensor) -> Tensor:
    """Returns the row permutation that reverses each sentence."""
    sizes = torch.tensor(packing.batch_sizes, dtype=torch.long).to(
        lengths.device, non_blocking=True
    )
    starts = sizes.cumsum(dim=0) - sizes
    batch_index = torch.arange(len(packing.time), device=lengths.device) - starts[packing.time]
    return starts[lengths[packing.sentence] - 1 - packing.time] + batch_index


def rows_before(rows: Tensor, batch_sizes: Sequence[int], first: Tensor | None = None) -> Tensor:
    """
    Returns, for each row, the row of the same sentence one time step earlier, in the shape of
    `rows`, (..., rows, dim). `first`, shape (..., sentences, dim), is before the first time step;
    `None` for zeros.
    """
    if not batch_sizes:
        return rows
    steps = rows.split(list(batch_sizes), dim=-2)
    earlier = [step[..., :size, :] for step, size in zip(steps, batch_sizes[1:], strict=False)]
    first = torch.zeros_like(steps[0]) if first is None else first[..., : batch_sizes[0], :]
    return torch.cat([first, *earlier], dim=-2)


def last_rows(rows: Tensor, batch_sizes: Sequence[int], first: Tensor) -> Tensor:
    """
    Returns each sentence's last row; its row of `first`, (..., sentences, dim), if it has none.
    """
    last = first.clone()
    steps = rows.split(list(batch_sizes), dim=-2)
    for step, size, next_size in zip(steps, batch_sizes, [*batch_sizes[1:], 0], strict=False):
        if next_size < size:
            last[..., next_size:size, :] = step[..., next_size:size, :]
    return last


def split_by_tokens(lengths: list[int], max_tokens: float) -> list[slice]:
    """
    Cuts a batch into runs with at most `max_tokens` tokens, padding included, or one longer
    sentence.
    """
    runs, start, longest = [], 0, 0
    for stop, length in enumerate(lengths):
        longest = max(longest, length)
        if stop > start and longest * (stop - start + 1) > max_tokens:
            runs.append(slice(start, stop))
            start, longest = stop, length
    return [*runs, slice(start, len(lengths))] if lengths else []


def input_gates(
    project: Callable[[int, int], Tensor], batch_sizes: Sequence[int]
) -> Iterator[Tensor]:
    """
    Yields the inputs' part of the gates of each time step, shape (..., rows, 4 * dim). `project`
    computes it for the packed rows `start:stop`: one product covers as many steps as
    `MAX_PROJECTED_ROWS` allows.
    """
    start, run = 0, 0  # the first row of the next product, and the first of its time steps
    ends = list(accumulate(batch_sizes))
    for step, end in enumerate(ends):
        if step == len(ends) - 1 or ends[step + 1] - start > MAX_PROJECTED_ROWS:
            yield from project(start, end).split(list(batch_sizes[run : step + 1]), dim=-2)
            start, run = end, step + 1


class WordBatch(NamedTuple):
    """
    Sentences as numbers of their distinct words. A word is its character ids: texts that are cut to
    the same ids are one word.

    character_ids: (words, characters), the distinct words, int16
    word_ids: (batch, time), the row of each word; -1 after the end of a sentence
    lengths: (batch,), the number of words of each sentence, on the CPU
    """

    character_ids: Tensor
    word_ids: Tensor
    lengths: Tensor


def number_words(
    sentences: Sequence[Sequence[str]], max_characters: int, device: torch.device
) -> WordBatch:
    """Numbers the distinct words of sentences, in the order in which they come."""
    number_of_text: dict[str, int] = {}
    number_of_ids: dict[bytes, int] = {}
    distinct: list[np.ndarray] = []
    lengths = [len(sentence) for sentence in sentences]
    word_ids = np.full((len(sentences), max(lengths, default=0)), -1)
    for row, sentence in zip(word_ids, sentences, strict=True):
        for text in sentence:
            if text in number_of_text:
                continue
            ids = word_to_character_ids(text, max_characters)
            number = number_of_ids.setdefault(ids.tobytes(), len(distinct))
            if number == len(distinct):
                distinct.append(ids)
            number_of_text[text] = number
        row[: len(sentence)] = [number_of_text[text] for text in sentence]
    character_ids = np.empty((len(distinct), max_characters), dtype=np.int16)
    for number, ids in enumerate(distinct):
        character_ids[number] = ids
    return WordBatch(
        torch.from_numpy(character_ids).to(device),
        torch.from_numpy(word_ids).to(device),
        torch.tensor(lengths, dtype=torch.long),
    )


def find_words(character_ids: Tensor, lengths: Tensor) -> WordBatch:
    """
    Finds the distinct words of sentences, shape (batch, time, characters), with lengths on the CPU.
    """
    batch_size, time = character_ids.shape[:2]
    is_word = torch.arange(time) < lengths[:, None]
    positions = is_word.flatten().nonzero().squeeze(1).to(character_ids.device, non_blocking=True)
    words, group = unique_rows(character_ids.flatten(0, 1)[positions])
    check_character_ids(words)
    word_ids = group.new_full((batch_size * time,), -1)
    word_ids[positions] = group
    return WordBatch(words.to(torch.int16), word_ids.view(batch_size, time), lengths)


def check_character_ids(character_ids: Tensor) -> None:
    """Raises `BiLmError` if a number is not the id of a character."""
    if character_ids.numel() == 0:
        return
    least, greatest = torch.stack(torch.aminmax(character_ids)).tolist()
    if least < 0 or greatest >= NUM_CHARACTERS:
        raise BiLmError(
            f"character ids: expected 0 to {NUM_CHARACTERS - 1}, got {least} to {greatest}"
        )


def sentence_lengths(character_ids: Tensor, characters: int) -> Tensor:
    """
    Returns the number of words of each sentence, shape (batch,), on the CPU.

    Raises `BiLmError` unless these are integers, the shape is (batch, time, characters), and
    padding comes after the words.
    """
    is_dense = character_ids.layout == torch.strided and not character_ids.is_nested
    if not is_dense or character_ids.is_meta or character_ids.dtype not in _ID_TYPES:
        kind = f"{character_ids.dtype}, {character_ids.layout}, on {character_ids.device}"
        raise BiLmError(f"character ids: expected a dense tensor of integers, got {kind}")
    if character_ids.dim() != 3 or character_ids.size(-1) != characters:
        shape = tuple(character_ids.shape)
        hint = f"a token indexer needs max_characters_per_token {characters}"
        raise BiLmError(
            f"character ids: expected the shape (batch, time, {characters}), got {shape}; {hint}"
        )
    mask = (character_ids != 0).any(dim=-1).cpu()
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise BiLmError(
            "character ids have rows of zeros before a word: padding must come after the words"
        )
    return mask.sum(dim=1)


def add_words(words: Tensor, more: Tensor) -> tuple[Tensor, list[int]]:
    """
    Adds the words of `more`, shape (any, characters), to distinct words, unless they are there.
    Returns all words, shape (words, characters), and the number among them of each added one.
    """
    numbers = []
    for word in more.to(words.dtype):
        same = (words == word).all(dim=1).nonzero().flatten().tolist()
        if same:
            numbers.append(same[0])
        else:
            numbers.append(len(words))
            words = torch.cat([words, word[None]])
    return words, numbers


def add_boundaries(ids: Tensor, lengths: Tensor, begin: int | Tensor, end: int | Tensor) -> Tensor:
    """
    Puts each sentence between its boundaries, given as ids like a word's. The shape of `ids` is
    (batch, time, ...), the time of the result longer by 2.
    """
    bounded = ids.new_zeros(len(ids), ids.size(1) + 2, *ids.shape[2:])
    bounded[:, 1:-1] = ids
    bounded[:, 0] = begin
    bounded[torch.arange(len(ids), device=ids.device), lengths.to(ids.device) + 1] = end
    return bounded


def unique_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """
    Does what `torch.unique(rows, dim=0, return_inverse=True)` does, in another order and much
    faster on a CPU: rows of integers, shape (n, k), are compared by their hashes, and checked.

    Returns the distinct rows, shape (distinct, k), and the number among them of each row, shape
    (n,).
    """
    hashes, group = torch.unique(row_hashes(rows), return_inverse=True)
    positions = torch.arange(len(rows), device=rows.device)
    first = torch.full_like(hashes, len(rows)).scatter_reduce_(0, group, positions, "amin")
    distinct = rows[first]
    if torch.equal(distinct[group], rows):
        return distinct, group
    return torch.unique(rows, dim=0, return_inverse=True)


def row_hashes(rows: Tensor) -> Tensor:
    """
    Hashes the rows of an integer matrix of any type, to int64: equal rows equally, others
    differently.
    """
    return (rows * _multipliers(rows.size(1), rows.device)).sum(dim=1)


@lru_cache(maxsize=64)
def _multipliers(number: int, device: torch.device) -> Tensor:
    """Returns fixed random odd numbers of 64 bits, one for each column."""
    with torch.inference_mode(False):
        generator = torch.Generator().manual_seed(262)
        bounds = torch.iinfo(torch.int64)
        drawn = torch.randint(
            bounds.min, bounds.max, (number,), generator=generator, dtype=torch.int64
        )
        return (drawn | 1).to(device)
