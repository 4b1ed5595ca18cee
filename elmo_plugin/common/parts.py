"""Which of the user's files are for training, for development and for tests, by their names."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from elmo_plugin.common.errors import BiLmError

PARTS = ("train", "dev", "test")
_PART_IN_NAME = re.compile(
    r"(?<![a-z])(?:(?P<train>train(?:ing)?|trn)"
    r"|(?P<dev>dev(?:el(?:opment)?)?|val(?:id(?:ation)?)?|testa)"
    r"|(?P<test>testb?))(?:set|data)?(?![a-z])"
)
_MOST_NAMES = 6  # A message shows no more names of files.


def find_parts(paths: Sequence[Path], option: str = "FILES") -> dict[str, Path]:
    """
    Returns the path for "train", and perhaps paths for "dev" and "test". A path is a file, or a
    folder of texts.

    In a single folder, looks for files or folders that are called train…, dev… and test…. Without
    such names, the folder itself may be the training data. A single file is for training. If there
    are several paths, each is for the part that its name says. If a name says none, its position
    does: the order is train, dev, test.

    Raises `BiLmError`, naming the `option` that gave the paths, if two paths are for the same part,
    or none is for training.
    """
    paths = [Path(os.path.abspath(path)) for path in paths]  # so that `.` has a name
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
        part = part_in_name(path.name)
        if part is None:
            part = part_by_order
        _add_part(parts, part, path, place=option, advice="rename one")
    return _require_training(parts, paths, place=option)


def part_in_name(name: str) -> str | None:
    """Returns the part that the name of a file says, or `None` if it says none."""
    match = _PART_IN_NAME.search(name.lower())
    if match is None:
        return None
    return match.lastgroup  # The groups of the pattern have the names of the parts.


def _parts_of_folder(folder: Path) -> dict[str, Path]:
    """
    Returns the paths in a folder whose names say their parts. If no name does, returns one path as
    the training data: the only file of the folder, or a whole folder with a file or folder for each
    label.
    """
    # Hidden files, and folders such as the `__MACOSX` of a zip archive, are no data.
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "_"))]
    parts: dict[str, Path] = {}
    for path in paths:
        part = part_in_name(path.name)
        if part is not None:
            _add_part(parts, part, path, place=str(folder), advice="name them: TRAIN DEV")
    if not parts and len(paths) == 1:
        return {"train": paths[0]}  # the only file, whatever its name
    if not parts and _are_named_by_labels(paths):
        return {"train": folder}  # The reader of such a folder takes the labels from the names.
    return _require_training(parts, paths, place=str(folder))


def _are_named_by_labels(paths: Sequence[Path]) -> bool:
    """
    Returns whether the entries of a folder may be named by labels. There may be a folder of texts
    for each label, or a file for each label, such as `positive.txt` or `reviews.pos`.
    """
    if any(path.is_dir() for path in paths):
        return True
    if not paths:
        return False
    return all(path.suffix == ".txt" for path in paths) or have_one_stem(paths)


def have_one_stem(paths: Sequence[Path]) -> bool:
    """Returns whether names differ only in their suffixes, as `reviews.pos` and `reviews.neg`."""
    return len({path.stem for path in paths}) == 1 and all(path.suffix for path in paths)


def _add_part(parts: dict[str, Path], part: str, path: Path, place: str, advice: str) -> None:
    """
    Adds the path of a part to `parts`. Raises `BiLmError`, beginning with `place` and ending with
    the advice, if the part has a path already.
    """
    if part in parts:
        both = list_names([parts[part], path])
        raise BiLmError(f"{place}: expected one {part} file, got {both}; {advice}")
    parts[part] = path


def _require_training(parts: dict[str, Path], paths: Sequence[Path], place: str) -> dict[str, Path]:
    """
    Returns the parts in their usual order. Raises `BiLmError`, beginning with `place` and naming
    all `paths`, if no part is for training.
    """
    if "train" not in parts:
        raise BiLmError(f"{place}: expected a file called train…, got {list_names(paths)}")
    return {part: parts[part] for part in PARTS if part in parts}


def list_names(paths: Sequence[Path]) -> str:
    """Returns the names of files for a message. If there are many, "…" stands for the last ones."""
    names = [path.name for path in paths[:_MOST_NAMES]]
    if len(paths) > _MOST_NAMES:
        names.append("…")
    return ", ".join(names) or "nothing"
