"""The store in SQLite: many processes, killed ones, files that are full, damaged or out of reach."""

import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from elmo_plugin.embedding.sqlite_store import NAME, PAGE_SIZE, SqliteStore

fork = multiprocessing.get_context("fork")
GIGABYTE = 10**9


def key(number: int) -> bytes:
    """In no order of the numbers, as digests are."""
    return np.random.default_rng(number).bytes(16)


def vectors(number: int, words: int | None = None) -> np.ndarray:
    """Of each number others: those of one to nine words, up to two pages."""
    words = number % 9 + 1 if words is None else words
    return np.random.default_rng(number).standard_normal((3, words, 50)).astype(np.float32)


def write(store: SqliteStore, *numbers: int) -> None:
    store.write([key(number) for number in numbers], [vectors(number) for number in numbers])


def found(store: SqliteStore, *numbers: int) -> set[int]:
    """Which of the numbers it has, whose vectors must be right."""
    rows = [np.full_like(vectors(number), np.nan) for number in numbers]
    missing = store.read([key(number) for number in numbers], rows)
    there = [place for place in range(len(numbers)) if place not in missing]
    for place in there:
        assert np.array_equal(rows[place], vectors(numbers[place])), (
            f"wrong vectors of {numbers[place]}"
        )
    return {numbers[place] for place in there}


def begun(folder: Path, max_bytes: int = GIGABYTE) -> SqliteStore:
    """As a process has it that begins."""
    return SqliteStore(folder, max_bytes)


@contextmanager
def in_process(work: Callable[..., None], *arguments: object) -> Iterator[multiprocessing.Process]:
    process = fork.Process(target=work, args=arguments)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if record.name.startswith("elmo_plugin")
    ]


def test_written_records_are_found_at_once_and_by_later_processes(tmp_path: Path) -> None:
    store = begun(tmp_path / "new" / "cache")
    write(store, 1, 2, 3, 2)
    assert found(store, 3, 4, 1, 1) == {1, 3}
    assert found(begun(tmp_path / "new" / "cache"), *range(5)) == {1, 2, 3}


def write_and_read(folder: Path, numbers: list[int], others: list[int]) -> None:
    store = begun(folder)
    for number in numbers:
        write(store, number)
        found(store, *others)
    while found(store, *others) != set(others):
        time.sleep(0.01)  # until the other process has written all


@pytest.mark.slow
def test_processes_write_and_read_side_by_side(tmp_path: Path) -> None:
    first, second = list(range(0, 60)), list(range(40, 100))
    with (
        in_process(write_and_read, tmp_path, first, second) as one,
        in_process(write_and_read, tmp_path, second, first) as other,
    ):
        one.join()
        other.join()
        assert one.exitcode == other.exitcode == 0
    assert found(begun(tmp_path), *range(101)) == set(range(100))


def write_for_ever(folder: Path, start: int) -> None:
    store = begun(folder)
    for number in range(start, 1 << 30, 4):
        write(store, *range(number, number + 4))


