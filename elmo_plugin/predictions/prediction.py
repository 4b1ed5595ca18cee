"""A prediction for one input, and how it is shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elmo_plugin.common.meanings import no_attribute
from elmo_plugin.common.streams import visible
from elmo_plugin.common.task_cards import TaskCard, task_cards
from elmo_plugin.predictions.kinds import parts_to_show
from elmo_plugin.predictions.pages import PredictionView, to_html
from elmo_plugin.predictions.views import Bar, Bars, Mark, MarkedText, Part, nest, percent

_MAX_CHARACTERS = 300
"""The longest `repr` of a result."""

TASKS = {name: card for name, card in task_cards().items() if card.has_predictions}
"""The tasks that have a predictor."""


class Found(dict[str, Any]):
    """
    A thing that a model found in a text, such as an entity or a mention, with its place. The keys
    `start` and `end` are refused with an explanation: in other libraries they count characters, but
    in earlier versions of this one they counted words.
    """

    def __missing__(self, key: Any) -> Any:
        if key in ("start", "end"):
            message = f"{key!r}: words are counted by start_word and end_word"
            if "start_char" in self:
                message += ", characters by start_char and end_char"
            elif "characters" in self:
                message += ", characters by characters"
            raise KeyError(message)
        raise KeyError(f"{key!r}: there are {', '.join(self)}")


def _with_found(value: Any) -> Any:
    """
    Returns the output of a predictor, or a value in it, with each dictionary that has `start_word`
    as a `Found`.
    """
    if isinstance(value, list):
        return [_with_found(item) for item in value]
    if isinstance(value, dict):
        items = {key: _with_found(item) for key, item in value.items()}
        if "start_word" in items:
            return Found(items)
        return items
    return value


class Prediction(dict[str, Any]):
    """
    A dictionary with the keys of the task's predictor, such as "entities". Notebooks show it in
    color. `line` is the number of its line in a file, or `None`.
    """

    line: int | None = None

    def __init__(
        self, output: Mapping[str, Any], task: TaskCard, inputs: Mapping[str, Any]
    ) -> None:
        super().__init__(_with_found(dict(output)))
        self.task = task
        self.inputs = inputs

    def parts(self) -> list[Part]:
        """Returns the parts to show, or none if the form of the prediction is not known."""
        try:
            return parts_to_show(self.task, self, self.inputs)
        except Exception:  # the output of a user's predictor may be anything
            return []

    def __missing__(self, key: Any) -> Any:
        keys = ", ".join(self.keys())
        raise KeyError(f"{key!r}: this prediction has {keys}")

    if not TYPE_CHECKING:  # so that type checkers still find misspelt names

        def __getattr__(self, name: str) -> Any:
            """Raises an `AttributeError` that says what other libraries' names are called here."""
            raise no_attribute("Prediction", name)

    def __repr__(self) -> str:
        parts = self.parts()
        if parts:
            shown = " / ".join(_in_one_line(part) for part in parts)
        else:
            shown = ", ".join(f"{key}: {self[key]!r:.60}" for key in self)
        shown = visible(" ".join(shown.split()))
        if len(shown) > _MAX_CHARACTERS:
            shown = shown[:_MAX_CHARACTERS] + "…"
        keys = ", ".join(self.keys())
        return f"<{self.task.name}: {shown}; {keys}>"

    def _repr_html_(self) -> str:
        return to_html(self.view())

    def view(self) -> PredictionView:
        """Returns the view of this prediction for a page."""
        parts = self.parts()
        return PredictionView(self.texts_beside(parts), parts, repr(self))

    def texts_beside(self, parts: Sequence[Part]) -> dict[str, str]:
        """
        Returns the texts of the input that are to be shown beside the parts, such as a question.
        """
        texts = self.texts()
        # A marked text is the task's first text, so that one is already shown.
        if any(isinstance(part, MarkedText) for part in parts):
            texts.pop(self.task.text_names[0], None)
        return texts

    def texts(self) -> dict[str, str]:
        """
        Returns the texts of the input, each by the usual name that the task has for it. A list of
        words is joined to a sentence.
        """
        given = {self.task.usual_name(name): text for name, text in self.inputs.items()}
        words = self.inputs.get("words")
        if isinstance(words, list):
            given["sentence"] = " ".join(words)
        texts = {}
        for name in self.task.text_names:
            if isinstance(given.get(name), str):  # a user's predictor may take other types
                texts[name] = given[name]
        return texts


def _in_one_line(part: Part) -> str:
    """Returns a part for a `repr`: only the best bar, or a text with its spans in brackets."""
    if isinstance(part, Bars):
        if not part.bars:  # a user's predictor may give a label without probabilities
            return f"{part.title}"
        best = max(part.bars, key=_rank_of_bar)
        return f"{best.label} {percent(best.value)}"
    # `repr` cuts the text after this number of characters, so later spans would not be seen.
    spans = [span for span in part.spans if span.end < _MAX_CHARACTERS]
    return f"{part.title} {_in_brackets(nest(part.text, spans))}"


def _rank_of_bar(bar: Bar) -> tuple[bool, float]:
    """Ranks the model's choice highest, even if another label is more probable."""
    return bar.is_best, bar.value


def _in_brackets(pieces: Sequence[str | Mark]) -> str:
    """Returns a text with each span in brackets, and its label after the closing bracket."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            text += f"[{_in_brackets(piece.pieces)}]{piece.span.label}"
    return text
