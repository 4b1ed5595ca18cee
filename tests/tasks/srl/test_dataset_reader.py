"""The readers of PropBank annotation: an instance for each predicate, or for each sentence."""

import gzip
import logging
import shutil
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.labels import UNKNOWN_LABEL
from elmo_plugin.tasks.srl import SrlPredicatesReader, SrlReader

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl" / "sentences.gold_conll"
INDEXERS = {"tokens": SingleIdTokenIndexer()}


def predicates_of(instances: list[Instance]) -> list[str]:
    return [instance["lemma"].metadata for instance in instances]


def test_each_predicate_is_an_instance_with_bio_tags() -> None:
    instances = list(SrlReader(INDEXERS).read(FIXTURE))
    assert predicates_of(instances) == ["order", "bark", "scare", "say", "be", "decision"]
    order, bark, scare, say, *_ = instances
    assert order["words"].metadata == ["The", "judge", "ordered", "a", "new", "trial", "."]
    assert order["predicate"].sequence_index == 2
    assert order["tags"].labels == ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1", "I-ARG1", "O"]
    assert bark["tags"].labels[:4] == ["B-ARG0", "B-R-ARG0", "B-V", "O"]
    assert scare["words"].metadata == bark["words"].metadata
    assert say["tags"].labels == [
        "B-ARG1",
        "I-ARG1",
        "O",
        "B-ARG0",
        "B-V",
        "O",
        "B-C-ARG1",
        "I-C-ARG1",
        "I-C-ARG1",
    ]
    assert say["predicate"].sequence_index == 4 and say["lemma"].metadata == "say"
    assert say["gold_tags"].metadata == say["tags"].labels


def test_predicates_other_than_verbs_may_be_left_out() -> None:
    verbs = SrlReader(INDEXERS, verbs_only=True).read(FIXTURE)
    assert predicates_of(list(verbs)) == ["order", "bark", "scare", "say"]


def test_each_sentence_is_an_instance_labelled_with_its_predicates() -> None:
    instances = list(SrlPredicatesReader(INDEXERS).read(FIXTURE))
    assert [sum(instance["tags"].labels) for instance in instances] == [1, 0, 2, 3]
    assert instances[2]["tags"].labels == [0, 0, 1, 1, 0, 0, 0, 0, 0]
    assert [
        sum(i["tags"].labels) for i in SrlPredicatesReader(INDEXERS, verbs_only=True).read(FIXTURE)
    ] == [
        1,
        0,
        2,
        1,
    ]


def test_a_folder_is_searched_recursively_and_its_files_without_predicates_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "news").mkdir()
    shutil.copy(FIXTURE, tmp_path / "news" / "a.v4_gold_conll")
    (tmp_path / "b.gold_conll.gz").write_bytes(gzip.compress(FIXTURE.read_bytes()))
    (tmp_path / "c.gold_conll").write_text("doc 0 0 Yes UH * - - - - * -\n")
    (tmp_path / "notes.txt").write_text("no data")
    with caplog.at_level(logging.INFO):
        instances = list(SrlReader(INDEXERS).read(tmp_path))
    assert predicates_of(instances) == 2 * ["order", "bark", "scare", "say", "be", "decision"]
    assert "1 of 3 files have no predicate" in caplog.text and "c.gold_conll" in caplog.text


def test_a_folder_or_file_without_any_predicate_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"no \*gold_conll or .* .plain, .gz or .zst. in this folder"
    ):
        list(SrlReader(INDEXERS).read(tmp_path))
    path = tmp_path / "a.gold_conll"
    path.write_text("doc 0 0 Yes UH * - - - - * -\n")
    with pytest.raises(ConfigurationError, match=r"a\.gold_conll: no predicates in this file"):
        list(SrlReader(INDEXERS).read(path))
    with pytest.raises(ConfigurationError, match="no predicates in this folder"):
        list(SrlReader(INDEXERS).read(tmp_path))
    assert len(list(SrlPredicatesReader(INDEXERS).read(path))) == 1


@pytest.mark.parametrize("predicate", [-1, 2])
def test_a_predicate_outside_the_sentence_is_an_error(predicate: int) -> None:
    with pytest.raises(
        ConfigurationError, match=f"the predicate {predicate} is not a word of a sentence of"
    ):
        SrlReader(INDEXERS).text_to_instance([Token("He"), Token("ran")], predicate)


def test_tags_missing_from_the_vocabulary_are_unknown() -> None:
    order, *_, say, _, _ = SrlReader(INDEXERS).read(FIXTURE)
    say.index_fields(Vocabulary.from_instances([order]))
    indices = say["tags"].as_tensor({"num_tokens": 9})
    assert [
        tag
        for tag, index in zip(say["tags"].labels, indices, strict=True)
        if index == UNKNOWN_LABEL
    ] == [
        "B-C-ARG1",
        "I-C-ARG1",
        "I-C-ARG1",
    ]


@pytest.mark.slow
def test_the_real_data_are_read(shared: Path) -> None:
    dev = shared / "data" / "srl" / "dev"
    assert len(list(SrlReader(INDEXERS).read(dev))) == 4953
    assert len(list(SrlPredicatesReader(INDEXERS).read(dev))) == 1960
