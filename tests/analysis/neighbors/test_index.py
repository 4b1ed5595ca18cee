"""An index has the vectors of all words of a corpus, and their sentences."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_plugin.analysis.neighbors import CorpusIndex, open_index, unit_length
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.files import write_json

SENTENCES = [["They", "saw", "a", "play", "."], ["naïve"], ["He", "made", "a", "good", "play"]]


@pytest.fixture(scope="module")
def bilm() -> BiLm:
    return BiLm.from_pretrained("tiny")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "corpus.txt").write_text("They saw  a play .\n\n \nnaïve\r\nHe made a\tgood play")
    return str(tmp_path / "corpus.txt")


def test_each_word_has_its_vector_and_its_sentence(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    index = open_index(tmp_path / "index", bilm, corpus, layer=1)
    occurrences = [index.occurrence(row) for row in range(len(index.vectors))]
    assert occurrences == [(words, position) for words in SENTENCES for position in range(len(words))]
    expected = torch.cat([unit_length(bilm.embed([words])[0][1]) for words in SENTENCES])
    torch.testing.assert_close(torch.from_numpy(np.array(index.vectors)).float(), expected, atol=2e-4, rtol=0)
    assert index.description["words"] == 11 and index.description["sentences"] == 3


@pytest.mark.parametrize("rows", [1, 4, 11, 12])
def test_blocks_are_its_vectors(tmp_path: Path, bilm: BiLm, corpus: str, rows: int) -> None:
    index = open_index(tmp_path / "index", bilm, corpus, layer=1)
    blocks = list(index.blocks(rows))
    assert [len(block) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    np.testing.assert_array_equal(np.concatenate(blocks), index.vectors)


def test_it_is_made_once(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    first = open_index(tmp_path / "index", bilm, corpus, layer=1)
    made = (first.folder / "vectors.npy").stat().st_mtime_ns
    assert open_index(tmp_path / "index", bilm, corpus, layer=1).folder == first.folder
    assert (first.folder / "vectors.npy").stat().st_mtime_ns == made


def test_what_a_killed_process_has_left_goes(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    place = open_index(tmp_path / "index", bilm, corpus, layer=1).folder
    leftover = place.with_name(f".{place.name}.a1b2c3") / place.name
    leftover.parent.mkdir()
    place.rename(leftover)
    assert open_index(tmp_path / "index", bilm, corpus, layer=1).folder == place
    assert [path.name for path in place.parent.iterdir() if path.is_dir()] == [place.name]


def test_another_corpus_or_layer_has_another(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    folders = {open_index(tmp_path / "index", bilm, corpus, layer).folder for layer in (1, 2)}
    Path(corpus).write_text("They saw a play .\n")
    folders.add(open_index(tmp_path / "index", bilm, corpus, layer=1).folder)
    assert len(folders) == 3


def test_a_compressed_corpus_has_the_same_vectors(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    with gzip.open(f"{corpus}.gz", "wb") as file:
        file.write(Path(corpus).read_bytes())
    plain, packed = (open_index(tmp_path / "index", bilm, each, 1) for each in (corpus, f"{corpus}.gz"))
    np.testing.assert_array_equal(plain.vectors, packed.vectors)


def test_a_corpus_without_words_leaves_nothing(tmp_path: Path, bilm: BiLm) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(BiLmError, match=r"empty.txt: there is no word"):
        open_index(tmp_path / "index", bilm, str(tmp_path / "empty.txt"), 1)
    assert list((tmp_path / "index").iterdir()) == []


@pytest.mark.parametrize("name", ["index.json", "vectors.npy", "starts.npy", "sentences.txt"])
def test_a_damaged_index_is_named(tmp_path: Path, bilm: BiLm, corpus: str, name: str) -> None:
    folder = open_index(tmp_path / "index", bilm, corpus, 1).folder
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(BiLmError, match=rf"index .*{folder.name}: .*delete it"):
        CorpusIndex(folder)


@pytest.mark.parametrize("name", ["index.json", "starts.npy", "sentences.txt"])
def test_a_flipped_bit_is_named(tmp_path: Path, bilm: BiLm, corpus: str, name: str) -> None:
    folder = open_index(tmp_path / "index", bilm, corpus, 1).folder
    content = bytearray((folder / name).read_bytes())
    content[-6] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(BiLmError, match=rf"index .*{folder.name}: .*delete it"):
        CorpusIndex(folder)


def test_an_index_of_another_version_is_named(tmp_path: Path, bilm: BiLm, corpus: str) -> None:
    folder = open_index(tmp_path / "index", bilm, corpus, 1).folder
    write_json(folder / "index.json", {**json.loads((folder / "index.json").read_text()), "version": 2})
    with pytest.raises(BiLmError, match=rf"{folder.name}: has format version 2, not 1; delete it"):
        CorpusIndex(folder)
