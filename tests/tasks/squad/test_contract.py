"""The question answering model keeps to the contract of all tasks."""

from typing import ClassVar

from tests.tasks.contract import FIXTURES, TaskContract


class TestSquad(TaskContract):
    task = (
        "squad(data='', words=words.learned(dim=5, min_count=1), dropout=0, hidden=4, moving_average=null, "
        "characters={ dim: 3, num_filters: 2, widths: [2] })"
    )
    data = FIXTURES / "squad" / "articles.json"
    answers = ("answers",)
    inputs: ClassVar = [
        {"passage": "Ansel was founded in 1887.", "question": "When was it founded?"},
        {"context": "Mira", "question": "Who?", "id": "7"},
    ]
