"""Damaged weights and options of a biLM: it loads with the vectors that it had, or says what is wrong."""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import pytest

from tests.hostile.material import Material, damaged, loads_finite, loads_right, pair, random_of, times
from tests.hostile.outcomes import Outcomes

pytestmark = pytest.mark.slow
NAMES = ("weights.hdf5", "options.json")
WRONG = (None, True, False, "3", "x", -1, 0, 0.5, 2.5, 10**6, 10**9, 10**30, 1e300, [], [[]], {}, "false")


def copied(material: Material, folder: Path) -> Path:
    shutil.copytree(material.exported, folder)
    return folder


def without_checksums(folder: Path) -> Path:
    """As other programs write it."""
    with h5py.File(folder / "weights.hdf5", "a") as file:
        del file.attrs["options"]
        file.visititems(lambda name, each: each.attrs.pop("crc32", None))
    return folder


@pytest.mark.parametrize(("seed", "cases", "has_checksums"), [(1, 220, True), (2, 80, False)])
def test_damaged_hdf5(
    seed: int, cases: int, has_checksums: bool, material: Material, tmp_path: Path, outcomes: Outcomes
) -> None:
    generator = random_of(seed)
    folder = copied(material, tmp_path / "pair")
    if not has_checksums:
        without_checksums(folder)
    content = (folder / "weights.hdf5").read_bytes()
    look = (
        partial(loads_right, pair(folder), material.vectors)
        if has_checksums
        else partial(loads_finite, pair(folder))
    )
    for case in times(cases):
        (folder / "weights.hdf5").write_bytes(damaged(content, generator))
        outcomes.run(f"hdf5 {seed}.{case}", look, tmp_path / "run", NAMES)


def changed_options(options: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields options with another value, a key less, or a key more, in every place."""
    places = [(), ("lstm",), ("char_cnn",), ("char_cnn", "embedding")]
    for place in places:
        section = options
        for key in place:
            section = section[key]
        for key in section:
            for value in WRONG:
                yield f"{'.'.join((*place, key))}={value!r}", _with(options, (*place, key), value)
            yield f"{'.'.join((*place, key))} is gone", _with(options, (*place, key), None, remove=True)
        yield f"{'.'.join(place)} has one more", _with(options, (*place, "n_layer"), 3)
    for value in (
        [],
        [[1, 4]],
        [[1, 4], [2, 6], [4, 8], [5, 3]],
        [[0, 4]],
        [[1, 4, 2]],
        [["1", 4]],
        [1, 2, 3],
    ):
        yield f"filters={value}", _with(options, ("char_cnn", "filters"), value)


def _with(
    options: dict[str, Any], place: tuple[str, ...], value: Any, remove: bool = False
) -> dict[str, Any]:
    changed = deepcopy(options)
    section = changed
    for key in place[:-1]:
        section = section[key]
    if remove:
        del section[place[-1]]
    else:
        section[place[-1]] = value
    return changed


def test_changed_options(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    folder = copied(material, tmp_path / "pair")
    options = json.loads((folder / "options.json").read_text())
    for case, changed in changed_options(options):
        (folder / "options.json").write_text(json.dumps(changed))
        outcomes.run(case, partial(loads_right, pair(folder), material.vectors), tmp_path / "run", NAMES)


def test_damaged_options(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    folder = copied(material, tmp_path / "pair")
    content = (folder / "options.json").read_bytes()
    texts = {
        "empty": b"",
        "deep": b"[" * 200_000,
        "digits": content.replace(b"10", b"1" + b"0" * 5000, 1),
        "nan": content.replace(b"3.0", b"NaN").replace(b" 3,", b" NaN,"),
        "twice": content.replace(b'"dim"', b'"dim": 7, "dim"', 1),
        "utf-16": content.decode().encode("utf-16"),
        "mark": b"\xef\xbb\xbf" + content,
        "latin-1": content.replace(b"relu", b"r\xe9lu"),
        "list": b"[1, 2]",
        "text": b'"options"',
        "zeros": bytes(100),
    }
    for case, text in texts.items():
        (folder / "options.json").write_bytes(text)
        outcomes.run(case, partial(loads_right, pair(folder), material.vectors), tmp_path / "run", NAMES)
    generator = random_of(3)
    for number in times(60):
        (folder / "options.json").write_bytes(damaged(content, generator))
        case = f"options {number}"
        outcomes.run(case, partial(loads_right, pair(folder), material.vectors), tmp_path / "run", NAMES)
