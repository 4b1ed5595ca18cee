import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.language_model.chunks import ChunkFiles, CorpusChunk
from elmo_plugin.language_model.corpus import prepare

SPACES = " \t\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000"
WORDS = st.one_of(
    st.sampled_from(["a", "the", "<s>", "@@PADDING@@", "zwölf", "a\ufeff", "\u200b", "x" * 60]),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n\0\ufeff"), min_size=1, max_size=20
    ),
)
LINES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from(SPACES)), max_size=6).map(
        lambda pairs: "".join(word + space for word, space in pairs)
    ),
    max_size=8,
).filter(lambda lines: any(line.split() for line in lines))


def plain(lines: list[str]) -> list[list[str]]:
    """The sentences, read in the plainest way."""
    return [words for line in lines if (words := line.replace("\ufeff", "").split())]


def prepared(lines: list[str], folder: str | Path, chunk_tokens: int = 1000) -> list[ChunkFiles]:
    path = Path(folder) / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    return prepare(str(path), Path(folder) / "corpora", chunk_tokens)


def sentences(chunk: CorpusChunk) -> list[list[str]]:
    words = [chunk.words[number] for number in chunk.types]
    return [words[start:end] for start, end in zip(chunk.starts[:-1], chunk.starts[1:], strict=True)]


@settings(max_examples=60)
@given(lines=LINES, chunk_tokens=st.integers(1, 12))
def test_the_chunks_together_are_the_text(lines: list[str], chunk_tokens: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = prepared(lines, folder, chunk_tokens)
        chunks = [one.open(max_characters=50) for one in files]
        assert [sentence for chunk in chunks for sentence in sentences(chunk)] == plain(lines)
        for one, chunk in zip(files, chunks, strict=True):
            assert (one.tokens, one.sentences) == (len(chunk.types), len(chunk.starts) - 1)
            assert one.tokens <= chunk_tokens or one.sentences == 1
        for one, next_one in zip(files[:-1], chunks[1:], strict=True):
            assert one.tokens + next_one.starts[1] > chunk_tokens  # no chunk ends before it must


@settings(max_examples=60)
@given(lines=LINES, max_characters=st.integers(3, 60))
def test_words_have_the_numbers_counts_and_characters_they_should(
    lines: list[str], max_characters: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chunk = prepared(lines, folder)[0].open(max_characters)
        text = plain(lines)
        bounded = ["<S>", "</S>"] * len(text) + [word for sentence in text for word in sentence]
        assert chunk.words == ["", *dict.fromkeys(bounded)]
        assert chunk.counts.tolist() == [0, *map(bounded.count, chunk.words[1:])]
        assert chunk.character_ids[0].tolist() == [0] * max_characters
        for word, ids in zip(chunk.words[1:], chunk.character_ids[1:], strict=True):
            np.testing.assert_array_equal(ids, word_to_character_ids(word, max_characters))
        assert chunk.hashes[0] == 0 and len(set(chunk.hashes.tolist())) == len(chunk.words)


def test_only_no_word_has_the_number_of_padding(tmp_path: Path) -> None:
    chunk = prepared(["a @@PADDING@@ b @@UNKNOWN@@ c"], tmp_path)[0].open(50)
    numbers = {"@@PADDING@@": 0, "@@UNKNOWN@@": 1, "<S>": 2, "</S>": 3, "a": 4, "b": 5}
    found = chunk.vocabulary_numbers(numbers, unknown=1)
    assert found.dtype == np.int64
    assert dict(zip(chunk.words, found.tolist(), strict=True)) == {
        "": 0, "<S>": 2, "</S>": 3, "a": 4, "@@PADDING@@": 1, "b": 5, "@@UNKNOWN@@": 1, "c": 1
    }  # fmt: skip


def test_missing_cut_and_changed_files_are_named(tmp_path: Path) -> None:
    (chunk,) = prepared(["the cat sat on the mat"] * 5, tmp_path)
    path, folder = chunk.path, chunk.path.parent
    content = path.read_bytes()
    with np.load(path) as arrays:
        ends = [content.index(array.tobytes()) + array.nbytes for array in arrays.values()]
    damaged = [None, b"", content[:8], content[:-1]]
    for place in (place for end in ends for place in range(end - 20, end, 3)):
        damaged.append(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
    for changed in damaged:
        path.unlink()
        if changed is not None:
            path.write_bytes(changed)
        with pytest.raises(BiLmError, match=f"{folder}/0.*gone or damaged .*the folder {folder} "):
            chunk.open(50)
        path.touch()
