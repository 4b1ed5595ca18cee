"""The biattentive classification network keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, TaskContract


class TestSst(TaskContract):
    task = "sst(data='', words=words.learned(dim=5, min_count=1), hidden=8, dropout=0)"
    data = FIXTURES / "sst" / "trees.txt"
    inputs: ClassVar = [{"sentence": "It isn't at all funny."}, {"words": ["Superb"]}]
