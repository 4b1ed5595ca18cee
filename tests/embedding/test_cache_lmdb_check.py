"""Pages of LMDB that would end the process are found before it uses them, and whole files are found whole."""

import os
import struct
from pathlib import Path

import lmdb
import numpy as np
import pytest

from elmo_plugin.embedding.cache import lmdb_check
from elmo_plugin.embedding.cache.lmdb_check import BRANCH, LEAF, PAGE_HEADER, find_damage
from elmo_plugin.embedding.cache.lmdb_store import NAME
from tests.embedding.test_cache_lmdb import (
    assert_works_in_process,
    begun,
    found,
    key,
    overwrite,
    vectors,
    warnings,
    write,
)

PAGE = 4096


def pages(content: bytes, kind: int) -> list[int]:
    """The numbers of the pages of a kind that is in the trees, or was."""
    numbers = range(2, len(content) // PAGE)
    heads = {number: struct.unpack_from("<QHH", content, number * PAGE) for number in numbers}
    return [number for number, (own, _, flags) in heads.items() if (own, flags) == (number, kind)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """With records in the tree and on pages of their own, and with free pages."""
    path = tmp_path / "a.mdb"
    with lmdb.open(str(path), subdir=False, map_size=1 << 30) as environment:
        generator = np.random.default_rng(0)
        keys = [generator.bytes(16) for _ in range(600)]
        for some in (keys[:400], keys[400:]):
            with environment.begin(write=True) as transaction:
                for number, key in enumerate(some):
                    transaction.put(key, bytes([number % 251]) * (number * 37 % 9000))
        for start in (0, 1):
            with environment.begin(write=True) as transaction:
                for key in keys[start::5]:
                    transaction.delete(key)
    return path


def test_a_whole_file_has_no_damage(file: Path, tmp_path: Path) -> None:
    assert find_damage(file) is None
    lmdb.open(str(tmp_path / "empty.mdb"), subdir=False, map_size=1 << 30).close()
    assert find_damage(tmp_path / "empty.mdb") is None


@pytest.mark.parametrize("kind", [BRANCH, LEAF])
@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 77), (10, 99), (12, 3), (12, 5000), (14, 9999), (PAGE_HEADER, 5), (PAGE_HEADER, 4095)],
    ids=["number", "kind", "too-few", "too-many", "beyond", "into-the-head", "at-the-end"],
)
def test_a_page_that_is_none_is_found(file: Path, kind: int, place: int, value: int) -> None:
    content = bytearray(file.read_bytes())

    def is_found(number: int) -> bool:
        damaged = content.copy()
        struct.pack_into("<H", damaged, number * PAGE + place, value)
        file.write_bytes(bytes(damaged))
        return (find_damage(file) or "").startswith("its page ")

    assert any(map(is_found, pages(bytes(content), kind)))  # of which one, at least, is in use


@pytest.mark.parametrize("kind", [BRANCH, LEAF])
def test_a_child_or_data_outside_the_file_or_in_use_is_found(file: Path, kind: int) -> None:
    content = file.read_bytes()

    def is_found(number: int) -> bool:
        damaged = bytearray(content)
        (place,) = struct.unpack_from("<H", content, number * PAGE + PAGE_HEADER)
        start = number * PAGE + place
        if kind == BRANCH:
            struct.pack_into("<HH", damaged, start, number, 0)  # its own child
        elif struct.unpack_from("<H", content, start + 4)[0] == lmdb_check.BIG_DATA:
            struct.pack_into("<Q", damaged, start + 8 + 16, 10**9)
        file.write_bytes(bytes(damaged))
        return find_damage(file) is not None

    assert any(map(is_found, pages(content, kind)))


def test_a_cut_file_and_other_files_are_found(file: Path) -> None:
    content = file.read_bytes()
    for kept in (0, 10, 30, 43, 100, 5000, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:kept])
        assert find_damage(file) == "it is cut"
    file.write_bytes(b"no database" * 1000)
    assert find_damage(file) == "it is no LMDB file"


def test_a_file_of_another_format_is_left_to_lmdb(file: Path) -> None:
    content = bytearray(file.read_bytes())
    struct.pack_into("<I", content, PAGE_HEADER + 4, 999)
    file.write_bytes(bytes(content))
    assert find_damage(file) is None


def test_swapped_parts_of_a_record_are_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = begun(tmp_path)
    write(store, *range(20))
    store.close()
    file = tmp_path / NAME
    content, record = file.read_bytes(), vectors(8).tobytes()
    start = content.index(record)
    overwrite(file, start, record[512:1024] + record[:512])
    assert found(begun(tmp_path), *range(20)) == set(range(20)) - {8}
    assert warnings(caplog) == [
        f"the cache {tmp_path} has damaged records, whose sentences are computed again"
    ]


def test_a_file_of_an_earlier_version_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    environment = lmdb.open(str(tmp_path / NAME), subdir=False, map_size=1 << 30)
    with environment.begin(write=True) as transaction:
        transaction.put(key(1), bytes(8) + vectors(1).tobytes())
    environment.close()
    store = begun(tmp_path)
    assert found(store, 1) == set()
    write(store, 1)
    assert found(store, 1) == {1}
    assert warnings(caplog) == [f"the cache {tmp_path} is of an earlier version: it is begun anew, empty"]


def cut_while_it_is_open(folder: Path, size: int) -> None:
    store = begun(folder)
    write(store, *range(50))
    assert found(store, *range(50)) == set(range(50))
    os.truncate(folder / NAME, size)
    assert found(store, *range(50)) == set()
    write(store, 50)


@pytest.mark.parametrize("size", [0, 4096, 30_000])
def test_a_file_that_is_cut_while_it_is_open_is_not_used_any_more(size: int, tmp_path: Path) -> None:
    assert_works_in_process(cut_while_it_is_open, tmp_path, size)
