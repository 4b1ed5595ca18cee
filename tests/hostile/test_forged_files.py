"""Files that somebody forged: records of torch, models of ELMoForManyLangs, stored state."""

import io
import pickle
import zipfile
from functools import partial
from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.formats.torch_files import load_plain
from tests.bilm.manylangs.model_folder import SENTENCES, write_model
from tests.hostile.material import Material, damaged, loads_right, random_of, times
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


def test_models_of_manylangs(tmp_path: Path, outcomes: Outcomes) -> None:
    """Their files have no checksum (but torch's): vectors are finite, or an error names a file."""
    folder = write_model(tmp_path / "model")

    def look() -> None:
        for vectors in BiLm.from_pretrained(str(folder)).embed(SENTENCES):
            assert torch.isfinite(vectors).all(), "vectors that are not finite"

    names = [str(folder)]
    generator = random_of(61)
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        for case in times(20):
            file.write_bytes(damaged(content, generator))
            outcomes.run(f"{file.name} {case}", look, tmp_path / "run", names)
        for what, other in (("empty", b""), ("binary", bytes(range(256)) * 9), ("a line", content + b"\n\n")):
            file.write_bytes(other)
            outcomes.run(f"{file.name} is {what}", look, tmp_path / "run", names)
        file.write_bytes(content)


def test_plain_values_of_torch(outcomes: Outcomes) -> None:
    """Whatever a program of a pickle says, it is read as tensors and plain values or refused."""
    buffer = io.BytesIO()
    torch.save({"a": torch.arange(6.0).view(2, 3), "b": [1, "x"]}, buffer)
    records = records_of(buffer.getvalue())
    name = next(name for name in records if name.endswith("data.pkl"))
    generator = random_of(63)

    def look(content: bytes) -> None:
        try:
            load_plain(content, "weights")
        except BiLmError as error:
            assert str(error).startswith("weights: "), str(error)
            raise

    for case in times(75):
        changed = zipped({**records, name: damaged(records[name], generator)})
        outcomes.call(f"program {case}", partial(look, changed), ["weights: "])
