"""The role labeller keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, TaskContract


class TestSrl(TaskContract):
    task = (
        "srl(data='', words=words.learned(dim=5, min_count=1), dropout=0, num_layers=3, hidden=6, "
        "predicate_dim=4)"
    )
    data = FIXTURES / "srl" / "sentences.gold_conll"
    inputs: ClassVar = [
        {"sentence": "Dogs scare cats.", "predicates": [1]},
        {"words": ["She", "said", "it", "is"], "predicates": [3, 1]},
    ]
