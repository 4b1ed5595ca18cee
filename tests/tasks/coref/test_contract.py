"""The coreference model keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, TaskContract


class TestCoref(TaskContract):
    task = (
        "coref(data='', words=words.learned(dim=5, min_count=1), lexical_dropout=0, dropout=0, hidden=6, "
        "characters={ dim: 3, num_filters: 2, widths: [2, 3] }, feedforward=7, feature_dim=3, "
        "spans_per_word=3)"
    )
    data = FIXTURES / "coref" / "documents.gold_conll"
    answers = ("clusters",)
    inputs: ClassVar = [
        {"document": "Anna met her brother. He waved."},
        {
            "sentences": [["I", "like", "dogs"], ["You", "?"]],
            "speakers": [["a"] * 3, ["b"] * 2],
            "genre": "bc",
        },
    ]
