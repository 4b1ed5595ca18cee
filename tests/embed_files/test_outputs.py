"""All formats have the vectors of all chunks, and report a full disk."""

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from elmo_plugin.embed_files import OUTPUT_FORMATS, EmbedSettings, sentence_key
from elmo_plugin.embed_files.chunks import Chunk, Record, chunk_path, write_chunk
from elmo_plugin.embed_files.outputs import Content

DIM = 4
DEFAULTS = EmbedSettings("")


class Part(NamedTuple):
    """The sentences of a chunk with their words, and vectors of shape (num_layers, words, dim)."""

    sentences: list[str]
    words: list[list[str]]
    vectors: list[np.ndarray]


def make_part(seed: int, sentences: list[str], num_layers: int = 3) -> Part:
    random = np.random.default_rng(seed)
    words = [sentence.split() for sentence in sentences]
    vectors = [random.random((num_layers, len(each), DIM), dtype=np.float32) for each in words]
    return Part(sentences, words, vectors)


def write_parts(folder: Path, parts: list[Part]) -> list[Path]:
    for number, part in enumerate(parts):
        rows = np.concatenate([np.moveaxis(vectors, -2, 0) for vectors in part.vectors])
        records = [Record(sentence, "", 0) for sentence in part.sentences]
        write_chunk(folder, Chunk(number, records), part.words, rows)
    return [chunk_path(folder, number) for number in range(len(parts))]


def write(name: str, path: Path, chunks: list[Path], settings: EmbedSettings) -> None:
    OUTPUT_FORMATS[name].write(path, Content(chunks, settings, (3, DIM), {"text": "all"}))


def joined(name: str, parts: list[Part], folder: Path, settings: EmbedSettings = DEFAULTS) -> Path:
    write(name, folder / "joined", write_parts(folder, parts), settings)
    return folder / "joined"


def content(path: Path) -> dict[str, Any]:
    """All datasets of an HDF5 file."""
    with h5py.File(path) as file:
        return {key: file[key][()] for key in file}


def test_hdf5_stores_a_dataset_per_line_and_the_last_line_of_each_sentence(
    tmp_path: Path,
) -> None:
    parts = [
        make_part(0, ["a b", "", 'ü \0 "']),
        make_part(3, ["a b", "\\ 語"]),
        make_part(5, [""]),
    ]
    datasets = content(joined("hdf5", parts, tmp_path))
    index = datasets.pop("sentence_to_index")
    assert index.shape == (1,)
    assert json.loads(index[0]) == {"a b": "3", "": "5", 'ü \0 "': "2", "\\ 語": "4"}
    vectors = [array for part in parts for array in part.vectors]
    assert datasets.keys() == {str(line) for line in range(6)}
    for line, expected in enumerate(vectors):
        assert datasets[str(line)].dtype == np.float32
        np.testing.assert_array_equal(datasets[str(line)], expected)


def test_hdf5_keyed_by_sentence_stores_each_sentence_once_and_no_blank_lines(
    tmp_path: Path,
) -> None:
    parts = [
        make_part(0, ["a / b", "", ".", "a / b"]),
        make_part(4, ["a / b", "sentence_to_index", "\\s"]),
    ]
    datasets = content(joined("hdf5", parts, tmp_path, EmbedSettings("", keys="sentence")))
    assert datasets.keys() == {r"a \s b", r"\.", "sentence_to_index", r"\\s"}
    np.testing.assert_array_equal(datasets[sentence_key("a / b")], parts[0].vectors[0])


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_different_sentences_have_different_keys_without_a_slash(one: str, other: str) -> None:
    assert (sentence_key(one) == sentence_key(other)) == (one == other)
    assert not {"/", "\0"} & set(sentence_key(one)) and sentence_key(one) != "."


def test_gzip_compresses_hdf5_and_changes_no_number(tmp_path: Path) -> None:
    part = Part(
        ["a b " * 500, ""], [["a", "b"] * 500, []], [np.ones((3, 1000, DIM)), np.ones((3, 0, DIM))]
    )
    (tmp_path / "plain").mkdir()
    (tmp_path / "compressed").mkdir()
    plain = joined("hdf5", [part], tmp_path / "plain")
    compressed = joined("hdf5", [part], tmp_path / "compressed", EmbedSettings("", gzip=9))
    assert compressed.stat().st_size < plain.stat().st_size / 4
    np.testing.assert_equal(content(compressed), content(plain))
    with h5py.File(compressed) as file:
        assert (file["0"].compression, file["0"].compression_opts, file["1"].compression) == (
            "gzip",
            9,
            None,
        )


