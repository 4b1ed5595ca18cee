"""Which of the user's files are for training, for development and for tests, by their names."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from elmo_plugin.common.errors import BiLmError

PARTS = ("train", "dev", "test")
PART_IN_NAME = re.compile(
    r"(?<![a-z])(?:(?P<train>train(?:ing)?|trn)"
    r"|(?P<dev>dev(?:el(?:opment)?)?|val(?:id(?:ation)?)?|testa)"
    r"|(?P<test>testb?))(?:set|data)?(?![a-z])"
)
_MOST_NAMES = 6  # that are listed


def find_parts(paths: Sequence[Path], option: str = "FILES") -> dict[str, Path]:
    """
    Returns the files, or the folders of texts, by "train" and maybe "dev" and "test".

    A single folder has files, or folders, called train…, dev… and test…, or else is the training
    data itself. Files without such names are taken in this order. Raises `BiLmError` if two have
    the same part, or none is for training.
    """
    paths = [Path(os.path.abspath(path)) for path in paths]
    if len(paths) == 1 and paths[0].is_dir():
        return _parts_of_folder(paths[0])
    if len(paths) > len(PARTS):
        raise BiLmError(
            f"{option}: expected one folder, or the files TRAIN DEV TEST, got {len(paths)} files"
        )
    named = [part_in_name(path.name) for path in paths]
    if len(paths) == 1:
        named = ["train"]
    parts: dict[str, Path] = {}
    for path, name, in_order in zip(paths, named, PARTS, strict=False):
        _add(parts, name or in_order, path, f"{option}: ", "rename one")
    return _with_training(parts, paths, option)


def part_in_name(name: str) -> str | None:
    """Returns the part that the name of a file says, or `None`."""
    match = PART_IN_NAME.search(name.lower())
    return match.lastgroup if match else None


def _parts_of_folder(folder: Path) -> dict[str, Path]:
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "_"))]
    parts: dict[str, Path] = {}
    for path in paths:
        name = part_in_name(path.name)
        if name is not None:
            _add(parts, name, path, f"{folder}: ", "name them: TRAIN DEV")
    if not parts and len(paths) == 1:
        return {"train": paths[0]}
    if not parts and any(path.is_dir() for path in paths):
        return {"train": folder}  # a folder for each label
    if not parts and paths and all(path.suffix == ".txt" for path in paths):
        return {"train": folder}  # a file for each label
    return _with_training(parts, paths, str(folder))


def _add(parts: dict[str, Path], part: str, path: Path, place: str, hint: str) -> None:
    if part in parts:
        both = list_names([parts[part], path])
        raise BiLmError(f"{place}expected one {part} file, got {both}; {hint}")
    parts[part] = path


def _with_training(parts: dict[str, Path], paths: Sequence[Path], place: str) -> dict[str, Path]:
    if "train" not in parts:
        raise BiLmError(f"{place}: expected a file called train…, got {list_names(paths)}")
    return {part: parts[part] for part in PARTS if part in parts}


def list_names(paths: Sequence[Path]) -> str:
    """Returns the first names of files, for a message."""
    names = [path.name for path in paths[:_MOST_NAMES]]
    if len(paths) > _MOST_NAMES:
        names.append("…")
    return ", ".join(names) or "nothing"
