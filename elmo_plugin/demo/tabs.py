"""The tabs of the page, each with its form; trained models of a task are side by side in its
tab.
"""

import json
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from unicodedata import category

from elmo_plugin.common.bundled import bundled_models, model_name, tagger_of, trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.task_cards import TaskCard, task_cards
from elmo_plugin.predictions.prediction import TASKS, Prediction, Task
from elmo_plugin.predictions.predictor import Predictor, load_predictor
from elmo_plugin.predictions.views import view

MAX_CHARACTERS = 10_000
BACKGROUND = ThreadPoolExecutor(1)
"""Loads what takes seconds while the first pages are served."""


class LoadedArchive:
    """A trained model, perhaps still loading, and the archive of its `tagger`, if it needs one."""

    def __init__(
        self, path: str, task: Task, predictor: Future[Predictor], tagger: str = ""
    ) -> None:
        self.path, self.task, self.tagger, self.predictor = path, task, tagger, predictor
        self._lock = threading.Lock()

    def predict(self, inputs: Mapping[str, Any]) -> Prediction:
        """
        Waits for the model, and predicts. Raises `BiLmError` or `ConfigurationError` if it cannot.
        """
        with self._lock:
            return self.predictor.result().predict_json({**inputs})

    def python(self, inputs: Mapping[str, Any]) -> str:
        """Returns the lines of Python that return the same prediction."""
        tagger = f", predicates={self.tagger!r}" if self.tagger else ""
        return (
            "from elmo_plugin import load_predictor\npredictor = "
            f"load_predictor({self.path!r}{tagger})\n"
            f"prediction = predictor.predict_json({dict(inputs)!r})"
        )


class Tab(ABC):
    """A tab of the page: a form, and a template for the answer."""

    template: str
    archives: Sequence[LoadedArchive] = ()

    def __init__(self, task: Task, max_characters: int, models: Iterable[str]) -> None:
        self.slug, self.title, self.fields = task
        self.max_characters = max_characters
        card = task_cards().get(self.slug, TaskCard(self.slug))
        self.about = card.tab.about
        self.examples = [
            each for each in card.tab.examples if max(map(len, each.values())) <= max_characters
        ]
        """Inputs that are short enough."""
        named = (bundled_models().get(str(model_name(model))) for model in models)
        self.notes = [model.note for model in named if model]
        """A sentence about each model of this package."""

    @property
    def is_loading(self) -> bool:
        """Whether the first answer has to wait for a model."""
        return any(not archive.predictor.done() for archive in self.archives)

    def texts(self, query: Mapping[str, str]) -> dict[str, str]:
        """
        Returns the text of each field. Raises `BiLmError` if one shows nothing or is too long.
        """
        texts = {name: query.get(name, "").replace("\r\n", "\n") for name in self.fields}
        for name, text in texts.items():
            if not any(
                category(each)[0] in "LNPS" for each in text
            ):  # letters and other visible characters
                raise BiLmError(f"Enter a {name}, or choose an example.")
            if len(text) > self.max_characters:
                limit = f"at most {self.max_characters:,} are read here (--max-characters)"
                raise BiLmError(f"The {name} has {len(text):,} characters; {limit}.")
        return texts

    @abstractmethod
    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the variables of the template, and in `json` the answer to programs. Raises
        `BiLmError` if the query cannot be used.
        """


class TaskTab(Tab):
    """The predictions of all archives of one task, side by side."""

    template = "task.html"

    def __init__(
        self, archives: Sequence[LoadedArchive], max_characters: int = MAX_CHARACTERS
    ) -> None:
        super().__init__(archives[0].task, max_characters, [archive.path for archive in archives])
        self.archives = archives

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        inputs = self.texts(query)
        columns = [_column(archive, inputs) for archive in self.archives]
        results = [
            {key: column[key] for key in ("archive", "prediction", "error")} for column in columns
        ]
        return {"columns": columns, "json": results}


def _column(archive: LoadedArchive, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """
    Returns the prediction of an archive for the template, or why it is missing or cannot be shown.
    """
    prediction, text, error, parts = None, "", "", []
    try:
        prediction = archive.predict(inputs)
        text = json.dumps(prediction, indent=2, ensure_ascii=False, allow_nan=False)
        parts = view(archive.task.name, prediction, inputs)
    except Exception as mistake:  # anyone's model, predictor or reader may raise it
        error = str(mistake)
        if not isinstance(mistake, BiLmError) and type(mistake).__name__ != "ConfigurationError":
            traceback.print_exc()
            error = f"{archive.path} failed; the terminal shows how."
    result = {"archive": archive.path, "prediction": None if error else prediction, "error": error}
    return {
        **result,
        "model": archive,
        "parts": parts,
        "json": text,
        "python": archive.python(inputs),
    }


def bundled_tabs(max_characters: int) -> list[TaskTab]:
    """
    Returns a tab for each task of this package's trained models, and loads them in the background.
    """
    taggers = {model.predicates for model in trained_models().values()}
    tabs = []
    for name, model in trained_models().items():
        if name not in taggers:
            loading = BACKGROUND.submit(load_predictor, name)
            archive = LoadedArchive(name, TASKS[name], loading, model.predicates)
            tabs.append(TaskTab([archive], max_characters))
    return tabs


def task_tabs(paths: Sequence[str], max_characters: int, trust: bool = False) -> list[TaskTab]:
    """
    Returns a tab for each task of these archives. A tagger of predicates among them, or else
    `srl_predicates`, finds the predicates for semantic roles.
    """
    loaded = {path: load_predictor(path, trust=trust) for path in paths}
    taggers = (path for path, each in loaded.items() if each.task.name == "srl_predicates")
    tagger = next(taggers, "srl_predicates")
    by_task: dict[str, list[LoadedArchive]] = {}
    for path, predictor in loaded.items():
        is_srl = predictor.task.name == "srl"
        if is_srl and tagger != tagger_of(path):
            predictor = load_predictor(path, trust=trust, predicates=loaded.get(tagger, tagger))
        made: Future[Predictor] = Future()
        made.set_result(predictor)
        archive = LoadedArchive(path, predictor.task, made, tagger if is_srl else "")
        by_task.setdefault(predictor.task.name, []).append(archive)
    if "srl" in by_task:
        by_task.pop("srl_predicates", None)
    return [TaskTab(archives, max_characters) for archives in by_task.values()]
