"""A small biLM with vectors large enough to tell right from wrong, and a text."""

from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLm
from elmo_plugin.embed_files import EmbedSettings, embedder
from tests.small_bilm import loud_bilm, write_pair

LINES = [
    "the cat sat on the mat .",
    "Ein Wörterbuch / eine 辞書",
    "",
    "a",
    "the cat sat on the mat .",
    "  two  spaces\tand a tab ",
    "   ",
    "why did the cat run away ?",
    "5 % \\ of it",
    ".",
]


def write_text(path: Path, lines: list[str] = LINES) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def bilm() -> BiLm:
    return loud_bilm().eval().requires_grad_(False)


@pytest.fixture
def bilm_files(bilm: BiLm, tmp_path: Path) -> dict[str, str]:
    """The small biLM in the published layout."""
    return write_pair(bilm, tmp_path / "bilm")


@pytest.fixture
def settings(bilm_files: dict[str, str]) -> EmbedSettings:
    return EmbedSettings(bilm_files)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_text(tmp_path / "text.txt")


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line or two, so that there are many chunks."""
    monkeypatch.setattr(embedder, "CHUNK_VECTOR_BYTES", 2000)
