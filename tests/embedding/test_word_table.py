import gzip
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.embedding import word_table
from elmo_plugin.embedding.word_table import (
    WordTable,
    quantize,
    read_table,
    read_text_table,
    stored_keys,
    table_from_bytes,
    word_key,
)

GLOVE = "the 0.5 -1 2\nplay 1 0 0\n. . 3 2 1\n"


def vector(table: WordTable, word: str) -> list[float]:
    row = table.keys.tolist().index(word_key(word))
    return table.vectors[row].tolist()


@pytest.mark.parametrize("header", ["", "3 3\n"], ids=["glove", "word2vec"])
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.vec", "vectors.txt.gz"])
def test_reads_text_with_and_without_a_header_compressed_or_not(
    tmp_path: Path, name: str, header: str
) -> None:
    content = (header + GLOVE).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    table = read_text_table(str(tmp_path / name))
    assert vector(table, "the") == [0.5, -1, 2]
    assert vector(table, ". .") == [3, 2, 1]
    assert table.vectors.dtype == torch.float32


def test_spaces_at_the_end_of_a_line_are_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "fasttext.vec").write_text("2 2\nthe 1 2 \nplay 3 4 \n")
    assert vector(read_text_table(str(tmp_path / "fasttext.vec")), "play") == [3, 4]


def test_first_of_two_vectors_of_a_word_counts(tmp_path: Path) -> None:
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
def test_other_content_is_refused_by_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.txt").write_text(content)
    with pytest.raises(ConfigurationError, match=message) as error:
        read_text_table(str(tmp_path / "bad.txt"))
    assert "bad.txt" in str(error.value)


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing\.txt"):
        read_text_table(str(tmp_path / "missing.txt"))


@given(st.lists(st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3), min_size=1, max_size=9))
def test_8_bit_vectors_are_within_half_a_step(rows: list[list[float]]) -> None:
    words = [f"word{number}" for number in range(len(rows))]
    table = table_from_bytes(quantize(words, torch.tensor(rows)), "test")
    for word, row in zip(words, rows, strict=True):
        place = table.keys.tolist().index(word_key(word))
        step = max(map(abs, row)) / 127
        read = table.vectors[place].double() * table.scales[place].double()
        assert (read - torch.tensor(row).double()).abs().max() <= step * 0.5001 + 1e-9


def test_damaged_table_is_refused() -> None:
    content = quantize(["the", "play"], torch.eye(2))
    with pytest.raises(ConfigurationError, match="damaged"):
        table_from_bytes(content[:-1], "english")


@given(st.text(), st.text())
def test_keys_are_those_of_words_alone(first: str, second: str) -> None:
    assert (word_key(first) == word_key(second)) == (first == second)
    assert -(2**63) <= word_key(first) < 2**63 and word_key(first) != 0


def test_the_bundled_table_has_the_keys_of_its_words_and_hashes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    content = (word_table.BUNDLED / "words" / "english" / "vectors.safetensors").read_bytes()
    hashed = table_from_bytes(content, "english")
    monkeypatch.delattr(word_table, "word_key")
    for found, expected in zip(read_table("english")[0], hashed, strict=True):
        assert torch.equal(found, expected)


def test_keys_of_other_content_and_cut_ones_are_not_used() -> None:
    words, content, other = ["the", "play"], quantize(["the", "play"], torch.eye(2)), torch.ones(2, 2)
    for stored in [stored_keys(["a", "b"], quantize(["a", "b"], other)), stored_keys(words, content)[:-8]]:
        assert table_from_bytes(content, "test", stored).keys.tolist() == sorted(map(word_key, words))
