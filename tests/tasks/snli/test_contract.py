"""ESIM keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, TaskContract


class TestSnli(TaskContract):
    task = "snli(data='', words=words.learned(dim=5, min_count=1), hidden=8, dropout=0, l2=0)"
    data = FIXTURES / "snli" / "pairs.jsonl"
    inputs: ClassVar = [
        {"premise": "A dog doesn't run.", "hypothesis": "An animal is running."},
        {"premise": "Rain.", "hypothesis": "It is raining, as it does every day."},
    ]
