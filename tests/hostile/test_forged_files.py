"""Files that somebody forged: records of torch, models of ELMoForManyLangs, stored state."""

import io
import pickle
import zipfile
from functools import partial
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm
from tests.bilm.manylangs.model_folder import SENTENCES
from tests.hostile.material import Material, loads_right
from tests.hostile.outcomes import Outcomes
from tests.hostile.test_archives import files_of, packed

pytestmark = pytest.mark.slow
Records = dict[str, bytes]


def records_of(content: bytes) -> Records:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(records: Records, twice: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, content in records.items():
            file.writestr(name, content)
            if name == twice:
                file.writestr(name, content[::-1])
    return buffer.getvalue()


def forged(content: bytes) -> dict[str, bytes]:
    """Returns a file of torch with right checksums, whose records contradict one another."""
    records = records_of(content)
    root = next(iter(records)).split("/")[0]
    pickled, tensor = f"{root}/data.pkl", next(name for name in records if "/data/" in name)
    program = records[pickled]
    sizes = [place for place in range(len(program) - 2) if program[place : place + 1] == b"K"]

    def with_(name: str, changed: bytes) -> bytes:
        return zipped({**records, name: changed})

    found = {
        "a tensor is cut": with_(tensor, records[tensor][:-4]),
        "a tensor is empty": with_(tensor, b""),
        "a tensor goes on": with_(tensor, records[tensor] + bytes(400)),
        "a tensor is gone": zipped({name: each for name, each in records.items() if name != tensor}),
        "a tensor is there twice": zipped(records, twice=tensor),
        "the program is there twice": zipped(records, twice=pickled),
        "the program is gone": zipped({name: each for name, each in records.items() if name != pickled}),
        "the program is empty": with_(pickled, b""),
        "the program ends early": with_(pickled, program[:40]),
        "the program never ends": with_(pickled, program[:-1]),
        "the program nests": with_(pickled, b"\x80\x02" + b"]" * 100_000 + b"."),
        "the program is a number": with_(pickled, pickle.dumps(3, 2)),
        "a name leads out": zipped({f"../../{name}": each for name, each in records.items()}),
        "another byte order": with_(f"{root}/byteorder", b"big"),
        "no byte order": with_(f"{root}/byteorder", b"nonsense"),
        "version": with_(f"{root}/version", b"99999"),
    }
    for number, place in enumerate(sizes[:40]):  # small whole numbers: sizes, strides and offsets
        for value in (0, 255):
            changed = program[: place + 1] + bytes([value]) + program[place + 2 :]
            found[f"number {number} of the program is {value}"] = with_(pickled, changed)
    return found


def test_records_of_torch(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    files = files_of(material.bilm)
    path = tmp_path / "model.tar.gz"
    for case, content in forged(files["weights.th"]).items():
        path.write_bytes(packed({**files, "weights.th": content}))
        look = partial(loads_right, str(path), material.vectors)
        if "number" in case:
            look = partial(finite_or_refused, path)
        outcomes.run(case, look, tmp_path / "run", ["model.tar.gz"])


def finite_or_refused(path: Path) -> None:
    """Strides and offsets that fit are other weights, which nobody can tell; they stay in their tensors."""
    vectors = BiLm.from_pretrained(str(path)).embed(SENTENCES[:1])[0]
    assert torch.isfinite(vectors).all(), "vectors that are not finite"
