"""A prediction for one input, and how it is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo_plugin.common.streams import visible
from elmo_plugin.predictions.html import to_html
from elmo_plugin.predictions.tasks import Task
from elmo_plugin.predictions.views import Bars, Mark, Part, nest, percent, views

_LONGEST = 300  # characters of a `repr`


class Prediction(dict[str, Any]):
    """
    A prediction, a dictionary with the keys that the task's predictor describes, such as "entities".
    Notebooks show it in color.

    task, inputs: what was predicted, and of what
    line: the number of its line in a file, or `None`
    """

    line: int | None = None

    def __init__(self, output: Mapping[str, Any], task: Task, inputs: Mapping[str, Any]) -> None:
        super().__init__(output)
        self.task, self.inputs = task, inputs

    def parts(self) -> list[Part]:
        """Returns what is shown; nothing for a prediction of a form that is not known."""
        try:
            (parts,) = views(self.task.name, [self], self.inputs)
        except Exception:  # anyone's predictor may have another form
            return []
        return parts

    def __missing__(self, key: Any) -> Any:
        raise KeyError(f"{key!r}: this prediction has {', '.join(self)}")

    def __repr__(self) -> str:
        shown = " / ".join(map(_line, self.parts())) or ", ".join(f"{key}: {self[key]!r:.60}" for key in self)
        shown = visible(" ".join(shown.split()))
        return f"<{self.task.name}: {shown[:_LONGEST]}{'…' * (len(shown) > _LONGEST)}; {', '.join(self)}>"

    def _repr_html_(self) -> str:
        parts = self.parts()
        return to_html(self.shown_inputs(parts), parts, repr(self))

    def shown_inputs(self, parts: Sequence[Part]) -> dict[str, str]:
        """Returns the texts of the input that the parts do not show."""
        texts = {name: text for name, text in self.inputs.items() if isinstance(text, str)}
        has_text = any(not isinstance(part, Bars) for part in parts)
        return {name: text for name, text in texts.items() if not has_text or name == "question"}


def _line(part: Part) -> str:
    if isinstance(part, Bars):
        best = max(part.bars, key=lambda bar: (bar.is_best, bar.value))
        return f"{best.label} {percent(best.value)}"
    return f"{part.title} {_brackets(nest(part.text, [each for each in part.spans if each.end < _LONGEST]))}"


def _brackets(pieces: Sequence[str | Mark]) -> str:
    return "".join(
        each if isinstance(each, str) else f"[{_brackets(each.pieces)}]{each.span.label}" for each in pieces
    )
