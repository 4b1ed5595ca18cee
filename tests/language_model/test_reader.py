import gzip
from pathlib import Path

import pytest
import zstandard
from allennlp.data import DatasetReader

from elmo_plugin.language_model.loader import BiLmTextReader


@pytest.fixture
def reader() -> BiLmTextReader:
    made = DatasetReader.by_name("bilm_text")()
    assert isinstance(made, BiLmTextReader)
    return made


def words(reader: BiLmTextReader, path: str) -> list[list[str]]:
    return [[token.text for token in instance["words"]] for instance in reader.read(path)]


def test_shards_are_read_in_order_compressed_or_not(reader: BiLmTextReader, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("a second one .\n", encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("Schöne  Wörter\n\n  \nund mehr\n".encode()))
    (tmp_path / "c.txt.zst").write_bytes(zstandard.compress(b"the end"))
    (tmp_path / "folder").mkdir()
    assert words(reader, str(tmp_path / "*")) == [
        ["<S>", "Schöne", "Wörter", "</S>"],
        ["<S>", "und", "mehr", "</S>"],
        ["<S>", "a", "second", "one", ".", "</S>"],
        ["<S>", "the", "end", "</S>"],
    ]


def test_a_file_whose_name_looks_like_a_pattern_is_read(reader: BiLmTextReader, tmp_path: Path) -> None:
    path = tmp_path / "text[1].txt"
    path.write_text("one\n")
    assert words(reader, str(path)) == [["<S>", "one", "</S>"]]
