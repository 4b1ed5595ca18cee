"""The reader of CoNLL-2003 columns: what it reads, and what it says of files that it cannot."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.ner.dataset_reader import Conll2003Reader

SENTENCES = Path(__file__).parents[2] / "fixtures" / "ner" / "sentences.txt"


def reader(**options: str) -> Conll2003Reader:
    return Conll2003Reader({"tokens": SingleIdTokenIndexer()}, **options)


def words_of(instance: Instance) -> list[str]:
    return [token.text for token in instance["tokens"]]


def write(folder: Path, text: str) -> Path:
    path = folder / "data.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_words_and_tags() -> None:
    first, second, third = reader(tag_encoding="BIO").read(SENTENCES)
    assert words_of(first) == ["Ada", "Lovelace", "met", "Charles", "in", "London", "."]
    assert first["words"].metadata == words_of(first)
    assert first["tags"].labels == ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC", "O"]
    assert words_of(second)[0] == "The"
    assert words_of(third)[-1] == "City"


def test_tags_are_bioul_by_default() -> None:
    first, _, third = reader().read(SENTENCES)
    assert first["tags"].labels == ["B-PER", "L-PER", "O", "U-PER", "O", "U-LOC", "O"]
    assert third["tags"].labels == ["U-LOC", "U-LOC", "O", "B-LOC", "I-LOC", "L-LOC"]


@pytest.mark.parametrize(
    ("tags", "encoding", "message"),
    [
        ("O I-PER B-PER O B-PER", "auto", "line 2: expected tags in BIO, got 'I-PER' .*: 'mixed' reads"),
        ("O U-PER B-PER", "auto", "line 3: expected tags in BIOUL, got 'O' after 'B-PER'; .*: 'mixed'"),
        ("I-PER", "BIO", "line 1: expected tags in BIO, got 'I-PER' after 'O'; .*: 'IOB1' reads"),
        ("U-PER", "BIO", "line 1: expected tags in BIO, got 'U-PER' .*; source_encoding: 'BIOUL' reads"),
        ("B-PER O", "BIOES", "line 2: expected tags in BIOES, got 'O' after 'B-PER'; source_encoding: 'BIO'"),
        ("O NNP", "BIO", "line 2: expected a tag such as O or B-PER, got 'NNP'; source_encoding: 'plain'"),
    ],
)
def test_tags_in_another_encoding_than_chosen_are_an_error_with_the_one_that_reads_them(
    tmp_path: Path, tags: str, encoding: str, message: str
) -> None:
    path = write(tmp_path, "".join(f"word {tag}\n" for tag in tags.split()))
    with pytest.raises(ConfigurationError, match=f"data.txt, {message}"):
        list(reader(source_encoding=encoding).read(path))


@pytest.mark.parametrize("option", ["source_encoding", "tag_encoding"])
def test_an_unknown_encoding_is_an_error_that_names_the_option(option: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{option}: expected one of .*, got 'BILOU'"):
        reader(**{option: "BILOU"})


@pytest.mark.parametrize(("part", "sentences"), [("train", 3394), ("dev", 1009), ("test", 1287)])
def test_reads_real_data_whole(shared: Path, part: str, sentences: int) -> None:
    assert sum(1 for _ in reader().read(shared / "data" / "ner" / f"{part}.txt")) == sentences
