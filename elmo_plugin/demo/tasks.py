"""What each task reads: the fields of its form, the keys of its inputs, and examples."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import decode

MAX_CHARACTERS, MAX_WORDS = 10_000, 1_000
_EXAMPLES = Path(__file__).parent / "examples.json"


class Limits(NamedTuple):
    """
    characters: the most of a text
    words: the most of a text, as white space divides it
    """

    characters: int = MAX_CHARACTERS
    words: int = MAX_WORDS

    def check(self, text: str, name: str, words: int | None = None) -> None:
        """
        Raises `BiLmError`, which calls the text `name`, where it is longer. `words` is their number, if it is
        not as white space divides them.
        """
        if len(text) > self.characters:
            raise BiLmError(
                f"{name} has {len(text):,} characters, and at most {self.characters:,} are read here "
                "(--max-characters changes that)"
            )
        words = len(text.split()) if words is None else words
        if words > self.words:
            raise BiLmError(
                f"{name} has {words:,} words, and at most {self.words:,} are read here "
                "(--max-words changes that)"
            )


class Field(NamedTuple):
    """
    name: the key of the predictor's input
    label: what a form calls it
    rows: the lines of its text box
    other_names: keys that the predictor takes in its place
    """

    name: str
    label: str
    rows: int = 2
    other_names: tuple[str, ...] = ()


class Task(NamedTuple):
    """
    name: that of its predictor, without "elmo_"
    title: what people call it
    fields: the texts that it reads
    """

    name: str
    title: str
    fields: tuple[Field, ...]

    def has_input(self, values: Mapping[str, Any]) -> bool:
        """Tells whether an input, such as a JSON line, has all fields of this task."""
        return all(any(name in values for name in (field.name, *field.other_names)) for field in self.fields)

    def from_texts(self, texts: list[str]) -> dict[str, Any]:
        """Returns the input of these texts; `BiLmError` where there are too many or too few of them."""
        if len(texts) != len(self.fields):
            expected = " and ".join(field.name for field in self.fields)
            raise BiLmError(
                f"{self.title.lower()} takes {expected}: expected {len(self.fields)}, not {len(texts)} texts"
            )
        return {field.name: text for field, text in zip(self.fields, texts, strict=True)}


_SENTENCE = (Field("sentence", "Sentence", other_names=("words", "tokens")),)
TASKS = {
    task.name: task
    for task in (
        Task("ner", "Named entities", _SENTENCE),
        Task("srl", "Semantic roles", _SENTENCE),
        Task("srl_predicates", "Predicates", _SENTENCE),
        Task("coref", "Coreference", (Field("document", "Document", 6, ("sentences",)),)),
        Task(
            "squad",
            "Question answering",
            (Field("passage", "Passage", 6, ("paragraph", "context")), Field("question", "Question", 1)),
        ),
        Task(
            "snli",
            "Inference",
            (
                Field("premise", "Premise", 2, ("sentence1",)),
                Field("hypothesis", "Hypothesis", 2, ("sentence2",)),
            ),
        ),
        Task("sst", "Sentiment", _SENTENCE),
    )
}


def other_task(name: str) -> Task:
    """Returns a task that is not one of this package: its model reads a sentence."""
    return Task(name, name.replace("_", " ").capitalize(), _SENTENCE)


@cache
def examples(task: str) -> list[dict[str, str]]:
    """Returns examples of a task, each with the texts of its fields and its `source`."""
    of_tasks: dict[str, list[dict[str, str]]] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    return of_tasks.get(task, [])


def read_inputs(lines: Iterable[bytes], name: str) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """
    Yields what each line that is not blank has for a predictor, with where it stands.

    # Parameters

    lines : `Iterable[bytes]`
        Those of `read_lines`.
    name : `str`
        Of the file, for errors.

    # Returns

    `Iterator[tuple[str, dict[str, Any] | str]]`
        The file and line, and a JSON object where the line begins with a brace, or the line as it is.

    Raises `BiLmError` where a line is not text, or begins with a brace and is not a JSON object.
    """
    for number, line in enumerate(lines, start=1):
        location = f"{name}, line {number}"
        text = decode(line, location).strip()
        if text:
            yield location, parse_input(text, location)


def parse_input(text: str, name: str) -> dict[str, Any] | str:
    """Returns the JSON object that a text is, where it begins with a brace, or the text as it is."""
    if not text.startswith("{"):
        return text
    try:
        content: dict[str, Any] = parse_json(text, name, is_line=True)
    except BiLmError as error:
        message = str(error).replace(f"{name}: not JSON", f"{name}: begins with a brace, but is not JSON", 1)
        raise BiLmError(message) from None
    return content
