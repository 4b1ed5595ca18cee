"""The inputs of each task."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError, as_words

logger = logging.getLogger(__name__)


class Task(NamedTuple):
    """
    A task by the name of its predictor without "elmo_", its usual name, and the texts that it reads, with the
    lines of their text boxes.
    """

    name: str
    title: str
    fields: dict[str, int]

    def from_texts(self, texts: Sequence[str], place: str = "") -> dict[str, Any]:
        """
        Returns the predictor's input. A question before its passage is exchanged with it, which is logged.
        Raises `BiLmError`, beginning with `place`, if there is not one text for each field.
        """
        if len(texts) != len(self.fields):
            named, got = " and ".join(self.fields), f"{len(texts)} text{'s' * (len(texts) != 1)}"
            raise BiLmError(f"{place or self.title}: expected {named}, got {got}")
        if self.is_reversed(texts):
            logger.warning(
                "%sthe first text is the question, so the two are exchanged", place and f"{place}: "
            )
            texts = texts[::-1]
        return dict(zip(self.fields, texts, strict=True))

    def is_reversed(self, texts: Sequence[str]) -> bool:
        """Returns whether these are a question and its passage, in this order."""
        ends = [text.rstrip(" \t\r\n\"'”’)").endswith(("?", "？")) for text in texts]  # noqa: RUF001
        return "question" in self.fields and ends == [True, False]

    def from_item(self, item: Any, place: str) -> dict[str, Any]:
        """
        Returns the predictor's input for a text, a list of words, or an input as it is. Raises `BiLmError`,
        beginning with `place`, for anything else.
        """
        if isinstance(item, Mapping):
            return dict(item)
        if isinstance(item, str):
            return self.from_texts([str(item)], place)
        if len(self.fields) > 1:
            return self.from_texts(as_words(item, place, f"{' and '.join(self.fields)}"), place)
        words = as_words(item, place, "a text or a list of words")
        return {"sentences": [words]} if "document" in self.fields else {"words": words}


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