@pytest.fixture
def halves() -> list[Part]:
    """Of float16."""
    parts = [make_part(0, ['a , "b"', "", "ü  c"]), make_part(3, [""]), make_part(4, ["d/e f"])]
    for part in parts:
        part.vectors[:] = [vectors.astype("float16") for vectors in part.vectors]
    return parts


def lines_of(parts: list[Part]) -> list[tuple[list[str], np.ndarray]]:
    return [line for part in parts for line in zip(part.words, part.vectors, strict=True)]


def test_safetensors_stores_the_rows_of_all_sentences_and_their_offsets(
    halves: list[Part], tmp_path: Path
) -> None:
    tensors = load_file(joined("safetensors", halves, tmp_path, EmbedSettings("", dtype="float16")))
    assert tensors.keys() == {"vectors", "starts", "text", "text_starts"}
    assert tensors["vectors"].dtype == np.float16
    text, lines = bytes(tensors["text"]), lines_of(halves)
    for line, (words, expected) in enumerate(lines):
        start, end = tensors["starts"][line : line + 2]
        np.testing.assert_array_equal(tensors["vectors"][start:end].swapaxes(0, 1), expected)
        start, end = tensors["text_starts"][line : line + 2]
        assert text[start:end].decode().split() == words
    assert len(tensors["starts"]) == len(tensors["text_starts"]) == len(lines) + 1


def test_npz_stores_an_array_per_line(halves: list[Part], tmp_path: Path) -> None:
    with np.load(joined("npz", halves, tmp_path)) as arrays:
        for line, (_, expected) in enumerate(lines_of(halves)):
            np.testing.assert_array_equal(arrays[str(line)], expected)
        assert arrays.files == list("01234")


def test_csv_stores_a_row_per_word_with_all_digits(halves: list[Part], tmp_path: Path) -> None:
    with open(joined("csv", halves, tmp_path), encoding="utf-8", newline="") as file:
        head, *table = csv.reader(file)
    assert head[:5] == ["sentence", "position", "word", "0_0", "0_1"] and len(head) == 3 + 3 * DIM
    for line, (words, expected) in enumerate(lines_of(halves)):
        rows = [row for row in table if row[0] == str(line)]
        assert [row[1:3] for row in rows] == [[str(n), word] for n, word in enumerate(words)]
        values = np.array([row[3:] for row in rows]).astype("float16").reshape(len(rows), 3, DIM)
        np.testing.assert_array_equal(values.swapaxes(0, 1), expected)


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_no_chunks_give_an_empty_file(name: str, tmp_path: Path) -> None:
    path = joined(name, [], tmp_path)
    if name == "npz":
        with np.load(path) as arrays:
            assert arrays.files == []
    elif name == "csv":
        assert len(path.read_text().splitlines()) == 1
    elif name == "hdf5":
        assert json.loads(content(path)["sentence_to_index"][0]) == {}
    else:
        tensors = load_file(path)
        assert tensors["vectors"].shape == (0, 3, DIM) and tensors["starts"].tolist() == [0]


@pytest.mark.parametrize("name", sorted(OUTPUT_FORMATS.keys() - {"csv"}))
def test_the_description_is_read_back_except_from_a_damaged_file(name: str, tmp_path: Path) -> None:
    path = joined(name, [make_part(0, ["a"])], tmp_path)
    assert OUTPUT_FORMATS[name].read_description(path) == {"text": "all"}
    path.write_bytes(path.read_bytes()[:20])
    assert OUTPUT_FORMATS[name].read_description(path) is None
    path.write_bytes(b"")
    assert OUTPUT_FORMATS[name].read_description(path) is None


def test_sentences_may_be_left_out_of_the_output(tmp_path: Path) -> None:
    settings = EmbedSettings("", keep_sentences=False)
    parts = [make_part(0, ["a", ""])]
    assert content(joined("hdf5", parts, tmp_path, settings)).keys() == {"0", "1"}
    assert "\n0,0,,0." in joined("csv", parts, tmp_path, settings).read_text()
    assert load_file(joined("safetensors", parts, tmp_path, settings)).keys() == {
        "vectors",
        "starts",
    }
