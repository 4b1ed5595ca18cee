"""The tagger keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, OnceContract


class TestNer(OnceContract):
    task = "ner(data='', words=words.learned(dim=5, min_count=1), dropout=0)"
    data = FIXTURES / "ner" / "sentences.txt"
    inputs: ClassVar = [{"sentence": "Ada lives in London."}, {"words": ["Rome"]}]
