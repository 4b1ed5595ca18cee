"""The inputs of each task."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError


class Task(NamedTuple):
    """
    A task by the name of its predictor without "elmo_", its usual name, and the texts that it reads, with the
    lines of their text boxes.
    """

    name: str
    title: str
    fields: dict[str, int]

    def from_texts(self, texts: Sequence[str]) -> dict[str, Any]:
        """Returns the predictor's input. Raises `BiLmError` if there is not one text for each field."""
        if len(texts) != len(self.fields):
            raise BiLmError(f"{self.title}: expected {' and '.join(self.fields)}, got {len(texts)} texts")
        return dict(zip(self.fields, texts, strict=True))


TASKS = {
    task.name: task
    for task in (
        Task("ner", "Named entities", {"sentence": 2}),
        Task("srl", "Semantic roles", {"sentence": 2}),
        Task("srl_predicates", "Predicates", {"sentence": 2}),
        Task("coref", "Coreference", {"document": 6}),
        Task("squad", "Question answering", {"passage": 6, "question": 1}),
        Task("snli", "Inference", {"premise": 2, "hypothesis": 2}),
        Task("sst", "Sentiment", {"sentence": 2}),
    )
}
