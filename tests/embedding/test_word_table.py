import gzip
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load

from elmo_plugin.common.word_keys import KEYS_NAME, word_key
from elmo_plugin.embedding import word_table
from elmo_plugin.embedding.word_table import (
    WordTable,
    read_table,
    read_text_table,
    table_from_bytes,
)

GLOVE = "the 0.5 -1 2\nplay 1 0 0\n. . 3 2 1\n"


def vector(table: WordTable, word: str) -> list[float]:
    row = table.keys.tolist().index(word_key(word))
    return table.vectors[row].tolist()


@pytest.mark.parametrize("header", ["", "3 3\n"], ids=["glove", "word2vec"])
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.vec", "vectors.txt.gz"])
def test_text_files_are_read_with_and_without_header_or_compression(
    tmp_path: Path, name: str, header: str
) -> None:
    content = (header + GLOVE).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    table = read_text_table(str(tmp_path / name))
    assert vector(table, "the") == [0.5, -1, 2]
    assert vector(table, ". .") == [3, 2, 1]
    assert table.vectors.dtype == torch.float32


def test_trailing_spaces_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "fasttext.vec").write_text("2 2\nthe 1 2 \nplay 3 4 \n")
    assert vector(read_text_table(str(tmp_path / "fasttext.vec")), "play") == [3, 4]


def test_a_file_may_have_fewer_words_than_dimensions(tmp_path: Path) -> None:
    (tmp_path / "few.vec").write_text("2 3\nthe 1 2 3\nplay 4 5 6\n")
    assert vector(read_text_table(str(tmp_path / "few.vec")), "play") == [4, 5, 6]


def test_a_repeated_word_keeps_its_first_vector(tmp_path: Path) -> None:
    (tmp_path / "twice.txt").write_text("the 1 2\nthe 3 4\n")
    assert read_text_table(str(tmp_path / "twice.txt")).vectors.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty file"),
        ("the 1 2\nplay 1\n", "line 2"),
        ("the 1 2\nplay 1 x\n", "line 2: could not convert"),
        ("the 1 2\nplay 1 nan\n", "line 2: expected finite numbers"),
        ("the\n", "line 1: expected a word and its numbers"),
        ("3 2\nthe 1 2\nplay 3 4\n", "expected 3 words, as its first line says, got 2"),
    ],
)
def test_malformed_lines_are_refused_naming_file_and_line(
    tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "bad.txt").write_text(content)
    with pytest.raises(ConfigurationError, match=message) as error:
        read_text_table(str(tmp_path / "bad.txt"))
    assert "bad.txt" in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing\.txt"):
        read_text_table(str(tmp_path / "missing.txt"))


@given(st.text(), st.text())
def test_hash_keys_depend_on_the_words_only(first: str, second: str) -> None:
    assert (word_key(first) == word_key(second)) == (first == second)
    assert -(2**63) <= word_key(first) < 2**63 and word_key(first) != 0


FOLDER = word_table.BUNDLED / "words" / "english"


def test_the_bundled_table_contains_the_keys_and_vectors_of_its_words() -> None:
    table, tensors = read_table("english")[0], load((FOLDER / "vectors.safetensors").read_bytes())
    words = bytes(tensors["words"].numpy()).decode().split("\n")
    for number in range(0, len(words), 1000):
        row = table.keys.tolist().index(word_key(words[number]))
        assert torch.equal(table.vectors[row], tensors["vectors"][number])
        assert table.scales[row] == tensors["scales"][number]


def test_a_damaged_table_is_refused() -> None:
    content, keys = ((FOLDER / name).read_bytes() for name in ("vectors.safetensors", KEYS_NAME))
    for wrong in ((content[:-1], keys), (content, keys[:-8]), (content, b"?" + keys[1:])):
        with pytest.raises(ConfigurationError, match="english: the word vectors are damaged"):
            table_from_bytes(*wrong, "english")
