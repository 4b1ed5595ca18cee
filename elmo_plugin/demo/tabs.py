"""
The tabs of the page, each with its form. Trained models of the same task share a tab, with
their answers side by side.
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
from elmo_plugin.common.errors import BiLmError, is_for_user
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.predictions.kinds import parts_to_show
from elmo_plugin.predictions.prediction import TASKS, Prediction
from elmo_plugin.predictions.predictor import TextPredictor, load_predictor
from elmo_plugin.predictions.views import Part

BACKGROUND = ThreadPoolExecutor(1)
"""Loads models while the first pages are served, because loading takes seconds."""
_VISIBLE = "LNPS"  # Unicode's categories of letters, numbers, punctuation and symbols


class LoadedArchive:
    """
    A trained model that may still be loading.

    # Parameters

    path : `str`
        The path or the name of its archive.
    task : `TaskCard`
        The card of its task.
    loading : `Future[TextPredictor]`
        Gives its predictor when the model is loaded.
    tagger : `str`, optional (default = `""`)
        The path or the name of the archive that finds its predicates, if it needs one.
    """

    def __init__(
        self, path: str, task: TaskCard, loading: Future[TextPredictor], tagger: str = ""
    ) -> None:
        self.path = path
        self.task = task
        self.tagger = tagger
        self.loading = loading
        self._lock = threading.Lock()  # held while the model predicts, one request at a time

    def predict(self, inputs: Mapping[str, Any]) -> Prediction:
        """
        Waits until the model is loaded, and predicts. Raises `BiLmError` or `ConfigurationError` if
        the model cannot be loaded, or cannot predict from these inputs.
        """
        with self._lock:
            return self.loading.result().predict_json(dict(inputs))

    def python_code(self, inputs: Mapping[str, Any]) -> str:
        """Returns the lines of Python that return the same prediction."""
        arguments = repr(self.path)
        if self.tagger:
            arguments += f", predicates={self.tagger!r}"
        return (
            "from elmo_plugin import load_predictor\n"
            f"predictor = load_predictor({arguments})\n"
            f"prediction = predictor.predict_json({dict(inputs)!r})"
        )


class Tab(ABC):
    """
    A tab of the page: a form, and a template for the answer.

    # Parameters

    task : `TaskCard`
        The card of its task, with the texts of the form and of the page, and examples.
    max_characters : `int`
        The length of the longest text that is read. Longer examples are left out.
    models : `Iterable[str]`
        Names or paths of the tab's models; the page has a sentence about each model of this
        package.
    """

    template: str
    archives: Sequence[LoadedArchive] = ()

    def __init__(self, task: TaskCard, max_characters: int, models: Iterable[str]) -> None:
        self.slug = task.name
        self.title = task.title
        # The height of each field of the form, in rows
        self.rows_of_fields = {text.name: text.rows for text in task.texts}
        self.max_characters = max_characters
        self.about = task.tab.about
        self.examples = []
        for example in task.tab.examples:
            longest = max(len(text) for text in example.values())
            if longest <= max_characters:
                self.examples.append(example)
        self.notes = []
        for name in models:
            model = bundled_models().get(str(model_name(name)))
            if model is not None:
                self.notes.append(model.note)

    @property
    def is_loading(self) -> bool:
        """Whether the first answer has to wait for a model."""
        return any(not archive.loading.done() for archive in self.archives)

    def texts(self, query: Mapping[str, str]) -> dict[str, str]:
        """
        Returns the text of each field of the form. Raises `BiLmError` if a text has no visible
        character, or is too long.
        """
        texts = {}
        for name in self.rows_of_fields:
            text = query.get(name, "").replace("\r\n", "\n")  # browsers send "\r\n" from forms
            if not _has_visible(text):
                raise BiLmError(f"Enter a {name}, or choose an example.")
            if len(text) > self.max_characters:
                limit = f"at most {self.max_characters:,} are read here (--max-characters)"
                raise BiLmError(f"The {name} has {len(text):,} characters; {limit}.")
            texts[name] = text
        return texts

    @abstractmethod
    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the variables of the template. One of them, `json`, is also the answer to programs
        that ask for JSON. Raises `BiLmError` if the query cannot be used.
        """


