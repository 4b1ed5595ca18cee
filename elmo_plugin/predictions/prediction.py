"""The inputs of each task; a prediction for one input, and how it is shown."""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError, as_words
from elmo_plugin.common.streams import visible
from elmo_plugin.predictions.views import Bars, Mark, Part, nest, percent, to_html, view

logger = logging.getLogger(__name__)

# Other names of texts that predictors take.
FIELDS = {
    "context": "passage",
    "paragraph": "passage",
    "sentence1": "premise",
    "sentence2": "hypothesis",
}
_CLOSING = " \t\r\n\"'”’)"  # noqa: RUF001
_QUESTION = re.compile(rf"[^?!？！]*[?？][{_CLOSING}]*")  # noqa: RUF001
_LONGEST = 300  # characters of a `repr`


class Task(NamedTuple):
    """
    The predictor's name without "elmo_", the usual name, and the texts with the lines of their
    boxes.
    """

    name: str
    title: str
    fields: dict[str, int]

    def from_texts(self, texts: Sequence[str], place: str = "") -> dict[str, Any]:
        """
        Returns the predictor's input. A question before its passage is exchanged with it, which is
        logged. Raises `BiLmError`, beginning with `place`, if there is not one text for each field.
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
        """Returns whether these are a single question and its longer passage, in this order."""
        first, second = texts[0], texts[-1]
        if "question" not in self.fields or len(first) >= len(second):
            return False
        ends_as_question = second.rstrip(_CLOSING).endswith(("?", "\uff1f"))
        return _QUESTION.fullmatch(first) is not None and not ends_as_question

    def from_item(self, item: Any, place: str) -> dict[str, Any]:
        """
        Returns the predictor's input for a text, a list of words, or an input as it is. Raises
        `BiLmError`, beginning with `place`, for anything else.
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


class Prediction(dict[str, Any]):
    """
    A dictionary with the keys of the task's predictor, such as "entities". Notebooks show it in
    color. `line` is the number of its line in a file, or `None`.
    """

    line: int | None = None

    def __init__(self, output: Mapping[str, Any], task: Task, inputs: Mapping[str, Any]) -> None:
        super().__init__(output)
        self.task, self.inputs = task, inputs

    def parts(self) -> list[Part]:
        """Returns what is shown; nothing for a prediction of a form that is not known."""
        try:
            return view(self.task.name, self, self.inputs)
        except Exception:  # anyone's predictor may have another form
            return []

    def __missing__(self, key: Any) -> Any:
        raise KeyError(f"{key!r}: this prediction has {', '.join(self)}")

    def __repr__(self) -> str:
        shown = " / ".join(map(_line, self.parts())) or ", ".join(
            f"{key}: {self[key]!r:.60}" for key in self
        )
        shown = visible(" ".join(shown.split()))
        return (
            f"<{self.task.name}: {shown[:_LONGEST]}{'…' * (len(shown) > _LONGEST)}; "
            f"{', '.join(self)}>"
        )

    def _repr_html_(self) -> str:
        parts = self.parts()
        return to_html(self.shown_inputs(parts), parts, repr(self))

    def shown_inputs(self, parts: Sequence[Part]) -> dict[str, str]:
        """Returns the texts of the input that the parts do not show."""
        has_text = any(not isinstance(part, Bars) for part in parts)
        return {
            name: text for name, text in self.texts().items() if not has_text or name == "question"
        }

    def texts(self) -> dict[str, str]:
        """Returns the texts of the task in the input, by the usual name of each."""
        texts = {FIELDS.get(key, key): text for key, text in self.inputs.items()}
        if isinstance(words := self.inputs.get("words"), list):
            texts["sentence"] = " ".join(words)
        return {name: texts[name] for name in self.task.fields if isinstance(texts.get(name), str)}


def _line(part: Part) -> str:
    if isinstance(part, Bars):
        best = max(part.bars, key=lambda bar: (bar.is_best, bar.value))
        return f"{best.label} {percent(best.value)}"
    return (
        f"{part.title} "
        f"{_brackets(nest(part.text, [each for each in part.spans if each.end < _LONGEST]))}"
    )


def _brackets(pieces: Sequence[str | Mark]) -> str:
    return "".join(
        each if isinstance(each, str) else f"[{_brackets(each.pieces)}]{each.span.label}"
        for each in pieces
    )
