"""Batches of questions by paragraph."""

import random
from itertools import chain, groupby

import pytest
from allennlp.common import Params
from allennlp.data import Instance
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.samplers import BatchSampler
from allennlp.data.tokenizers import Token

from elmo_plugin.tasks.squad import Question, TokenizedParagraph

BATCH_SIZE = 4


@pytest.fixture
def instances() -> list[Instance]:
    """Nine paragraphs of nearly the same length, with three questions each, in a random order."""
    random.seed(0)
    tokens = {f"p{number}": [Token("word")] * (20 + number) for number in range(9)}
    found = [
        Instance(
            {
                "paragraph": TextField(words),
                "question": TextField([Token("who")]),
                "metadata": MetadataField(
                    {"paragraph": TokenizedParagraph(name, words, []), "question": Question("", "who", [])}
                ),
            }
        )
        for name, words in tokens.items()
        for _ in range(3)
    ]
    random.shuffle(found)
    return found


def batches_of(instances: list[Instance], **options: bool) -> list[list[int]]:
    params = {"type": "bucket_by_paragraph", "batch_size": BATCH_SIZE, "sorting_keys": ["paragraph"]}
    return list(BatchSampler.from_params(Params(params | options)).get_batch_indices(instances))


def paragraph(instance: Instance) -> str:
    metadata = instance["metadata"]
    assert isinstance(metadata, MetadataField)
    return metadata["paragraph"].text


def test_questions_about_a_paragraph_are_together(instances: list[Instance]) -> None:
    for batch in batches_of(instances):
        runs = [name for name, _ in groupby(paragraph(instances[index]) for index in batch)]
        assert len(runs) == len(set(runs)) <= 3  # of four questions: at most a part, a whole and a part


def test_each_question_is_in_one_batch_and_without_noise_the_shortest_come_first(
    instances: list[Instance],
) -> None:
    assert sorted(chain(*batches_of(instances))) == list(range(len(instances)))
    ordered = list(chain(*batches_of(instances, shuffle=False)))
    assert [paragraph(instances[index]) for index in ordered] == [f"p{n}" for n in range(9) for _ in range(3)]


def test_batches_differ_from_epoch_to_epoch(instances: list[Instance]) -> None:
    one, other = ({frozenset(batch) for batch in batches_of(instances)} for _ in range(2))
    assert one != other