def _has_visible(text: str) -> bool:
    """Returns whether a text has a character that can be seen."""
    for character in text:
        general_category = category(character)[0]  # such as "L" for a letter
        if general_category in _VISIBLE:
            return True
    return False


class TaskTab(Tab):
    """The predictions of all archives of one task, side by side."""

    template = "task.html"

    def __init__(self, archives: Sequence[LoadedArchive], max_characters: int) -> None:
        super().__init__(archives[0].task, max_characters, [archive.path for archive in archives])
        self.archives = archives

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        inputs = self.texts(query)
        columns = []
        for_programs = []
        for archive in self.archives:
            column = _column(archive, inputs)
            columns.append(column)
            for_programs.append({key: column[key] for key in ("archive", "prediction", "error")})
        return {"columns": columns, "json": for_programs}


def _column(archive: LoadedArchive, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """
    Returns what the template shows for one archive: its prediction, or the error that prevents
    predicting or showing it. An error does not affect the columns of other archives.
    """
    prediction: Prediction | None = None
    as_json = ""
    parts: list[Part] = []
    error = ""
    try:
        prediction = archive.predict(inputs)
        as_json = json.dumps(prediction, indent=2, ensure_ascii=False, allow_nan=False)
        parts = parts_to_show(archive.task, prediction, inputs)
    except Exception as failure:  # a user's model, predictor or reader may raise any error
        prediction = None  # a prediction that cannot be written as JSON, or shown, is left out
        if is_for_user(failure):
            error = str(failure)
        else:
            traceback.print_exc()
            error = f"{archive.path} failed; the terminal shows how."
    return {
        "archive": archive.path,
        "prediction": prediction,
        "error": error,
        "model": archive,
        "parts": parts,
        "json": as_json,
        "python": archive.python_code(inputs),
    }


def bundled_tabs(max_characters: int) -> list[TaskTab]:
    """
    Returns a tab for each of this package's trained models, and begins to load the models in the
    background. A model that only finds the predicates for another model gets no tab.
    """
    # A model names, as its `predicates`, the model that finds predicates for it.
    names_of_taggers = {model.predicates for model in trained_models().values()}
    tabs = []
    for name, model in trained_models().items():
        if name in names_of_taggers:
            continue
        task = TASKS[name]  # a trained model has the name of its task
        loading = BACKGROUND.submit(load_predictor, name)
        archive = LoadedArchive(name, task, loading, tagger=model.predicates)
        tabs.append(TaskTab([archive], max_characters))
    return tabs


def task_tabs(paths: Sequence[str], max_characters: int, trust: bool) -> list[TaskTab]:
    """
    Returns a tab for each task of these archives. If a task needs a tagger of predicates, one of
    the archives may be that tagger; otherwise this package's tagger is used. A tagger that a task
    uses gets no tab.
    """
    predictors = {path: load_predictor(path, trust=trust) for path in paths}
    archives_of_tasks: dict[str, list[LoadedArchive]] = {}
    for path, predictor in predictors.items():
        task = predictor.task
        tagger = _tagger_for(task, predictors)
        if tagger and tagger != tagger_of(path):
            # The model was loaded without this tagger, so it is loaded again, now with the tagger:
            # one of the loaded archives, or the name of this package's tagger.
            predicates = predictors.get(tagger, tagger)
            predictor = load_predictor(path, trust=trust, predicates=predicates)
        is_loaded: Future[TextPredictor] = Future()
        is_loaded.set_result(predictor)
        archive = LoadedArchive(path, task, is_loaded, tagger)
        archives_of_tasks.setdefault(task.name, []).append(archive)
    for predictor in predictors.values():
        # The tagger of a task gets no tab, because its predicates are in the tab of the task.
        archives_of_tasks.pop(predictor.task.tagger, None)
    return [TaskTab(archives, max_characters) for archives in archives_of_tasks.values()]


def _tagger_for(task: TaskCard, predictors: Mapping[str, TextPredictor]) -> str:
    """
    Returns the path of the tagger that a task needs, if one of the predictors is it. Otherwise
    returns the name of this package's tagger. Returns an empty string if the task needs no tagger.
    """
    if not task.tagger:
        return ""
    for path, predictor in predictors.items():
        if predictor.task.name == task.tagger:
            return path
    return task.tagger  # this package's tagger has the name of its task
