"""The base of the tabs of the page, each with its form."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.predictions.tasks import Task

MAX_CHARACTERS = 10_000
BACKGROUND = ThreadPoolExecutor(1)
"""Loads what takes seconds while the first pages are served."""
_FILE = Path(__file__).parent / "tabs.json"
TABS: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
"""One sentence `about` each tab, and its `examples`: a text for each field, and their `source`."""


class Tab(ABC):
    """A tab of the page: a form, and a template for the answer."""

    template: str

    @property
    def is_loading(self) -> bool:
        """Whether the first answer has to wait for a model."""
        return False

    def __init__(self, task: Task, max_characters: int) -> None:
        self.slug, self.title, self.fields = task
        self.max_characters = max_characters
        texts = TABS.get(self.slug, {"about": "", "examples": []})
        self.about, self._examples = texts["about"], texts["examples"]

    def examples(self) -> list[tuple[str, str, str]]:
        """Returns the text, the address and the source of each example."""
        last = list(self.fields)[-1]
        return [(each[last], self.address(each), each["source"]) for each in self._examples]

    def address(self, values: Mapping[str, Any]) -> str:
        """Returns the address of the answer for an input."""
        return f"/{self.slug}?{urlencode({key: text for key, text in values.items() if key != 'source'})}"

    def texts(self, query: Mapping[str, str]) -> dict[str, str]:
        """Returns the text of each field. Raises `BiLmError` if one is empty or too long."""
        texts = {name: query.get(name, "").replace("\r\n", "\n") for name in self.fields}
        for name, text in texts.items():
            if not text.strip():
                raise BiLmError(f"The {name} is empty: write one, or choose an example.")
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
