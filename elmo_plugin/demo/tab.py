"""The base of the tabs of the page, each with its form."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unicodedata import category

from elmo_plugin.common.bundled import bundled_models, model_name
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.predictions.prediction import Prediction, Task
from elmo_plugin.predictions.predictor import Predictor

MAX_CHARACTERS = 10_000
BACKGROUND = ThreadPoolExecutor(1)
"""Loads what takes seconds while the first pages are served."""
TABS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "tabs.json").read_text("utf-8"))
"""One sentence `about` each tab, and its `examples`: a text for each field. All are our own."""


class LoadedArchive:
    """
    A trained model, perhaps still loading, that predicts one input after another. `tagger` is the archive of
    the model that finds the predicates of sentences for semantic roles.
    """

    def __init__(self, path: str, task: Task, predictor: Future[Predictor], tagger: str = "") -> None:
        self.path, self.task, self.tagger, self.predictor = path, task, tagger, predictor
        self.needs_predicates = task.name == "srl" and not tagger
        self._lock = threading.Lock()

    def predict(self, inputs: Mapping[str, Any]) -> Prediction:
        """
        Waits for the model, and predicts. Raises `BiLmError` or `ConfigurationError` if the model
        cannot be loaded, or for unusable input.
        """
        with self._lock:
            return self.predictor.result().predict_json({**inputs})

    def python(self, inputs: Mapping[str, Any]) -> str:
        """Returns the lines of Python that return the same prediction."""
        tagger = f", predicates={self.tagger!r}" if self.tagger else ""
        return (
            f"from elmo_plugin import load_predictor\npredictor = load_predictor({self.path!r}{tagger})\n"
            f"prediction = predictor.predict_json({dict(inputs)!r})"
        )


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
        return any(not archive.predictor.done() for archive in self.archives)

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
