import tempfile
from itertools import chain, combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.common.formats.not_sentences import kind_of_data
from elmo_plugin.language_model.chunks import ChunkFile, IndexedCorpus
from elmo_plugin.language_model.corpus import prepare_shard
from tests.conftest import at_most

SPACES = " \t\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000"
WORDS = st.one_of(
    st.sampled_from(["a", "the", "<s>", "@@PADDING@@", "zwölf", "a\ufeff", "\u200b", "x" * 60]),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n\0\ufeff"),
        min_size=1,
        max_size=20,
    ),
)
LINES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from(SPACES)), max_size=6).map(
        lambda pairs: "".join(word + space for word, space in pairs)
    ),
    max_size=8,
).filter(
    lambda lines: (
        any(map(str.split, lines))
        and not all("\t" in line for line in lines if line.split())
        # A text of the one line "[", for example, is refused as JSON.
        and not kind_of_data([line.strip("\r\n") for line in lines])
    )
)


def prepared(lines: list[str], folder: str | Path, chunk_tokens: int = 1000) -> list[ChunkFile]:
    path = Path(folder) / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    return prepare_shard(str(path), Path(folder) / "corpora", chunk_tokens)


@at_most(60)
@given(lines=LINES, chunk_tokens=st.integers(1, 12), max_characters=st.integers(3, 60))
def test_the_chunks_together_give_the_text_and_its_words(
    lines: list[str], chunk_tokens: int, max_characters: int
) -> None:
    text = [words for line in lines if (words := line.replace("\ufeff", "").split())]
    numbers = {"@@PADDING@@": 0, "@@UNKNOWN@@": 1, "<S>": 2, "</S>": 3, "a": 4, "the": 5}
    with tempfile.TemporaryDirectory() as folder:
        files = prepared(lines, folder, chunk_tokens)
        corpus = IndexedCorpus(files, numbers, 1, max_characters)
        read = [corpus.open(number) for number in range(len(files))]
    same_word = [
        (corpus.hashes[one] == corpus.hashes[other])
        == np.array_equal(corpus.character_ids[one], corpus.character_ids[other])
        for one, other in combinations(range(len(corpus.words)), 2)
    ]
    assert all(same_word), "words have the same hash if they have the same character ids"
    spelled = [
        [corpus.words[word] for word in types[start:end]]
        for types, starts in read
        for start, end in pairwise(starts)
    ]
    assert spelled == text
    for one, (types, starts) in zip(files, read, strict=True):
        assert (one.tokens, one.sentences) == (len(types), len(starts) - 1)
        assert one.tokens <= chunk_tokens or one.sentences == 1
    for one, (_, starts) in zip(files[:-1], read[1:], strict=True):
        assert one.tokens + starts[1] > chunk_tokens  # no chunk ends before it must
    assert corpus.words == ["", "<S>", "</S>", *dict.fromkeys(chain.from_iterable(text))]
    assert corpus.vocabulary_numbers.tolist() == [
        0,
        *(numbers.get(word, 1) or 1 for word in corpus.words[1:]),
    ]
    assert not corpus.character_ids[0].any()
    for word, ids in zip(corpus.words[1:], corpus.character_ids[1:], strict=True):
        np.testing.assert_array_equal(ids, word_to_character_ids(word, max_characters))
    assert corpus.hashes[0] == 0 and corpus.hashes[1:].all()


def test_missing_truncated_and_changed_files_are_named(tmp_path: Path) -> None:
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
            chunk.open()
        path.touch()