@pytest.mark.parametrize(
    "rounds", [pytest.param(3, marks=pytest.mark.short), pytest.param(10, marks=pytest.mark.slow)]
)
def test_a_kill_leaves_each_record_complete_or_absent(
    rounds: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    random.seed(0)
    written: set[int] = set()
    for start in range(0, rounds * 1_000_000, 1_000_000):
        with in_process(write_for_ever, tmp_path, start) as process:
            while not found(begun(tmp_path), start):
                time.sleep(0.01)
                assert process.is_alive()
            time.sleep(random.uniform(0, 0.25))
            os.kill(process.pid, signal.SIGKILL)
        store = begun(tmp_path)
        numbers = range(start, start + 2_000)
        there = found(store, *numbers)
        assert there == set(numbers[: len(there)]) and len(there) % 4 == 0, (
            "whole batches, one after another"
        )
        assert found(store, *written) == written, "and what was written before"
        written |= there
    assert written and not warnings(caplog)


@contextmanager
def full_disk(max_bytes: int) -> Iterator[None]:
    """In which no file of this process grows beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_keeps_existing_records_and_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = begun(tmp_path)
    write(store, *range(20))
    with full_disk((tmp_path / NAME).stat().st_size):
        for number in range(20, 23):
            write(store, *range(number, 100))
            assert found(store, *range(100)) == set(range(20))
    (warning,) = warnings(caplog)
    assert f"the cache {tmp_path} cannot be written (" in warning
    store = begun(tmp_path)
    write(store, *range(20, 100))
    assert found(store, *range(100)) == set(range(100))


def test_a_file_of_max_gb_stops_growing_and_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = begun(tmp_path, max_bytes=20 * PAGE_SIZE)
    for number in range(500):
        write(store, number)
    there = found(store, *range(500))
    assert len(there) > 30 and there == set(range(len(there)))
    assert (tmp_path / NAME).stat().st_size <= 20 * PAGE_SIZE
    (warning,) = warnings(caplog)
    assert warning.startswith(f"the cache {tmp_path} cannot be written (")
    assert "max_gb is 0.00032768" in warning


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def fill_with_text(file: Path) -> None:
    file.write_text("This is no cache.\n" * 1000)


def wipe_header(file: Path) -> None:
    overwrite(file, 0, bytes(8192))


def overwrite(file: Path, start: int, content: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(content)


def flip_pages_of_index(file: Path) -> None:
    """Overwrites the headers of all pages but the first."""
    for start in range(PAGE_SIZE, file.stat().st_size, PAGE_SIZE):
        overwrite(file, start, b"\xff" * 12)


@pytest.mark.parametrize("damage", [truncate, fill_with_text, wipe_header, flip_pages_of_index])
def test_a_damaged_file_is_replaced_with_a_warning(
    damage: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = begun(tmp_path)
    write(store, *range(100))
    damage(tmp_path / NAME)
    store = begun(tmp_path)
    found(store, *range(100))
    (warning,) = warnings(caplog)
    assert (
        warning.startswith(f"the cache {tmp_path} is damaged (")
        and "replaced by an empty one" in warning
    )
    write(store, *range(100))
    assert found(store, *range(100)) == set(range(100))


def test_a_file_that_another_process_has_replaced_is_opened_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = begun(tmp_path)
    write(store, 1)
    (tmp_path / NAME).unlink()
    assert found(store, 1) == set()
    write(store, 2)
    (tmp_path / NAME).unlink()
    write(store, 3)
    assert found(begun(tmp_path), 1, 2, 3) == {3}
    assert not warnings(caplog)


def test_a_file_that_another_process_removes_before_it_is_opened_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch = Path.touch

    def touch_in_vain(path: Path) -> None:
        touch(path)
        path.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "touch", touch_in_vain)
        write(begun(tmp_path), 1)
    assert found(begun(tmp_path), 1) == {1}
    assert not warnings(caplog)


def test_a_file_of_an_earlier_format_is_emptied(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(begun(tmp_path), 1)
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    store = begun(tmp_path)
    assert found(store, 1) == set()
    assert "format 1, in which a word could get another word's vectors" in warnings(caplog)[0]
    write(store, 1, 2)
    assert found(begun(tmp_path), 1, 2) == {1, 2}
    assert len(warnings(caplog)) == 1, "only once"


def test_a_file_of_a_later_format_is_not_changed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = begun(tmp_path)
    write(store, 1)
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    content = (tmp_path / NAME).read_bytes()
    assert_computes(begun(tmp_path), caplog)
    assert "its format is 7, not 2" in warnings(caplog)[0]
    assert (tmp_path / NAME).read_bytes() == content


def test_a_damaged_record_is_missing_until_it_is_written_again(tmp_path: Path) -> None:
    store = begun(tmp_path)
    write(store, *range(100))
    file = tmp_path / NAME
    overwrite(file, file.read_bytes().index(vectors(8).tobytes()) + 100, b"#")
    store = begun(tmp_path)
    assert found(store, *range(100)) == set(range(100)) - {8}
    write(store, 8)
    assert found(store, *range(100)) == set(range(100))


def assert_computes(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        assert found(store, 1, 2) == set()
        write(store, 1, 2)
    (warning,) = warnings(caplog)
    assert f"the cache {store.folder} cannot be " in warning


def test_without_a_writable_folder_the_cache_is_empty_and_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert_computes(begun(tmp_path / "file" / "cache"), caplog)
