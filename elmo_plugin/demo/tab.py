"""The base of the tabs of the page, each with its form."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unicodedata import category

from elmo_plugin.common.bundled import bundled_models, model_name
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.predictions.loaded import LoadedArchive
from elmo_plugin.predictions.prediction import Task

MAX_CHARACTERS = 10_000
BACKGROUND = ThreadPoolExecutor(1)
"""Loads what takes seconds while the first pages are served."""
TABS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "tabs.json").read_text("utf-8"))
"""One sentence `about` each tab, and its `examples`: a text for each field. All are our own."""


class Tab(ABC):
    """A tab of the page: a form, and a template for the answer."""

    template: str
    archives: Sequence[LoadedArchive] = ()

    def __init__(self, task: Task, max_characters: int, models: Iterable[str]) -> None:
        self.slug, self.title, self.fields = task
        self.max_characters = max_characters
        texts = TABS.get(self.slug, {"about": "", "examples": []})
        self.about = texts["about"]
        self.examples = [each for each in texts["examples"] if max(map(len, each.values())) <= max_characters]
        """Inputs that are short enough."""
        named = (bundled_models().get(str(model_name(model))) for model in models)
        self.notes = [model.note for model in named if model]
        """A sentence about each model of this package."""

    @property
    def is_loading(self) -> bool:
        """Whether the first answer has to wait for a model."""
        return any(archive.is_loading for archive in self.archives)

    def texts(self, query: Mapping[str, str]) -> dict[str, str]:
        """Returns the text of each field. Raises `BiLmError` if one shows nothing or is too long."""
        texts = {name: query.get(name, "").replace("\r\n", "\n") for name in self.fields}
        for name, text in texts.items():
            if not any(category(each)[0] in "LNPS" for each in text):  # letters and other visible characters
                raise BiLmError(f"Enter a {name}, or choose an example.")
            if len(text) > self.max_characters:
                limit = f"at most {self.max_characters:,} are read here (--max-characters)"
                raise BiLmError(f"The {name} has {len(text):,} characters; {limit}.")
        return texts

    @abstractmethod
    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the variables of the template, and in `json` the answer to programs. Raises `BiLmError` if the
        query cannot be used.
        """
