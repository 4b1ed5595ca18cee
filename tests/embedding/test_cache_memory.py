"""The store in memory is bounded, and what was not asked for the longest goes first."""

import copy

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.embedding.memory_store import RECORD_OVERHEAD, MemoryStore

RECORD = np.arange(12, dtype=np.float32).reshape(3, 2, 2)


def record_of(key: bytes) -> np.ndarray:
    return RECORD + key[0]


def read(store: MemoryStore, keys: list[bytes]) -> tuple[list[int], list[np.ndarray]]:
    rows = [np.full_like(RECORD, -1) for _ in keys]
    return store.read(keys, rows), rows


keys = st.integers(0, 6).map(lambda number: bytes([number]))


@given(st.integers(0, 4), st.lists(st.tuples(st.booleans(), keys)))
def test_the_most_recently_used_records_are_kept(
    room: int, steps: list[tuple[bool, bytes]]
) -> None:
    store = MemoryStore(max_bytes=room * (RECORD.nbytes + RECORD_OVERHEAD))
    used: list[bytes] = []  # the last one last
    for is_write, key in steps:
        if is_write and key not in used:
            store.write([key], [record_of(key)])
            used = [*used, key][-room:] if room else []
        elif not is_write:
            missing, (row,) = read(store, [key])
            assert missing == ([] if key in used else [0])
            if key in used:
                assert np.array_equal(row, record_of(key))
                used = [*(other for other in used if other != key), key]


def test_a_copied_cache_starts_empty() -> None:
    store = MemoryStore(max_bytes=10_000)
    store.write([b"a"], [record_of(b"a")])
    made = copy.deepcopy(store)
    assert made.max_bytes == store.max_bytes
    assert read(made, [b"a"])[0] == [0] and read(store, [b"a"])[0] == []
