import gzip
from pathlib import Path

import numpy as np
import pytest
import zstandard

from elmo_plugin.bilm import BiLmError
from elmo_plugin.language_model.corpus import corpus, shards
from elmo_plugin.language_model.corpus.corpus import prepare_corpus

TEXTS = ["a b a\nwhy ?\n", "c b\n", "a\nb\nc d e\n"]


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    return [str(tmp_path / f"{number}.txt") for number in range(len(TEXTS))]


@pytest.mark.parametrize("num_processes", [1, 2])
def test_a_corpus_has_the_chunks_of_its_shards_in_order(
    texts: list[str], tmp_path: Path, num_processes: int
) -> None:
    made = prepare_corpus(texts, tmp_path / "cache", num_processes, chunk_tokens=3)
    assert (made.tokens, made.sentences) == (12, 6)
    assert [(chunk.tokens, chunk.sentences) for chunk in made.chunks] == [
        (3, 1),
        (2, 1),
        (2, 1),
        (2, 2),
        (3, 1),
    ]
    assert [chunk.open(50).words[3:] for chunk in made.chunks] == [
        ["a", "b"], ["why", "?"], ["c", "b"], ["a", "b"], ["c", "d", "e"]
    ]  # fmt: skip


def test_the_fingerprint_tells_contents_and_order_apart(texts: list[str], tmp_path: Path) -> None:
    made = prepare_corpus(texts, tmp_path / "cache").fingerprint
    assert prepare_corpus(texts, tmp_path / "another").fingerprint == made
    assert prepare_corpus(texts[::-1], tmp_path / "cache").fingerprint != made
    Path(texts[1]).write_text("c  b\n")
    assert prepare_corpus(texts, tmp_path / "cache").fingerprint != made


def test_plain_and_compressed_text_gives_equal_chunks(tmp_path: Path) -> None:
    text = "".join(TEXTS).encode()
    contents = {"text": text, "text.gz": gzip.compress(text), "text.zst": zstandard.compress(text)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    made = prepare_corpus([str(tmp_path / name) for name in contents], tmp_path / "cache")
    plain, *others = (chunk.open(50) for chunk in made.chunks)
    for other in others:
        for name in ("types", "starts", "counts", "hashes", "text"):
            np.testing.assert_array_equal(getattr(other, name), getattr(plain, name))


def test_what_is_prepared_is_only_opened(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prepare_corpus(texts, tmp_path / "cache")
    monkeypatch.setattr(shards, "write_corpus_chunk", lambda *args: pytest.fail("text is tokenized again"))
    monkeypatch.setattr(corpus, "progress_bar", lambda **_: pytest.fail("there is no work to show"))
    assert prepare_corpus(texts, tmp_path / "cache") == made


def test_it_is_kept_in_the_cache_that_the_environment_names(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELMO_PLUGIN_CACHE", str(tmp_path / "named"))
    (chunk,) = prepare_corpus(texts[:1]).chunks
    assert chunk.path.is_relative_to(tmp_path / "named" / "corpora")


@pytest.mark.parametrize("num_processes", [1, 2])
def test_a_bad_shard_among_good_ones_is_named(texts: list[str], tmp_path: Path, num_processes: int) -> None:
    Path(texts[1]).write_text("\n")
    with pytest.raises(BiLmError, match=f"{texts[1]} has no sentence in it"):
        prepare_corpus(texts, tmp_path / "cache", num_processes)
