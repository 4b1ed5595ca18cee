"""
A program that looks for damage in the order of an LMDB file, whose records have checksums of their own:

    python check_lmdb.py FILE

It is a program because LMDB may end the process that reads a damaged file. It ends with `DAMAGED`, and prints
what is wrong, where that can be told.
"""

import sys
import time
from pathlib import Path

import lmdb

DAMAGED = 3
MAP_SIZE = 1 << 40  # of addresses, not of memory or disk; the same for all processes
SECONDS = 10.0  # for one that is large and not in the system's cache: what was not seen by then is trusted


def main() -> None:
    try:
        check(Path(sys.argv[1]))
    except (ValueError, lmdb.InvalidError, lmdb.CorruptedError, lmdb.PageNotFoundError) as error:
        print(error)
        sys.exit(DAMAGED)


def check(file: Path) -> None:
    """Raises one of the above if it is damaged."""
    if file.stat().st_size == 0:
        raise ValueError("it is empty")
    with lmdb.open(str(file), map_size=MAP_SIZE, subdir=False, readonly=True, readahead=False) as environment:
        end = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
        if file.stat().st_size < end:
            raise ValueError(f"it has {file.stat().st_size} bytes of {end}")
        with environment.begin(buffers=True) as transaction:
            check_order(transaction)


def check_order(transaction: lmdb.Transaction) -> None:
    """Goes through all keys, which must ascend, be as many as the file says, and of one size."""
    deadline = time.monotonic() + SECONDS
    number, last = 0, b""
    for view in transaction.cursor().iternext(keys=True, values=False):
        key = bytes(view)
        if key <= last or len(key) != len(last or key):
            raise ValueError("its keys are in disorder")
        number, last = number + 1, key
        if time.monotonic() > deadline:
            return
    if number != transaction.stat()["entries"]:
        raise ValueError(f"it has {number} sentences of {transaction.stat()['entries']}")


if __name__ == "__main__":
    main()
