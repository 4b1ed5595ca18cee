"""The tabs of the page: one for each task, with its archives side by side, and one for the biLM."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.archives import LoadedArchive
from elmo_plugin.demo.bilm_view import LoadedBiLm, Place, split_words
from elmo_plugin.demo.differences import mark_differences
from elmo_plugin.demo.tasks import Field, Limits, Task, examples


class TaskTab:
    """
    Shows what the archives of one task predict.

    # Parameters

    task : `Task`
        What they read.
    archives : `Sequence[LoadedArchive]`
        They stand side by side.
    limits : `Limits`
        Of each text.
    """

    template = "task.html"

    def __init__(self, task: Task, archives: Sequence[LoadedArchive], limits: Limits) -> None:
        self.task, self.archives, self.limits = task, archives, limits
        self.slug, self.title = task.name, task.title
        fields = list(task.fields)
        if any(archive.needs_predicates for archive in archives):
            fields.append(Field("predicates", "Predicates: the numbers of words, the first is 0", 1))
        self.fields = fields

    @property
    def executors(self) -> list[ThreadPoolExecutor]:
        """Where it computes."""
        return [archive.executor for archive in self.archives]

    def examples(self) -> list[tuple[str, str, str]]:
        """Returns the text, the address and the source of each example."""
        names = [field.name for field in self.fields]
        return [
            (
                each[self.task.fields[-1].name],
                f"/{self.slug}?{urlencode({name: each[name] for name in names if name in each})}",
                each["source"],
            )
            for each in examples(self.slug)
        ]

    def is_asked(self, query: Mapping[str, str]) -> bool:
        """Tells whether an address has an input."""
        return any(field.name in query for field in self.fields)

    def inputs(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Returns the input that an address has. Raises `BiLmError` where it cannot be used."""
        inputs: dict[str, Any] = {}
        for field in self.task.fields:
            text = query.get(field.name, "").replace("\r\n", "\n")
            if not text.strip():
                raise BiLmError(f"The {field.name} is empty: write one, or choose an example.")
            self.limits.check(text, f"The {field.name}")
            inputs[field.name] = text
        predicates = query.get("predicates", "").split() if len(self.fields) > len(self.task.fields) else []
        if predicates:
            if not all(each.isascii() and each.isdigit() and len(each) < 7 for each in predicates):
                raise BiLmError("The predicates are numbers of words, such as 3 6; the first word is 0.")
            inputs["predicates"] = sorted({int(each) for each in predicates})
        return inputs

    async def predict(self, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns the prediction of each archive. They are computed in the archives' own threads."""
        loop = asyncio.get_running_loop()
        waiting = [loop.run_in_executor(each.executor, each.predict, inputs) for each in self.archives]
        return list(await asyncio.gather(*waiting))

    async def as_json(self, query: Mapping[str, str]) -> Any:
        """Returns the name and the prediction of each archive."""
        outputs = await self.predict(self.inputs(query))
        return [
            {"archive": archive.path, "prediction": output}
            for archive, output in zip(self.archives, outputs, strict=True)
        ]

    async def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Returns what the template shows of the predictions."""
        inputs = self.inputs(query)
        outputs = await self.predict(inputs)
        columns = columns_of(self.task, self.archives, inputs, outputs)
        words = outputs[0].get("words", []) if len(self.fields) > len(self.task.fields) else []
        chosen = inputs.get("predicates", [])
        toggles = [(word, self._toggled(inputs, index), index in chosen) for index, word in enumerate(words)]
        return {"columns": columns, "toggles": toggles}

    def _toggled(self, inputs: Mapping[str, Any], index: int) -> str:
        """Returns the address that makes a word a predicate, or no longer."""
        predicates = sorted({index} ^ set(inputs.get("predicates", [])))
        values = {**inputs, "predicates": " ".join(map(str, predicates))}
        return f"/{self.slug}?{urlencode(values)}"


def columns_of(
    task: Task,
    archives: Sequence[LoadedArchive],
    inputs: Mapping[str, Any],
    outputs: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Returns what the templates show of each archive's prediction for one input."""
    views = [archive.view(output, inputs) for archive, output in zip(archives, outputs, strict=True)]
    return [
        {
            "archive": archive,
            "parts": parts,
            "json": json.dumps(output, indent=2, ensure_ascii=False),
            "command": archive.command(inputs),
            "python": archive.python(inputs),
        }
        for archive, parts, output in zip(archives, mark_differences(task.name, views), outputs, strict=True)
    ]


class BiLmTab:
    """
    Shows what a biLM makes of words.

    # Parameters

    bilm : `LoadedBiLm`
        The biLM.
    limits : `Limits`
        Of the text.
    """

    template = "bilm.html"
    slug, title = "bilm", "The biLM"

    def __init__(self, bilm: LoadedBiLm, limits: Limits) -> None:
        self.bilm, self.limits = bilm, limits
        self.fields = [Field("text", "Sentences, one a line", 6)]

    @property
    def executors(self) -> list[ThreadPoolExecutor]:
        """Where it computes."""
        return [self.bilm.executor]

    def examples(self) -> list[tuple[str, str, str]]:
        """Returns the text, the address and the source of each example."""
        return [
            (text.splitlines()[0], f"/{self.slug}?{urlencode({'text': text})}", each["source"])
            for each in examples(self.slug)
            for text in [each["text"]]
        ]

    def is_asked(self, query: Mapping[str, str]) -> bool:
        """Tells whether an address has a text."""
        return "text" in query

    async def as_json(self, query: Mapping[str, str]) -> Any:
        """Returns all that is shown, as JSON."""
        return _as_json(await self._view(query))

    async def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Returns what the template shows of the text."""
        view = await self._view(query)
        text = query["text"]

        def address(sentence: int, word: int) -> str:
            return f"/{self.slug}?{urlencode({'text': text, 'word': f'{sentence}.{word}'})}"

        return {
            "view": view,
            "address": address,
            "python": self.bilm.python(view),
            "is_chosen": lambda sentence, word: view.chosen == Place(sentence, word),
        }

    async def _view(self, query: Mapping[str, str]) -> Any:
        text = query.get("text", "").replace("\r\n", "\n")
        if not text.strip():
            raise BiLmError("The text is empty: write a sentence or several, or choose an example.")
        self.limits.check(text, "The text", words=sum(map(len, split_words(text))))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.bilm.executor, self.bilm.view, text, query.get("word", ""))


def _as_json(value: Any) -> Any:
    """Returns named tuples as objects."""
    if hasattr(value, "_asdict"):
        return {name: _as_json(each) for name, each in value._asdict().items()}
    return [_as_json(each) for each in value] if isinstance(value, list | tuple) else value


Tab = TaskTab | BiLmTab


def make_tabs(
    archives: Sequence[LoadedArchive], bilm: LoadedBiLm | None = None, limits: Limits | None = None
) -> list[Tab]:
    """
    Returns the tabs of the page.

    # Parameters

    archives : `Sequence[LoadedArchive]`
        Those of one task share a tab.
    bilm : `LoadedBiLm | None`, optional (default = `None`)
        Has a tab of its own.
    limits : `Limits | None`, optional (default = `Limits()`)
        Of what is read.
    """
    limits = limits or Limits()
    by_task: dict[str, list[LoadedArchive]] = {}
    for archive in archives:
        by_task.setdefault(archive.task.name, []).append(archive)
    tabs: list[Tab] = [TaskTab(each[0].task, each, limits) for each in by_task.values()]
    return tabs + ([BiLmTab(bilm, limits)] if bilm else [])
