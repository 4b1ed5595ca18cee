"""
The kinds of predictions: how each is shown, and its rows in a table.

A task's card names the keys that its predictions may have ("finds"). The first of them in a
prediction is its kind. For a new kind, write a class here and add it to `KINDS`.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.predictions.views import COLORS, Bar, Bars, MarkedSpan, MarkedText, Part

Output = Mapping[str, Any]
"""The output of a predictor, or an entry in it, such as a role or a mention."""
Inputs = Mapping[str, Any]
"""The input of a predictor, by the names of the texts."""


class WordSpan(NamedTuple):
    """Words of a sentence with a label: from the word at `start` to the word before `end`."""

    start: int
    end: int
    label: str


class Kind(ABC):
    """
    One kind of prediction.

    columns: the columns of a table of such predictions
    repeats_texts: whether each row of the table repeats the texts of the input
    """

    columns: Sequence[str]
    repeats_texts: bool = False

    def cells_of_labels(self, output: Output) -> Mapping[str, object]:
        """Returns the cells of a row for the columns of labels, by the names of the labels."""
        return {}

    @abstractmethod
    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        """Returns the parts of a prediction to show, beside the inputs."""

    @abstractmethod
    def rows(self, output: Output) -> Iterator[Output]:
        """Yields the rows of a table; the table leaves out the keys that are not its columns."""


class Entities(Kind):
    """Names in a sentence, each with its type."""

    columns = ("text", "type", "start_char", "end_char", "probability")

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        entities = output["entities"]
        title = _title_if_empty(entities, task)
        is_plain_text = "sentence" in inputs and "words" not in inputs
        # A predictor of the user's may give entities without their places in a plain text. Then the
        # words are shown, with spaces between them, like an input that is a list of words.
        if is_plain_text and all("start_char" in entity for entity in entities):
            marked = []
            for entity in entities:
                color = color_of(entity["type"], task)
                span = MarkedSpan(entity["start_char"], entity["end_char"], entity["type"], color)
                marked.append(span)
            return [MarkedText(title, inputs["sentence"], marked)]
        spans = [_word_span(entity, entity["type"]) for entity in entities]
        return [_mark_words(output["words"], spans, task, title)]

    def rows(self, output: Output) -> Iterator[Output]:
        yield from output["entities"]


class Tags(Kind):
    """A tag for each word of a sentence."""

    columns = ("word", "tag")

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        spans = [WordSpan(index, index + 1, tag) for index, tag in enumerate(output["tags"])]
        title = _title_if_empty(spans, task)
        return [_mark_words(output["words"], spans, task, title)]

    def rows(self, output: Output) -> Iterator[Output]:
        for word, tag in zip(output["words"], output["tags"], strict=True):
            yield {"word": word, "tag": tag}


class Frames(Kind):
    """The predicates of a sentence, each with its roles: a text for each predicate."""

    columns = ("predicate", "index", "role", "text", "start_word", "end_word")

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        words = output["words"]
        parts: list[Part] = []
        for frame in output["frames"]:
            index = frame["index"]
            # A set, because the roles may already include the predicate itself as "V".
            spans = {_word_span(role, role["role"]) for role in frame["roles"]}
            spans.add(WordSpan(index, index + 1, "V"))
            title = frame["predicate"] + _which_occurrence(words, index)
            parts.append(_mark_words(words, sorted(spans), task, title))
        if not parts:
            parts.append(_mark_words(words, [], task, task.nothing_found))
        return parts

    def rows(self, output: Output) -> Iterator[Output]:
        for frame in output["frames"]:
            for role in frame["roles"]:
                yield {**frame, **role}


def _which_occurrence(words: Sequence[str], index: int) -> str:
    """
    Tells equal words apart in a title. Returns, for example, ` (1 of 2)` for the first of two equal
    words, and an empty string for a word that occurs only once.
    """
    word = words[index]
    count = words.count(word)
    if count == 1:
        return ""
    occurrence = words[: index + 1].count(word)
    return f" ({occurrence} of {count})"


class Predicates(Kind):
    """The predicates of a sentence without their roles."""

    columns = ("predicate", "index")

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        spans = [WordSpan(index, index + 1, "predicate") for index in output["predicates"]]
        title = _title_if_empty(spans, task)
        return [_mark_words(output["words"], spans, task, title)]

    def rows(self, output: Output) -> Iterator[Output]:
        for index in output["predicates"]:
            yield {"predicate": output["words"][index], "index": index}


class Clusters(Kind):
    """Mentions in a document; those with the same number refer to the same thing."""

    columns = ("cluster", "text", "start_char", "end_char")

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        # The places of mentions count the characters of the document. If the input is a list of
        # sentences, they count the characters of all words, joined by spaces.
        if "document" in inputs:
            text = inputs["document"]
        else:
            text = " ".join(" ".join(words) for words in output["sentences"])
        spans = []
        for number, mentions in enumerate(output["clusters"], start=1):
            for mention in mentions:
                start, end = mention["characters"]
                spans.append(MarkedSpan(start, end, str(number), number % COLORS))
        title = _title_if_empty(spans, task)
        return [MarkedText(title, text, sorted(spans))]

    def rows(self, output: Output) -> Iterator[Output]:
        for number, mentions in enumerate(output["clusters"], start=1):
            for mention in mentions:
                yield {"cluster": number, **mention, **_character_columns(mention)}


class Answer(Kind):
    """Characters of the task's first text that answer a question, and other candidates."""

    columns = ("answer", "start_char", "end_char", "probability")
    repeats_texts = True

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        start, end = output["characters"]
        span = MarkedSpan(start, end, "answer", color_of("answer", task))
        bars = [Bar(output["answer"], output["probability"], is_best=True)]
        for other in output["others"]:
            bars.append(Bar(other["text"], other["probability"]))
        return [
            MarkedText("", _first_text(inputs, task), [span]),
            Bars(output["answer"], bars),
        ]

    def rows(self, output: Output) -> Iterator[Output]:
        yield {**output, **_character_columns(output)}


