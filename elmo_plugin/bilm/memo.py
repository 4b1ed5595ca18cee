"""What a frozen biLM gave for the last few batches, kept for the other modules that will ask for the same."""

import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakSet

import torch
from torch import Tensor

from elmo_plugin.bilm.kept import fingerprint, need_gradient

if TYPE_CHECKING:
    from elmo_plugin.bilm.bilm import BiLm, BiLmOutput

MAX_ENTRIES = 4  # two text fields, each at two placements, and as much again


class Cache(Protocol):
    """Where outputs are found again after the memo has forgotten them. Equal ones give the same."""

    def run(
        self,
        compute: "Callable[[Tensor], BiLmOutput]",
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
    ) -> "BiLmOutput":
        """What `compute(character_ids)` gives."""


class User(Protocol):
    """A module that runs a biLM."""

    @property
    def requires_grad(self) -> bool:
        """Whether it trains the biLM."""

    @property
    def reads_memo(self) -> bool:
        """Whether it runs the biLM through the memo."""

    @property
    def cache(self) -> Cache | None:
        """What it runs the biLM through besides."""


class _Entry(NamedTuple):
    character_ids: Tensor
    circumstances: Hashable
    cache: Cache | None
    output: "BiLmOutput"
    readers: WeakSet[Any]  # who has not had the output yet


class Memo:
    """
    The last outputs of one biLM. An output is kept until every other user of the biLM has had it, and is
    given for no other words and weights than those that it was computed from: words are compared by their
    content, weights by their `fingerprint`. Users with different caches do not share outputs.

    Nothing is kept for a single user. Copies of the biLM, pickled ones too, start with a memo that is empty.
    """

    def __init__(self) -> None:
        self._users: WeakSet[Any] = WeakSet()
        self._entries: list[_Entry] = []
        self._lock = threading.Lock()

    def join(self, user: User) -> None:
        """Counts `user`, for as long as it lives, among those who run the biLM."""
        with self._lock:
            self._users.add(user)

    def leave(self, user: User) -> None:
        with self._lock:
            self._users.discard(user)
            for entry in self._entries:
                entry.readers.discard(user)

    def users(self) -> list[User]:
        with self._lock:
            return list(self._users)

    def forget(self) -> None:
        """Drops all outputs."""
        with self._lock:
            self._entries.clear()

    def run(self, bilm: "BiLm", character_ids: Tensor, user: User) -> "BiLmOutput":
        """
        # Parameters

        bilm : `BiLm`
            The memo's owner, frozen and in evaluation mode.
        character_ids : `Tensor`
            Shape (batch, time, characters), on the biLM's device.
        user : `User`
            Who asks.

        # Returns

        `BiLmOutput`
            What `bilm(character_ids, keep_state=False)` gives, by way of the user's cache if it has one.
            Others may get the same tensors: they must not be changed.
        """
        circumstances = _circumstances(bilm)
        if circumstances is None:
            return bilm(character_ids, keep_state=False)
        others = [other for other in self.users() if other is not user and _share(user, other)]
        if not others:
            return _run(bilm, character_ids, user.cache)
        output = self._find(character_ids, circumstances, user)
        if output is not None:
            return output
        character_ids = character_ids.clone()  # the caller may change its own
        output = _run(bilm, character_ids, user.cache)
        if circumstances == _circumstances(bilm):
            entry = _Entry(character_ids, circumstances, user.cache, output, WeakSet(others))
            with self._lock:
                self._entries = [*self._entries, entry][-MAX_ENTRIES:]
        return output

    def _find(self, character_ids: Tensor, circumstances: Hashable, user: User) -> "BiLmOutput | None":
        with self._lock:
            self._entries = [
                entry for entry in self._entries if entry.circumstances == circumstances and entry.readers
            ]
            for number, entry in enumerate(self._entries):
                if entry.cache == user.cache and _same(entry.character_ids, character_ids):
                    entry.readers.discard(user)
                    if not entry.readers:
                        del self._entries[number]
                    return entry.output
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def _share(one: User, other: User) -> bool:
    """Whether the first, who reads the memo, gets the same outputs as the other."""
    return other.reads_memo and one.cache == other.cache


def _run(bilm: "BiLm", character_ids: Tensor, cache: Cache | None) -> "BiLmOutput":
    from elmo_plugin.bilm.digest import bilm_digest

    compute = partial(bilm, keep_state=False)
    if cache is None:
        return compute(character_ids)
    return cache.run(compute, bilm_digest(bilm), character_ids, bilm.num_layers, bilm.output_dim)


def _circumstances(bilm: "BiLm") -> Hashable | None:
    """What an output depends on beside the words; `None` where a change of the weights would go unseen."""
    weights = fingerprint(bilm.parameters())
    if not weights or need_gradient(bilm.parameters()):
        return None
    device = bilm.boundaries.device
    stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else None
    return weights, bilm.precision, bilm.recurrence, stream


def _same(one: Tensor, other: Tensor) -> bool:
    kinds = ((ids.shape, ids.dtype, ids.device) for ids in (one, other))
    return len(set(kinds)) == 1 and torch.equal(one, other)
