"""Whether LMDB can use a file. It trusts what it maps into memory: a damaged page can end the process.

The format is that of LMDB 0.9: pages, of which the first two (meta pages) take turns in telling where the
roots of two trees are, that of the free pages and that of the records. The larger records are on pages of
their own, which are not read here: there are checksums in them.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

MAGIC = 0xBEEFC0DE
VERSION = 1
PAGE_HEADER = 16
BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8  # kinds of pages
BIG_DATA = 1  # a flag of an entry whose data is on pages of its own
NO_ROOT = 2**64 - 1
_FREE, _MAIN = 40, 88  # where in a meta page the two trees are
_TRIES = 3


class Tree(NamedTuple):
    """
    depth: the levels of pages
    root: the number of the first one
    """

    depth: int
    root: int


class Snapshot(NamedTuple):
    """
    page_size: in bytes
    last_page: the largest number of a page that is in use
    transaction: which one wrote it last
    free, main: the trees
    """

    page_size: int
    last_page: int
    transaction: int
    free: Tree
    main: Tree


class _Damage(Exception):
    pass


def find_damage(file: Path) -> str | None:
    """
    Looks at every page of both trees, which are few: a hundred records share one. Returns what is wrong, or
    `None`. A file that other processes write is read until nobody has written it meanwhile, at most three
    times.
    """
    descriptor = os.open(file, os.O_RDONLY)
    try:
        for _ in range(_TRIES):
            try:
                before = _snapshot(descriptor)
                if before is None:
                    return None
                damage = _check(descriptor, before)
            except _Damage as error:
                return str(error)
            after = _snapshot(descriptor)
            if after is None or after.transaction == before.transaction:
                return damage
        return None
    finally:
        os.close(descriptor)


def _snapshot(descriptor: int) -> Snapshot | None:
    """Reads the newer meta page; `None` where the format is another one."""
    head = os.pread(descriptor, _FREE + 4, 0)
    if len(head) < _FREE + 4:
        raise _Damage("it is cut")
    magic, version = struct.unpack_from("<II", head, PAGE_HEADER)
    if magic != MAGIC:
        raise _Damage("it is no LMDB file")
    if version != VERSION:
        return None
    (page_size,) = struct.unpack_from("<I", head, _FREE)
    if page_size not in (2**power for power in range(9, 17)):
        raise _Damage("its pages have no size")
    return max((_meta(descriptor, page, page_size) for page in (0, 1)), key=lambda each: each.transaction)


def _meta(descriptor: int, number: int, page_size: int) -> Snapshot:
    page = _read(descriptor, number, page_size)
    flags = struct.unpack_from("<H", page, 10)[0]
    magic, version = struct.unpack_from("<II", page, PAGE_HEADER)
    own_size = struct.unpack_from("<I", page, _FREE)[0]
    if (flags, magic, version, own_size) != (META, MAGIC, VERSION, page_size):
        raise _Damage(f"its meta page {number} is none")
    last_page, transaction = struct.unpack_from("<QQ", page, 136)
    if (last_page + 1) * page_size > os.fstat(descriptor).st_size:
        raise _Damage("it is cut")
    trees = []
    for start in (_FREE, _MAIN):
        _, depth, *_, root = struct.unpack_from("<HHQQQQQ", page, start + 4)
        trees.append(Tree(depth, root))
    return Snapshot(page_size, last_page, transaction, *trees)


def _check(descriptor: int, snapshot: Snapshot) -> str | None:
    runs = [np.array([[0, 2]], np.uint64)]  # of pages that are used: the first, and how many; the meta pages
    try:
        for page in _pages(descriptor, snapshot, snapshot.main):
            runs += [page.own_run, page.runs_of_data]
        for page in _pages(descriptor, snapshot, snapshot.free):
            runs += [page.own_run, page.runs_of_data]
            runs += [_free_pages(descriptor, snapshot, entry) for entry in page.entries]
        first, number = np.concatenate(runs).T
        order = np.argsort(first)
        ends = np.minimum(first, snapshot.last_page + 1) + np.minimum(number, snapshot.last_page + 1)
        following = np.append(first[order][1:], snapshot.last_page + 1)
        if (ends[order] > following).any():
            raise _Damage("its trees share pages, or have some that are not in it")
    except _Damage as error:
        return str(error)
    return None


class _Page(NamedTuple):
    """
    own_run: shape (1, 2), its number and 1
    runs_of_data: shape (entries with data on pages of their own, 2), the first of these and how many
    entries: of a leaf, for each the first page of its data, how many bytes it is, and itself, if it is here
    """

    own_run: np.ndarray
    runs_of_data: np.ndarray
    entries: list[tuple[int, int, bytes]]


def _pages(descriptor: int, snapshot: Snapshot, tree: Tree) -> Iterator[_Page]:
    size = snapshot.page_size
    rest = [(tree.root, 1)] if tree.root != NO_ROOT else []
    for _ in range(snapshot.last_page + 1):
        if not rest:
            return
        number, level = rest.pop()
        page = _read(descriptor, number, size)
        own_number, _, kind, lower, upper = struct.unpack_from("<QHHHH", page)
        is_leaf = level == tree.depth
        if (
            own_number != number
            or kind != (LEAF if is_leaf else BRANCH)
            or not PAGE_HEADER <= lower <= upper <= size
        ):
            raise _Damage(f"its page {number} is no page of a tree")
        content = np.frombuffer(page, np.uint8)
        places = np.frombuffer(page, "<u2", (lower - PAGE_HEADER) // 2, PAGE_HEADER).astype(np.int64)
        if ((places < upper) | (places + 8 > size)).any():
            raise _Damage(f"its page {number} has an entry outside it")
        low, high, flags, key_size = _gather(content, places, 4, "<u2").astype(np.int64).T
        starts, lengths = places + 8 + key_size, low | high << 16
        is_big = (flags == BIG_DATA) & is_leaf
        ends = starts + np.where(is_big, 8, lengths if is_leaf else 0)
        if (ends > size).any() or (is_leaf and (flags & ~BIG_DATA).any()):
            raise _Damage(f"its page {number} has an entry outside it")
        if not is_leaf:
            rest += [(child, level + 1) for child in (lengths | flags << 32).tolist()]
        first = np.zeros(len(places), np.uint64)
        first[is_big] = _gather(content, starts[is_big], 1, "<u8")[:, 0]
        number_of_pages = (-(-(PAGE_HEADER + lengths) // size)).astype(np.uint64)
        entries = []
        if is_leaf and tree is snapshot.free:
            for place, length, big, start in zip(
                first.tolist(), lengths.tolist(), is_big, starts, strict=True
            ):
                entries.append((place, length, b"" if big else page[start : start + length]))
        runs = np.stack([first, number_of_pages], axis=1)[is_big]
        yield _Page(np.array([[number, 1]], np.uint64), runs, entries)
    raise _Damage("its trees have more pages than it")


def _gather(content: np.ndarray, places: np.ndarray, number: int, dtype: str) -> np.ndarray:
    """Returns that many numbers at each place, shape (places, number)."""
    width = number * np.dtype(dtype).itemsize
    return content[places[:, None] + np.arange(width)].view(dtype).reshape(len(places), number)


def _free_pages(descriptor: int, snapshot: Snapshot, entry: tuple[int, int, bytes]) -> np.ndarray:
    """Returns the pages of a list of free ones as runs: it begins with its length."""
    first, length, data = entry
    if not data:
        place = first * snapshot.page_size + PAGE_HEADER
        data = os.pread(descriptor, length, place) if place < os.fstat(descriptor).st_size else b""
    numbers = np.frombuffer(data[: len(data) // 8 * 8], "<u8")
    listed = numbers[1 : 1 + numbers[0]] if len(numbers) > 0 and numbers[0] < len(numbers) else None
    if listed is None or (listed[1:] >= listed[:-1]).any():
        raise _Damage("its list of free pages is none")
    return np.stack([listed, np.ones_like(listed)], axis=1)


def _read(descriptor: int, number: int, page_size: int) -> bytes:
    place = number * page_size
    page = os.pread(descriptor, page_size, place) if place < os.fstat(descriptor).st_size else b""
    if len(page) < page_size:
        raise _Damage("it is cut")
    return page
