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
_MOST_NAMES = 6  # A message shows no more names of files.


def find_parts(paths: Sequence[Path], option: str = "FILES") -> dict[str, Path]:
    """
    Returns the files, or the folders of texts, by "train" and maybe "dev" and "test".

    In a single folder, files or folders are found that are called train…, dev… and test…; if it has
    none, the folder itself may be the training data. If there are several paths, the ones
    without such a name are taken in the order train, dev, test. Raises `BiLmError` if two paths are
    for the same part, or none is for training.
    """
    paths = [Path(os.path.abspath(path)) for path in paths]
    if len(paths) == 1 and paths[0].is_dir():
        return _parts_of_folder(paths[0])
    if len(paths) > len(PARTS):
        raise BiLmError(
            f"{option}: expected one folder, or the files TRAIN DEV TEST, got {len(paths)} files"
        )
    if len(paths) == 1:
        return {"train": paths[0]}
    parts: dict[str, Path] = {}
    for path, part_by_order in zip(paths, PARTS, strict=False):
        part = part_in_name(path.name) or part_by_order
        _add(parts, part, path, f"{option}: ", "rename one")
    return _with_training(parts, paths, option)


def part_in_name(name: str) -> str | None:
    """Returns the part that is in the name of a file, or `None`."""
    match = PART_IN_NAME.search(name.lower())
    if match is None:
        return None
    return match.lastgroup  # each part has a group of its name


def _parts_of_folder(folder: Path) -> dict[str, Path]:
    """Finds the parts in a folder by their names, or takes the folder as the training data."""
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "_"))]
    parts: dict[str, Path] = {}
    for path in paths:
        name = part_in_name(path.name)
        if name is not None:
            _add(parts, name, path, f"{folder}: ", "name them: TRAIN DEV")
    if not parts and len(paths) == 1:
        return {"train": paths[0]}  # the only file, whatever its name
    if not parts and _has_labels(paths):
        return {"train": folder}  # its reader takes the labels from the names in it
    return _with_training(parts, paths, str(folder))


def _has_labels(paths: Sequence[Path]) -> bool:
    """Returns whether each label has a folder of texts, or a file of its own."""
    if any(path.is_dir() for path in paths):
        return True
    if not paths:
        return False
    return all(path.suffix == ".txt" for path in paths) or have_one_stem(paths)


def have_one_stem(paths: Sequence[Path]) -> bool:
    """Returns whether names differ only in their suffixes, as `reviews.pos` and `reviews.neg`."""
    return len({path.stem for path in paths}) == 1 and all(path.suffix for path in paths)


def _add(parts: dict[str, Path], part: str, path: Path, place: str, hint: str) -> None:
    """Adds the path of a part. Raises `BiLmError`, with the hint, if the part has one already."""
    if part in parts:
        both = list_names([parts[part], path])
        raise BiLmError(f"{place}expected one {part} file, got {both}; {hint}")
    parts[part] = path


def _with_training(parts: dict[str, Path], paths: Sequence[Path], place: str) -> dict[str, Path]:
    """Returns the parts in their usual order. Raises `BiLmError` if none is for training."""
    if "train" not in parts:
        raise BiLmError(f"{place}: expected a file called train…, got {list_names(paths)}")
    return {part: parts[part] for part in PARTS if part in parts}


def list_names(paths: Sequence[Path]) -> str:
    """Returns the first names of files, for a message."""
    names = [path.name for path in paths[:_MOST_NAMES]]
    if len(paths) > _MOST_NAMES:
        names.append("…")
    return ", ".join(names) or "nothing"
