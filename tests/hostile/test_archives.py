"""Damaged and malicious archives: the same vectors and predictions or a clear error, and nothing outside."""

import io
import json
import os
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.hostile.material import Material, damaged, loads_right, predicts_right, random_of, times
from tests.hostile.outcomes import Outcomes
from tests.payload import Payload

pytestmark = pytest.mark.slow
OUTSIDE = f"/tmp/elmo_hostile_{os.getpid()}"
Files = dict[str, bytes]


def files_of(archive: Path) -> Files:
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]


def packed(files: Files, extra: tuple[tarfile.TarInfo, ...] = (), mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for info in extra:
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, int(kind == tarfile.REGTYPE)
    return info


def saved(state: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


MALICIOUS = {
    "up": (member(f"../../../../../../../..{OUTSIDE}"),),
    "in and up": (member(f"vocabulary/../../../../../../../../..{OUTSIDE}"),),
    "root": (member(OUTSIDE),),
    "link": (member("a", tarfile.SYMTYPE, "/tmp"), member(f"a/{Path(OUTSIDE).name}")),
    "link to a link": (
        member("a", tarfile.SYMTYPE, ".."),
        member("b", tarfile.SYMTYPE, "a/.."),
        member("b/c"),
    ),
    "hard link": (member("a", tarfile.LNKTYPE, "/etc/hostname"),),
    "weights are a link": (member("weights.th", tarfile.SYMTYPE, "/etc/hostname"),),
    "folder is a link": (member("vocabulary", tarfile.SYMTYPE, "/tmp"), member("vocabulary/x")),
    "pipe": (member("a", tarfile.FIFOTYPE),),
    "device": (member("a", tarfile.CHRTYPE),),
    "file in a file": (member("a"), member("a/b")),
}


def changes(state: dict[str, Any]) -> dict[str, Callable[[Files], Files]]:
    """Returns archives that hold other things than they should; `state` are their weights."""
    tensor = next(
        name for name, values in state.items() if isinstance(values, torch.Tensor) and values.dim() > 1
    )

    def with_state(**changed: Any) -> Callable[[Files], Files]:
        return lambda files: {**files, "weights.th": saved({**state, **changed})}

    def without(name: str) -> Callable[[Files], Files]:
        return lambda files: {key: content for key, content in files.items() if key != name}

    def with_file(name: str, content: bytes) -> Callable[[Files], Files]:
        return lambda files: {**files, name: content}

    def with_config(change: Callable[[dict[str, Any]], Any]) -> Callable[[Files], Files]:
        return lambda files: {
            **files,
            "config.json": json.dumps(change(json.loads(files["config.json"]))).encode(),
        }

    values = state[tensor]
    return {
        "nothing": lambda files: {},
        "no config": without("config.json"),
        "no weights": without("weights.th"),
        "config: text": with_file("config.json", b"hello"),
        "config: list": with_file("config.json", b"[]"),
        "config: deep": with_file("config.json", b"[" * 100_000),
        "config: latin-1": with_file("config.json", b'{"model": "\xe9"}'),
        "config: no model": with_config(lambda config: {"dataset_reader": {}}),
        "config: other model": with_config(lambda config: {**config, "model": {"type": "nobody knows"}}),
        "config: model is text": with_config(lambda config: {**config, "model": "bilm"}),
        "weights: text": with_file("weights.th", b"hello"),
        "weights: empty": with_file("weights.th", b""),
        "weights: list": with_file("weights.th", saved([1, 2])),
        "weights: no names": with_file("weights.th", saved({})),
        "weights: code": with_file("weights.th", saved({"a": Payload(Path(OUTSIDE))})),
        "weights: NaN": with_state(**{tensor: values * float("nan")}),
        "weights: infinite": with_state(**{tensor: values / 0}),
        "weights: too large for float32": with_state(**{tensor: values.double() * 1e300}),
        "weights: complex": with_state(**{tensor: values.to(torch.complex64)}),
        "weights: other shape": with_state(**{tensor: values[:1]}),
        "weights: text in a place": with_state(**{tensor: "hello"}),
        "weights: one less": lambda files: {
            **files,
            "weights.th": saved({name: each for name, each in state.items() if name != tensor}),
        },
        "weights: one more": with_state(more=torch.zeros(3)),
        "not compressed": lambda files: files,
    }


def try_all(
    archive: Path, look: Callable[[Path], None], seed: int, cases: int, folder: Path, outcomes: Outcomes
) -> None:
    path = folder / "model.tar.gz"
    content, files = archive.read_bytes(), files_of(archive)
    generator = random_of(seed)
    for case in times(cases):
        path.write_bytes(damaged(content, generator))
        outcomes.run(f"damaged {seed}.{case}", partial(look, path), folder / "run", ["model.tar.gz"])
    plain = packed(files, mode="w")
    for case in times(cases // 4):
        path.write_bytes(damaged(plain, generator))
        outcomes.run(f"plain {seed}.{case}", partial(look, path), folder / "run", ["model.tar.gz"])
    for name, extra in MALICIOUS.items():
        path.write_bytes(packed(files, extra))
        outcomes.run(name, partial(look, path), folder / "run", ["model.tar.gz"])
    state = torch.load(io.BytesIO(files["weights.th"]), weights_only=True)
    for name, change in changes(state).items():
        path.write_bytes(packed(change(dict(files)), mode="w" if name == "not compressed" else "w:gz"))
        outcomes.run(name, partial(look, path), folder / "run", ["model.tar.gz"])


def test_archives_of_a_bilm(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    def look(path: Path) -> None:
        loads_right(str(path), material.vectors)

    try_all(material.bilm, look, 11, 40, tmp_path, outcomes)


def test_archives_of_a_task(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    try_all(material.tagger, partial(predicts_right, expected=material.tags), 12, 32, tmp_path, outcomes)
