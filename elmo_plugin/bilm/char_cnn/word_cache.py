"""The vectors of words that were encoded before, across batches."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from elmo_plugin.bilm.char_cnn.unique_rows import first_of_each, row_hashes
from elmo_plugin.common.process import ForkSafeLock

Encode = Callable[[Tensor], Tensor]


class WordCache:
    """
    A bounded table of words and their vectors, on the device of the words. It is for one way to encode them;
    another way needs a new cache.

    When it is full, everything goes except the pinned words, and it fills again, in the same memory. Several
    threads may use it, in and out of `torch.inference_mode()`, and so may a process that is forked meanwhile:
    a table is whole at any moment.

    # Parameters

    capacity : `int`
        How many words it holds besides the pinned ones. A word takes `4 * dim + 2 * characters + 16` bytes.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._lock = ForkSafeLock()
        self._pinned = 0
        self._table: _Table | None = None

    def __len__(self) -> int:
        """How many words it holds now."""
        return 0 if self._table is None else len(self._table.hashes)

    def look_up(self, types: Tensor, encode: Encode) -> Tensor:
        """
        # Parameters

        types : `Tensor`
            Shape (types, characters), distinct words.
        encode : `Callable[[Tensor], Tensor]`
            Gives the vectors, shape (types, dim), of the words that are not in the cache.

        # Returns

        `Tensor`
            Shape (types, dim), not shared with the cache.
        """
        with self._lock:
            if self._table is None or len(self) == 0:
                vectors = encode(types)
                self._insert(types, vectors, self.capacity)
                return vectors
            vectors, is_known = self._table.find(types)
            missing = (~is_known).nonzero().squeeze(1)
            if len(missing) > 0:
                vectors[missing] = encoded = encode(types[missing])
                self._insert(types[missing], encoded, self.capacity + self._pinned)
            return vectors

    def pin(self, types: Tensor, encode: Encode) -> None:
        """
        Encodes words that stay, however many they are. The words that were found in text until now make room
        for them.
        """
        with self._lock:
            self._keep_pinned()
            if self._table is not None and len(self) > 0:
                types = types[~self._table.find(types)[1]]
            self._insert(types, encode(types), room=self.capacity + self._pinned + len(types))
            self._pinned = len(self)

    def _keep_pinned(self) -> None:
        if self._table is not None:
            self._table = self._table.first(self._pinned)  # in the same memory, which is filled again

    def _insert(self, types: Tensor, vectors: Tensor, room: int) -> None:
        """Takes the words in, as far as there is room for them."""
        if len(self) + len(types) > room:
            self._keep_pinned()
            types = types[: room - len(self)]
        if len(types) == 0:
            return
        # Tensors made in inference mode could not be written outside of it.
        with torch.inference_mode(False), torch.no_grad():
            table = _Table.empty(types, vectors) if self._table is None else self._table
            self._table = table.extended(types, vectors[: len(types)], room)


class _Table(NamedTuple):
    """
    # Parameters

    hashes : `Tensor`
        Shape (size,), of the words held, ascending.
    slots : `Tensor`
        Shape (size,), where each of them is in the next two; those are numbered as the words came.
    character_ids : `Tensor`
        Shape (room, characters), with room for at least `size` words.
    vectors : `Tensor`
        Shape (room, dim).
    """

    hashes: Tensor
    slots: Tensor
    character_ids: Tensor
    vectors: Tensor

    @classmethod
    def empty(cls, types: Tensor, vectors: Tensor) -> "_Table":
        """For words and vectors like these."""
        nothing = types.new_empty(0, dtype=torch.int64)
        character_ids = types.new_empty(0, types.size(1), dtype=torch.int16)
        return cls(nothing, nothing, character_ids, vectors.new_empty(0, vectors.size(1)))

    def find(self, types: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors of words, shape (types, dim), and which of them are known; others have any vector."""
        places = torch.searchsorted(self.hashes, row_hashes(types)).clamp_(max=len(self.hashes) - 1)
        slots = self.slots[places]
        return self.vectors[slots], (self.character_ids[slots] == types).all(dim=1)

    def first(self, number: int) -> "_Table":
        """The words that came first."""
        is_kept = self.slots < number
        return _Table(self.hashes[is_kept], self.slots[is_kept], self.character_ids, self.vectors)

    def extended(self, types: Tensor, vectors: Tensor, room: int) -> "_Table":
        """With words that it does not hold. Of words with the same hash only the first is taken."""
        hashes, group = torch.unique(row_hashes(types), return_inverse=True)
        chosen = first_of_each(group, len(hashes))
        is_free = ~torch.isin(hashes, self.hashes)
        hashes, chosen = hashes[is_free], chosen[is_free]
        start, end = len(self.hashes), len(self.hashes) + len(hashes)
        grown = self._replace(
            character_ids=_with_room(self.character_ids, room), vectors=_with_room(self.vectors, room)
        )
        grown.character_ids[start:end] = types[chosen]
        grown.vectors[start:end] = vectors[chosen]
        hashes, order = torch.cat([self.hashes, hashes]).sort()
        slots = torch.cat([self.slots, torch.arange(start, end, device=types.device)])[order]
        return grown._replace(hashes=hashes, slots=slots)


def _with_room(rows: Tensor, number: int) -> Tensor:
    """The same rows in a tensor with place for `number`, or the tensor itself where it has that."""
    if len(rows) >= number:
        return rows
    grown = rows.new_empty(number, *rows.shape[1:])
    grown[: len(rows)] = rows
    return grown
