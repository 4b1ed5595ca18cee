"""Damaged archives, weights and options: the same result, or a clear error that names the file."""

import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

from elmo_plugin import load_predictor
from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io import Source
from elmo_plugin.commands.export import export
from tests.conftest import BILM_SENTENCES
from tests.forks import run_forked
from tests.small_bilm import loud_bilm
from tests.trained_bilm import write_training
from tests.trained_tagger import tagger_config, train

pytestmark = pytest.mark.slow
SENTENCES = [sentence.split() for sentence in BILM_SENTENCES]
SECONDS_OF_ALL = 600  # that all damage of a file may take
WORDS = {"words": ["Ada", "lives", "in", "Rome", "."]}
CLEAR = re.compile(
    r"(?:[\w.]+\.)?(ConfigurationError|BiLmError|OSError|PermissionError|FileNotFoundError): "
)


class Damaged(NamedTuple):
    """
    The file to be damaged, how often, and work that raises `AssertionError` for a wrong result.
    """

    file: Path
    times: int
    work: Callable[[], None]


def loads(source: Source, expected: np.ndarray | None) -> None:
    """Compares the vectors of a biLM; without a checksum they are finite."""
    vectors = np.concatenate(
        [layers.numpy() for layers in BiLm.from_pretrained(source).embed(SENTENCES)], axis=1
    )
    assert np.isfinite(vectors).all() and (expected is None or np.array_equal(vectors, expected))


def predicts(archive: Path, expected: Any) -> None:
    assert load_predictor(archive).predict_json(WORDS) == expected


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Damaged]:
    folder = tmp_path_factory.mktemp("material")
    bilm = loud_bilm().eval().requires_grad_(False)
    archive = write_training(folder / "bilm", bilm)
    vectors = np.concatenate([layers.numpy() for layers in bilm.embed(SENTENCES)], axis=1)
    found = {"archive of a biLM": Damaged(archive, 50, partial(loads, str(archive), vectors))}
    for name in ("weights.hdf5", "options.json", "without checksums"):
        export(str(archive), folder / name)
        pair = {
            "options": str(folder / name / "options.json"),
            "weights": str(folder / name / "weights.hdf5"),
        }
        file = folder / name / ("options.json" if name == "options.json" else "weights.hdf5")
        if name == "without checksums":  # as other programs write it
            with h5py.File(file, "a") as weights:
                del weights.attrs["options"]
                weights.visititems(lambda _, each: each.attrs.pop("crc32", None))
        expected = None if name == "without checksums" else vectors
        found[name] = Damaged(
            file, 100 if name == "weights.hdf5" else 40, partial(loads, pair, expected)
        )
    train(tagger_config(pair, ["input"]), folder / "tagger")
    tagger = folder / "tagger" / "model.tar.gz"
    tags = load_predictor(tagger).predict_json(WORDS)
    return {**found, "archive of a tagger": Damaged(tagger, 40, partial(predicts, tagger, tags))}


def damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """Returns content with bits flipped, bytes put in, left out or set to zero, or cut."""
    damage = bytearray(content)
    place, length = int(generator.integers(len(content))), int(generator.integers(1, 200))
    kind = generator.choice(["flip", "flip", "flip", "zeros", "noise", "insert", "remove", "cut"])
    if kind == "flip":
        damage[place] ^= 1 << int(generator.integers(8))
    elif kind == "insert":
        damage[place:place] = generator.bytes(length)
    elif kind in ("zeros", "noise"):
        size = len(damage[place : place + length])
        damage[place : place + length] = bytes(size) if kind == "zeros" else generator.bytes(size)
    else:
        del damage[place : place + length if kind == "remove" else None]
    return bytes(damage)


def outcomes(case: Damaged, contents: list[bytes], folder: Path) -> list[str]:
    """
    Does the work with each content of the file, all in one process. Returns the error that each
    ends with, as Python prints it, or an empty text; the last may say how the process was killed.
    """

    def work() -> None:
        for content in contents:
            case.file.write_bytes(content)
            error = ""
            try:
                case.work()
            except Exception:
                error = traceback.format_exc()
            print(json.dumps(error), file=sys.stderr)

    whole = case.file.read_bytes()
    ended = run_forked(work, folder, SECONDS_OF_ALL)
    case.file.write_bytes(whole)
    lines = [line for line in ended.error.splitlines() if line.startswith('"')]
    errors = [json.loads(line) for line in lines]
    if ended.status:
        errors.append(f"Traceback: the process ended with status {ended.status}")
    return errors


@pytest.mark.parametrize(
    "name",
    [
        "archive of a biLM",
        "weights.hdf5",
        "options.json",
        "without checksums",
        "archive of a tagger",
    ],
)
def test_damage_is_named_or_harmless(name: str, cases: dict[str, Damaged], tmp_path: Path) -> None:
    """ELMO_HOSTILE_SEED asks for other damage, ELMO_HOSTILE_TIMES for more."""
    case = cases[name]
    generator = np.random.default_rng((len(name), int(os.environ.get("ELMO_HOSTILE_SEED", "0"))))
    whole = case.file.read_bytes()
    times = case.times * int(os.environ.get("ELMO_HOSTILE_TIMES", "1"))
    contents = [damaged(whole, generator) for _ in range(times)]
    errors = outcomes(case, contents, tmp_path)
    assert len(errors) == times, errors[-1:]
    unnamed, wrong = [], []
    for number, error in enumerate(errors):
        last_line = (error.splitlines() or [""])[-1]
        if error and not CLEAR.match(last_line):
            wrong.append(f"{number}: {error[-600:]}")
        elif error and not any(
            each in last_line for each in ("model.tar.gz", *case.file.parts[-1:])
        ):
            unnamed.append(f"{number}: {last_line}")
    assert any(errors), "no damage was noticed"
    assert wrong == [] and len(unnamed) <= case.times // 30, unnamed
