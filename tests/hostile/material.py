"""Whole files of every kind, small enough to be damaged a thousand times, and what is right of them."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo_plugin import load_predictor
from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io import Source
from elmo_plugin.commands.export import export
from tests.conftest import BILM_SENTENCES
from tests.small_bilm import loud_bilm
from tests.trained_bilm import write_training
from tests.trained_tagger import tagger_config, train

SENTENCES = [sentence.split() for sentence in BILM_SENTENCES]
WORDS = {"words": ["Ada", "lives", "in", "Rome", "."]}


class Material(NamedTuple):
    """
    folder: of all
    bilm: the archive of a biLM, with its training's folder next to it
    exported: a folder with both files, made from it
    tagger: the archive of a tagger with that biLM, with its training's folder next to it
    vectors: of SENTENCES
    tags: what the tagger says of WORDS
    """

    folder: Path
    bilm: Path
    exported: Path
    tagger: Path
    vectors: np.ndarray
    tags: Any

    @property
    def pair(self) -> dict[str, str]:
        """The two files of the export, as `BiLm.from_pretrained` takes them."""
        return pair(self.exported)


def pair(folder: Path) -> dict[str, str]:
    return {"options": str(folder / "options.json"), "weights": str(folder / "weights.hdf5")}


def make_material(folder: Path) -> Material:
    bilm = loud_bilm().eval().requires_grad_(False)
    archive = write_training(folder / "bilm", bilm)
    export(str(archive), folder / "exported")
    train(tagger_config(pair(folder / "exported"), ["input"]), folder / "tagger")
    tagger = folder / "tagger" / "model.tar.gz"
    return Material(folder, archive, folder / "exported", tagger, vectors_of(bilm), tags_of(tagger))


def vectors_of(bilm: BiLm) -> np.ndarray:
    return np.concatenate([vectors.numpy() for vectors in bilm.embed(SENTENCES)], axis=1)


def tags_of(archive: Path) -> Any:
    return load_predictor(archive).predict_json(WORDS)


def loads_right(source: Source, expected: np.ndarray) -> None:
    """Raises `AssertionError` where the biLM gives other vectors."""
    assert np.array_equal(vectors_of(BiLm.from_pretrained(source)), expected), "other vectors"


def loads_finite(source: Source) -> None:
    """Raises `AssertionError` where vectors are no numbers, for files without a checksum."""
    assert np.isfinite(vectors_of(BiLm.from_pretrained(source))).all(), "vectors that are no numbers"


def predicts_right(archive: Path, expected: Any) -> None:
    """Raises `AssertionError` where a model gives another prediction."""
    assert tags_of(archive) == expected, "another prediction"


def random_of(seed: int) -> np.random.Generator:
    """Returns the numbers of a test: the same in each run, unless ELMO_HOSTILE_SEED asks for others."""
    return np.random.default_rng((seed, int(os.environ.get("ELMO_HOSTILE_SEED", "0"))))


def times(cases: int) -> range:
    """Returns the numbers of the cases, of which ELMO_HOSTILE_TIMES asks for more."""
    return range(cases * int(os.environ.get("ELMO_HOSTILE_TIMES", "1")))


def damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """Returns content with bits flipped, bytes put in, left out, doubled or set to zero, or cut."""
    damage = bytearray(content)
    place = int(generator.integers(len(content)))
    length = int(generator.integers(1, 200))
    kind = generator.choice(["flip", "flip", "flip", "flips", "zeros", "noise", "insert", "remove", "cut"])
    if kind == "flip":
        damage[place] ^= 1 << int(generator.integers(8))
    elif kind == "flips":
        for each in generator.integers(0, len(content), 5).tolist():
            damage[each] ^= 1 << int(generator.integers(8))
    elif kind == "zeros":
        damage[place : place + length] = bytes(len(damage[place : place + length]))
    elif kind == "noise":
        damage[place : place + length] = generator.bytes(len(damage[place : place + length]))
    elif kind == "insert":
        damage[place:place] = generator.bytes(length)
    elif kind == "remove":
        del damage[place : place + length]
    else:
        del damage[place:]
    return bytes(damage)
