"""Damaged weights and options of a biLM: it loads with the vectors that it had, or says what is wrong."""

import shutil
from functools import partial
from pathlib import Path

import h5py
import pytest

from tests.hostile.material import Material, damaged, loads_finite, loads_right, pair, random_of, times
from tests.hostile.outcomes import Outcomes

pytestmark = pytest.mark.slow
NAMES = ("weights.hdf5", "options.json")


def copied(material: Material, folder: Path) -> Path:
    shutil.copytree(material.exported, folder)
    return folder


def without_checksums(folder: Path) -> Path:
    """As other programs write it."""
    with h5py.File(folder / "weights.hdf5", "a") as file:
        del file.attrs["options"]
        file.visititems(lambda name, each: each.attrs.pop("crc32", None))
    return folder


@pytest.mark.parametrize(("seed", "cases", "has_checksums"), [(1, 110, True), (2, 40, False)])
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
    for number in times(30):
        (folder / "options.json").write_bytes(damaged(content, generator))
        case = f"options {number}"
        outcomes.run(case, partial(loads_right, pair(folder), material.vectors), tmp_path / "run", NAMES)
