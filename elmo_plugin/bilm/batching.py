"""Batches of sentences as numbers of their distinct words."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm.characters import NUM_CHARACTERS, word_to_character_ids
from elmo_plugin.common.errors import BiLmError

_ID_TYPES = (torch.uint8, torch.int16, torch.int32, torch.int64)
_HASH_SEED = 262  # any number would do, but every process must have the same one


class WordBatch(NamedTuple):
    """
    Sentences as numbers of their distinct words. Two long texts that are cut to the same character
    ids count as one word.

    character_ids: (words, characters), the distinct words, int16
    word_ids: (batch, time), the row of each word in `character_ids`; -1 after the end of a sentence
    lengths: (batch,), the number of words of each sentence, on the CPU
    """

    character_ids: Tensor
    word_ids: Tensor
    lengths: Tensor

    def with_boundaries(self, boundaries: Tensor) -> "WordBatch":
        """Puts each sentence between the two `boundaries`, shape (2, characters)."""
        words, (begin, end) = add_words(self.character_ids, boundaries)
        word_ids = add_boundaries(self.word_ids, self.lengths, begin, end)
        return WordBatch(words, word_ids, self.lengths + 2)

    def distinct_sentences(self) -> tuple["WordBatch", Tensor | None]:
        """
        Returns a batch that contains each sentence only once, and for each sentence of this batch
        its row in that one, shape (batch,). If all sentences differ, the batch is this one, and the
        rows are `None`.
        """
        if len(self.lengths) < 2:
            return self, None
        distinct, row_of_sentence = unique_rows(self.word_ids)
        if len(distinct) == len(self.lengths):
            return self, None
        is_word = distinct >= 0  # -1 stands after the end of a sentence
        lengths = is_word.sum(dim=1).cpu()  # Shape: (distinct,)
        return WordBatch(self.character_ids, distinct, lengths), row_of_sentence


def number_words(
    sentences: Sequence[Sequence[str]], max_characters: int, device: torch.device
) -> WordBatch:
    """
    Numbers the distinct words of sentences in the order in which they first appear. Texts with the
    same character ids are one word.
    """
    number_of_text, ids_of_words = _number_texts(sentences, max_characters)
    character_ids = np.empty((len(ids_of_words), max_characters), dtype=np.int16)
    for number, ids in enumerate(ids_of_words):
        character_ids[number] = ids
    lengths = [len(sentence) for sentence in sentences]
    word_ids = np.full((len(sentences), max(lengths, default=0)), -1)
    for row, sentence in enumerate(sentences):
        word_ids[row, : len(sentence)] = [number_of_text[text] for text in sentence]
    return WordBatch(
        torch.from_numpy(character_ids).to(device),
        torch.from_numpy(word_ids).to(device),
        torch.tensor(lengths, dtype=torch.long),
    )


def _number_texts(
    sentences: Sequence[Sequence[str]], max_characters: int
) -> tuple[dict[str, int], list[np.ndarray]]:
    """Returns the number of the word that each text is, and the character ids of each word."""
    number_of_text: dict[str, int] = {}
    number_of_ids: dict[bytes, int] = {}
    ids_of_words: list[np.ndarray] = []
    for sentence in sentences:
        for text in sentence:
            if text in number_of_text:
                continue
            ids = word_to_character_ids(text, max_characters)
            key = ids.tobytes()
            if key not in number_of_ids:  # not the ids of another text either
                number_of_ids[key] = len(ids_of_words)
                ids_of_words.append(ids)
            number_of_text[text] = number_of_ids[key]
    return number_of_text, ids_of_words


def find_words(character_ids: Tensor, lengths: Tensor) -> WordBatch:
    """
    Finds the distinct words of sentences.

    `character_ids` has the shape (batch, time, characters). `lengths`, the number of words of each
    sentence, must be on the CPU, so that nothing here waits for a GPU to know where the words are.
    """
    batch_size, time = character_ids.shape[:2]
    is_word = torch.arange(time) < lengths[:, None]  # Shape: (batch, time)
    (positions,) = is_word.flatten().nonzero(as_tuple=True)  # Shape: (words,)
    positions = positions.to(character_ids.device, non_blocking=True)
    words = character_ids.flatten(0, 1)[positions]  # Shape: (words, characters)
    distinct, number_of_word = unique_rows(words)
    check_character_ids(distinct)
    word_ids = number_of_word.new_full((batch_size * time,), -1)
    word_ids[positions] = number_of_word
    return WordBatch(distinct.to(torch.int16), word_ids.view(batch_size, time), lengths)


def check_character_ids(character_ids: Tensor) -> None:
    """Raises `BiLmError` if a number is not the id of a character."""
    if character_ids.numel() == 0:
        return
    bounds = torch.stack(torch.aminmax(character_ids))
    least, greatest = bounds.tolist()  # both at once: a GPU is waited for only once
    if least < 0 or greatest >= NUM_CHARACTERS:
        raise BiLmError(
            f"character ids: expected 0 to {NUM_CHARACTERS - 1}, got {least} to {greatest}"
        )


def sentence_lengths(character_ids: Tensor, max_characters: int) -> Tensor:
    """
    Returns the number of words of each sentence, shape (batch,), on the CPU.

    Raises `BiLmError` unless the ids are integers of shape (batch, time, max_characters), with the
    padding after the words.
    """
    _check_type_and_shape(character_ids, max_characters)
    is_word = (character_ids != 0).any(dim=-1).cpu()  # Shape: (batch, time)
    is_word_after_padding = is_word[:, 1:] & ~is_word[:, :-1]
    if is_word_after_padding.any():
        raise BiLmError(
            "character ids have rows of zeros before a word: padding must come after the words"
        )
    return is_word.sum(dim=1)


def _check_type_and_shape(character_ids: Tensor, max_characters: int) -> None:
    """Raises `BiLmError` unless the ids are integers of shape (batch, time, max_characters)."""
    is_dense = character_ids.layout == torch.strided and not character_ids.is_nested
    has_values = not character_ids.is_meta  # a tensor on torch's device "meta" is only a shape
    if not is_dense or not has_values or character_ids.dtype not in _ID_TYPES:
        kind = f"{character_ids.dtype}, {character_ids.layout}, on {character_ids.device}"
        raise BiLmError(f"character ids: expected a dense tensor of integers, got {kind}")
    if character_ids.dim() != 3 or character_ids.size(-1) != max_characters:
        shape = tuple(character_ids.shape)
        expected = f"(batch, time, {max_characters})"
        hint = f"a token indexer needs max_characters_per_token {max_characters}"
        raise BiLmError(f"character ids: expected the shape {expected}, got {shape}; {hint}")


def add_words(words: Tensor, more: Tensor) -> tuple[Tensor, list[int]]:
    """
    Adds each word of `more`, shape (n, characters), to the distinct `words`, unless it is one of
    them already. Returns the distinct words, shape (words, characters), and for each word of `more`
    its row in that matrix.
    """
    rows = []
    for word in more.to(words.dtype):
        equal_rows = (words == word).all(dim=1).nonzero().flatten().tolist()
        if equal_rows:
            rows.append(equal_rows[0])
        else:
            rows.append(len(words))
            words = torch.cat([words, word[None]])
    return words, rows


def add_boundaries(ids: Tensor, lengths: Tensor, begin: int | Tensor, end: int | Tensor) -> Tensor:
    """
    Puts each sentence between its boundaries, so that it is longer by 2. `ids` are the numbers of
    words, shape (batch, time), or the character ids of words, shape (batch, time, characters).
    `begin` and `end` are one word each, in the same form. The values after the end of a sentence
    are arbitrary.
    """
    bounded = ids.new_zeros(len(ids), ids.size(1) + 2, *ids.shape[2:])
    bounded[:, 1:-1] = ids
    bounded[:, 0] = begin
    rows = torch.arange(len(ids), device=ids.device)
    after_last_word = lengths.to(ids.device) + 1  # `begin` is at 0, so the first word is at 1
    bounded[rows, after_last_word] = end
    return bounded


def unique_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """
    Returns the distinct rows of a matrix of integers, shape (distinct, columns), and for each row
    of the matrix the number of the distinct row that it equals, shape (rows,).

    These are the results of `torch.unique(rows, dim=0, return_inverse=True)`, in another order.
    This function is much faster on a CPU, because it compares rows by their hashes. If two
    different rows have the same hash, it calls torch's function after all.
    """
    hashes, distinct_of_row = torch.unique(row_hashes(rows), return_inverse=True)
    positions = torch.arange(len(rows), device=rows.device)
    # The position of the first row with each hash. Shape: (distinct,)
    first_positions = torch.full_like(hashes, len(rows))
    first_positions.scatter_reduce_(0, distinct_of_row, positions, "amin")
    distinct = rows[first_positions]
    has_collision = not torch.equal(distinct[distinct_of_row], rows)
    if has_collision:
        return torch.unique(rows, dim=0, return_inverse=True)
    return distinct, distinct_of_row


def row_hashes(rows: Tensor) -> Tensor:
    """
    Returns a hash of each row of an integer matrix, as int64. Equal rows have equal hashes, and
    different rows almost always have different ones. Products and sums may overflow: int64 wraps.
    """
    num_columns = rows.size(1)
    return (rows * _column_multipliers(num_columns, rows.device)).sum(dim=1)


@lru_cache(maxsize=64)
def _column_multipliers(num_columns: int, device: torch.device) -> Tensor:
    """
    Returns random numbers of 64 bits, shape (num_columns,): `row_hashes` multiplies the values of
    each column by its own number. The numbers are odd, because the product with an even number
    loses bits.
    """
    # Later calls get the same tensor, so it must be a normal one even if the first call is in
    # inference mode.
    with torch.inference_mode(False):
        generator = torch.Generator().manual_seed(_HASH_SEED)
        bounds = torch.iinfo(torch.int64)
        drawn = torch.randint(
            bounds.min, bounds.max, (num_columns,), generator=generator, dtype=torch.int64
        )
        return (drawn | 1).to(device)  # the lowest bit makes a number odd


def split_by_tokens(lengths: list[int], max_tokens: float) -> list[slice]:
    """
    Cuts sentences of these lengths, in their order, into runs of at most `max_tokens` tokens each,
    padding included. A longer sentence is a run of its own. Without sentences it returns no runs.
    """
    if not lengths:
        return []
    runs = []
    start = 0
    longest = 0
    for stop, length in enumerate(lengths):
        longest = max(longest, length)
        if stop > start and longest * (stop - start + 1) > max_tokens:
            runs.append(slice(start, stop))
            start = stop
            longest = length
    runs.append(slice(start, len(lengths)))
    return runs
