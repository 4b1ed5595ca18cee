"""The folder beside an output in which its parts gather until it is whole."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import FileLock
from filelock import Timeout

from elmo_plugin.common.files import remove_leftovers, write_json
from elmo_plugin.embed_files.part import OutputFormat
from elmo_plugin.embed_files.passage import Passage

_MANIFEST = "manifest.json"


class Parts:
    """
    # Parameters

    folder : `Path`
        Where they are.
    file_format : `OutputFormat`
        Of each of them.
    """

    def __init__(self, folder: Path, file_format: OutputFormat) -> None:
        self.folder = folder
        self._format = file_format

    def path(self, number: int) -> Path:
        """Where the part of the passage with this number is."""
        return self.folder / f"{number:08d}.part"

    def has(self, passage: Passage) -> bool:
        """Raises `ConfigurationError` where there is a part of another passage in its place."""
        path = self.path(passage.number)
        found = self._format.read_description(path) if path.exists() else None
        if found is not None and found["text"] != passage.digest():
            first, last = passage.first_line + 1, passage.first_line + len(passage.sentences)
            raise ConfigurationError(
                f"{self.folder} was begun with another text, which differs in lines {first} to {last}: give "
                "that text, or remove it to begin again"
            )
        return found is not None


@contextmanager
def unfinished(output: Path, file_format: OutputFormat, description: dict[str, Any]) -> Iterator[Parts]:
    """
    The parts of an output, for this process alone. They are removed when the block succeeds.

    # Parameters

    output : `Path`
        What is to be written.
    file_format : `OutputFormat`
        Its format.
    description : `dict[str, Any]`
        How it is made. Parts that were made otherwise are not taken.

    Raises `ConfigurationError` where there are such parts, and where another process writes the same output.
    """
    folder = output.with_name(f"{output.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "lock", timeout=0):
            try:
                remove_leftovers(folder, "*")
                _check_manifest(folder, description)
                yield Parts(folder, file_format)
                shutil.rmtree(folder)
            finally:
                if folder.exists() and not any(folder.glob("*.part")):
                    shutil.rmtree(folder)
    except Timeout:
        raise ConfigurationError(f"another process is writing {output}") from None


def check_description(found: dict[str, Any], expected: dict[str, Any], path: Path) -> None:
    """Raises `ConfigurationError` where what is at `path` was made otherwise than is asked for."""
    differences = [
        f"{name.replace('_', ' ')} was {found.get(name)}, not {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if differences:
        raise ConfigurationError(
            f"{path} was made with other arguments ({'; '.join(differences)}): give those, or remove it to "
            "begin again"
        )


def _check_manifest(folder: Path, description: dict[str, Any]) -> None:
    """Writes the manifest, or compares with that of an earlier process."""
    path = folder / _MANIFEST
    if path.exists():
        check_description(json.loads(path.read_text(encoding="utf-8")), description, folder)
    else:
        write_json(path, description)
