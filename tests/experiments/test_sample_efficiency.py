"""A part of a data set is random, nested, and has the labels of the whole."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import LabelField, MetadataField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from elmo_plugin.training.fraction_reader import FractionReader
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.ner import Conll2003Reader


class Numbers(DatasetReader):
    """Reads the numbers below 100; every tenth has the label "rare" where there are labels."""

    def __init__(self, has_labels: bool = True) -> None:
        super().__init__()
        self.has_labels = has_labels

    def _read(self, file_path: str) -> Iterable[Instance]:
        return map(self.text_to_instance, range(100))

    def text_to_instance(self, number: int) -> Instance:
        fields = {"number": MetadataField(number)}
        if self.has_labels:
            fields["label"] = LabelField("common" if number % 10 else "rare")
        return Instance(fields)


def part(fraction: float, seed: int = 1, has_labels: bool = True) -> list[int]:
    reader = FractionReader(Numbers(has_labels), fraction, seed)
    return [instance["number"].metadata for instance in reader.read("anywhere")]


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.integers(0, 5), st.booleans())
def test_a_smaller_part_is_within_a_larger_one_in_the_same_order(
    one: float, other: float, seed: int, has_labels: bool
) -> None:
    small, large = (part(fraction, seed, has_labels) for fraction in sorted((one, other)))
    assert set(small) <= set(large)
    assert small == sorted(small) and large == sorted(large)


def test_each_label_has_the_same_part() -> None:
    assert Counter(number % 10 == 0 for number in part(0.3)) == {False: 27, True: 3}
    assert Counter(number % 10 == 0 for number in part(0.01)) == {False: 1, True: 1}
    assert len(part(0.3, has_labels=False)) == 30


def test_the_whole_is_the_whole() -> None:
    assert part(1) == list(range(100))


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_read_the_part_once(num_workers: int) -> None:
    loader = MultiProcessDataLoader(
        FractionReader(Numbers(), 0.3), "anywhere", batch_size=1, num_workers=num_workers
    )
    assert sorted(instance["number"].metadata for instance in loader.iter_instances()) == part(0.3)


def test_workers_read_texts() -> None:
    file = Path(__file__).parents[1] / "fixtures" / "ner" / "sentences.txt"
    reader = FractionReader(Conll2003Reader({"tokens": SingleIdTokenIndexer()}), 0.5)
    alone = MultiProcessDataLoader(reader, str(file), batch_size=1)
    workers = MultiProcessDataLoader(reader, str(file), batch_size=1, num_workers=1)
    texts = [
        [[str(token) for token in instance["tokens"]] for instance in loader.iter_instances()]
        for loader in (alone, workers)
    ]
    assert texts[0] == texts[1] != []


def test_another_seed_gives_another_part() -> None:
    assert part(0.3, seed=1) == part(0.3, seed=1) != part(0.3, seed=2)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.1])
def test_what_is_no_part_is_refused(fraction: float) -> None:
    with pytest.raises(ConfigurationError, match="fraction is above 0 and at most 1"):
        FractionReader(Numbers(), fraction)
