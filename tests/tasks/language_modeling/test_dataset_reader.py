import gzip
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary

from elmo_plugin.tasks.language_modeling import BiLmTextReader


@pytest.fixture
def reader() -> BiLmTextReader:
    made = DatasetReader.by_name("bilm_text")()
    assert isinstance(made, BiLmTextReader)
    return made


def test_shards_are_read_in_order_gzipped_or_not(reader: BiLmTextReader, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("a second one .\n", encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("Schöne  Wörter\n\n  \nund mehr\n".encode()))
    shards = reader.shards(str(tmp_path / "*"))
    assert [list(reader.sentences(shard)) for shard in shards] == [
        [["Schöne", "Wörter"], ["und", "mehr"]],
        [["a", "second", "one", "."]],
    ]


def test_the_vocabulary_has_words_and_boundaries_by_frequency(reader: BiLmTextReader, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("b a\na\n")
    vocab = Vocabulary.from_instances(reader.read(str(path)))
    tokens = [vocab.get_token_from_index(i, "words") for i in range(vocab.get_vocab_size("words"))]
    assert tokens[:2] == ["@@PADDING@@", "@@UNKNOWN@@"]
    assert set(tokens[2:5]) == {"a", "<S>", "</S>"} and tokens[5:] == ["b"]


def test_a_pattern_that_matches_nothing_is_named(reader: BiLmTextReader, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file matches the data path .*train-\*\.gz"):
        reader.shards(str(tmp_path / "train-*.gz"))


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_a_file_without_a_sentence_is_named(reader: BiLmTextReader, tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=f"{path} has no sentence in it"):
        list(reader.sentences(str(path)))


def test_text_that_is_not_utf8_is_named_with_its_line(reader: BiLmTextReader, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("good\nschöne\n".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=f"{path}, line 2: not UTF-8 text"):
        list(reader.sentences(str(path)))


def test_a_truncated_gzip_file_is_named(reader: BiLmTextReader, tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"some words\n" * 1000)[:-20])
    with pytest.raises(ConfigurationError, match=f"{path}: not a whole gzip file"):
        list(reader.sentences(str(path)))


def test_a_plain_file_with_the_name_of_a_gzip_file_is_named(reader: BiLmTextReader, tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_text("some words\n")
    with pytest.raises(ConfigurationError, match=f"{path}: not a whole gzip file"):
        list(reader.sentences(str(path)))
