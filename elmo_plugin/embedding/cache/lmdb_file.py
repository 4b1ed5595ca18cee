"""One LMDB file: how it is opened, and begun anew where it is damaged."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import lmdb
from filelock import FileLock

from elmo_plugin.embedding.cache import check_lmdb

NAME = "activations.mdb"
MAX_READERS = 1024

logger = logging.getLogger(__name__)


def open_file(folder: Path, check: bool) -> lmdb.Environment:
    """
    Opens the file in `folder`, or begins it. Nothing waits for the disk: after a power failure the file may
    be damaged, after the end of a process it is not.

    # Parameters

    folder : `Path`
        One process at a time opens the file in it.
    check : `bool`
        Whether to look for damage first. A damaged file is replaced, which a warning says; processes that
        have it open keep the old one.

    Raises `OSError` or `lmdb.Error` where it cannot be opened.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    with FileLock(str(folder / "opening.lock")):
        if check and file.exists() and (damage := _damage(file)):
            logger.warning("the cache %s is damaged (%s): it is begun anew, empty", folder, damage)
            for part in (file, folder / f"{NAME}-lock"):
                part.unlink(missing_ok=True)
        environment = lmdb.open(
            str(file),
            map_size=check_lmdb.MAP_SIZE,
            subdir=False,
            sync=False,
            metasync=False,
            max_readers=MAX_READERS,
        )
        environment.reader_check()  # frees the places of readers that were killed
        return environment


def _damage(file: Path) -> str | None:
    command = [sys.executable, check_lmdb.__file__, str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    if result.returncode < 0:
        return f"reading it ends with {signal.Signals(-result.returncode).name}"
    if result.returncode == check_lmdb.DAMAGED:
        return result.stdout.strip()
    *_, reason = ["", *result.stderr.splitlines()]
    raise OSError(f"its check failed: {reason}")
