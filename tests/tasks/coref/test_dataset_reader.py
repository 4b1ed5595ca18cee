"""Documents as instances: their genre, their clusters, and what is refused."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.coref import CorefReader
from elmo_plugin.tasks.coref.dataset_reader import GENRES
from elmo_plugin.tasks.spans import Span

FIXTURE = Path(__file__).parents[2] / "fixtures" / "coref" / "documents.gold_conll"
INDEXERS = {"tokens": SingleIdTokenIndexer()}


def test_each_document_is_an_instance_of_sentences_and_clusters() -> None:
    first, second, third = CorefReader(INDEXERS).read(FIXTURE)
    assert [[token.text for token in field] for field in first["sentences"]] == [
        ["Anna", "met", "her", "brother", "."], ["He", "waved", "."], ["She", "laughed", "."],
    ]  # fmt: skip
    assert first["clusters"].metadata == [
        [Span(0, 1), Span(2, 3), Span(8, 9)], [Span(2, 4), Span(5, 6)],
    ]  # fmt: skip
    assert second["document"].metadata.speakers == [["Tom"] * 3, ["Eve"] * 4]
    assert third["clusters"].metadata == []


def test_the_genre_comes_from_the_name() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    assert [instance["genre"].label for instance in instances] == ["nw", "bc", "bc"]
    by_pattern = CorefReader(INDEXERS, genre_pattern="/(t)").read(FIXTURE)
    assert [instance["genre"].label for instance in by_pattern] == ["", "t", "t"]


def test_a_genre_that_is_unknown_has_an_index_of_its_own() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    vocab = Vocabulary.from_instances(instances[1:])
    assert vocab.get_token_to_index_vocabulary(GENRES) == {"bc": 0}
    for instance in instances:
        instance.index_fields(vocab)
    assert [int(instance["genre"].as_tensor({})) for instance in instances] == [1, 0, 0]


@pytest.mark.parametrize("pattern", ["gum/", "("])
def test_a_pattern_without_a_group_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="genre_pattern"):
        CorefReader(INDEXERS, genre_pattern=pattern)