class Label(Kind):
    """One label for the input, and the probabilities of all labels."""

    columns = ("label", "probability")
    repeats_texts = True

    def parts(self, output: Output, inputs: Inputs, task: TaskCard) -> list[Part]:
        best = output["label"]
        bars = []
        for label, value in output["probabilities"].items():
            bars.append(Bar(label, value, is_best=label == best))
        bars.sort(key=_likeliest_first)
        return [Bars(best, bars)]

    def cells_of_labels(self, output: Output) -> Mapping[str, object]:
        """
        Returns the probability of each label. A predictor of the user's may give a label without
        probabilities.
        """
        probabilities: Mapping[str, object] = output.get("probabilities", {})
        return probabilities

    def rows(self, output: Output) -> Iterator[Output]:
        label = output["label"]
        yield {"label": label, "probability": self.cells_of_labels(output).get(label)}


def _likeliest_first(bar: Bar) -> tuple[float, bool]:
    """Sorts bars by falling probability. Among equal ones, the model's choice comes first."""
    return -bar.value, not bar.is_best


KINDS: dict[str, Kind] = {
    "entities": Entities(),
    "frames": Frames(),
    "clusters": Clusters(),
    "answer": Answer(),
    "label": Label(),
    "predicates": Predicates(),
    "tags": Tags(),
}
"""Each kind, by the key under which its predictions have their results."""


def kind_of(output: Output, keys: Iterable[str] = KINDS) -> Kind | None:
    """
    Returns the kind of a prediction: the first of `keys` that the prediction has decides. Returns
    `None` if it has none of them.
    """
    for key in keys:
        if key in output:
            return KINDS[key]
    return None


def parts_to_show(task: TaskCard, output: Output, inputs: Inputs) -> list[Part]:
    """
    Returns the texts and bars that show a prediction. Raises `KeyError`, `TypeError` or
    `ValueError` if the prediction does not have the form of its task.
    """
    if not task.finds:  # a task of the user's: the form of its predictions is not known
        return []
    kind = kind_of(output, task.finds)
    if kind is None:
        raise KeyError(f"expected {' or '.join(task.finds)}, got {', '.join(output)}")
    return kind.parts(output, inputs, task)


def color_of(label: str, task: TaskCard) -> int:
    """
    Returns the color of a label. A role has the same color as the references to it, such as R-ARG0
    and C-ARG0.
    """
    label = label.removeprefix("R-").removeprefix("C-")
    if label in task.colors:
        return task.colors[label]
    # Any color, but always the same one: `hash` differs from process to process.
    return zlib.crc32(label.encode()) % COLORS


def _title_if_empty(results: Sequence[object], task: TaskCard) -> str:
    """Returns a title that says that nothing was found, or an empty string if there are results."""
    if results:
        return ""
    return task.nothing_found


def _mark_words(
    words: Sequence[str], spans: Sequence[WordSpan], task: TaskCard, title: str
) -> MarkedText:
    """Joins words by spaces, and marks the spans in this text."""
    # The places at which the words begin in the text. One more word would begin at the last place.
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    marked = []
    for span in spans:
        start = starts[span.start]
        end = starts[span.end] - 1  # before the space that follows the span
        marked.append(MarkedSpan(start, end, span.label, color_of(span.label, task)))
    return MarkedText(title, " ".join(words), marked)


def _word_span(found: Output, label: str) -> WordSpan:
    """Returns the place of an entity or of a role, with its label."""
    return WordSpan(found["start_word"], found["end_word"], label)


def _first_text(inputs: Inputs, task: TaskCard) -> str:
    """Returns the task's first text from the inputs, by its name or by another name for it."""
    text = task.texts[0]
    for name in (text.name, *text.other_names):
        if name in inputs:
            return inputs[name]
    raise KeyError(text.name)


def _character_columns(entry: Output) -> dict[str, int]:
    """Returns the columns for the place of an entry in its text."""
    start, end = entry["characters"]
    return {"start_char": start, "end_char": end}
