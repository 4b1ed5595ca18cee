"""Trained models and their tasks, side by side in the tab of each task."""

import json
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from elmo_plugin.common.bundled import tagger_of, trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tab import BACKGROUND, MAX_CHARACTERS, LoadedArchive, Tab
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.predictor import Predictor, load_predictor
from elmo_plugin.predictions.views import view


class TaskTab(Tab):
    """The predictions of all archives of one task, side by side."""

    template = "task.html"

    def __init__(self, archives: Sequence[LoadedArchive], max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(archives[0].task, max_characters, [archive.path for archive in archives])
        self.archives = archives

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        inputs: dict[str, Any] = dict(self.texts(query))
        chosen: list[int] = []
        if needs_predicates := any(archive.needs_predicates for archive in self.archives):
            chosen = _numbers(query.get("predicates", ""))
            inputs["predicates"] = chosen
        columns = [_column(archive, inputs) for archive in self.archives]
        outputs = [column["prediction"] for column in columns if not column["error"]]
        toggles = []  # of each word: it, whether it is a predicate, and the predicates that change this
        for index, word in enumerate(outputs[0]["words"] if needs_predicates and outputs else []):
            toggles.append((word, index in chosen, " ".join(map(str, sorted({*chosen} ^ {index})))))
        results = [{key: column[key] for key in ("archive", "prediction", "error")} for column in columns]
        return {"columns": columns, "toggles": toggles, "json": results}


def _numbers(text: str) -> list[int]:
    if not all(each.isascii() and each.isdigit() and len(each) < 7 for each in text.split()):
        raise BiLmError("The predicates are numbers of words, such as 3 6; the first word is 0.")
    return sorted({int(each) for each in text.split()})


def _column(archive: LoadedArchive, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the prediction of an archive for the template, or why it is missing or cannot be shown."""
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
    return {**result, "model": archive, "parts": parts, "json": text, "python": archive.python(inputs)}


def bundled_tabs(max_characters: int) -> list[TaskTab]:
    """Returns a tab for each task of this package's trained models, and loads them in the background."""
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
    Returns a tab for each task of these archives. A tagger of predicates among models of semantic roles has
    none, but finds the predicates for them.
    """
    loaded = {path: load_predictor(path, trust=trust) for path in paths}
    taggers = [path for path, each in loaded.items() if each.task.name == "srl_predicates"]
    by_task: dict[str, list[LoadedArchive]] = {}
    for path, predictor in loaded.items():
        tagger, is_srl = tagger_of(path), predictor.task.name == "srl"
        if is_srl and taggers and taggers[0] != tagger:
            tagger = taggers[0]
            predictor = load_predictor(path, trust=trust, predicates=loaded[tagger])
        made: Future[Predictor] = Future()
        made.set_result(predictor)
        archive = LoadedArchive(path, predictor.task, made, tagger)
        by_task.setdefault(predictor.task.name, []).append(archive)
    if "srl" in by_task:
        by_task.pop("srl_predicates", None)
    return [TaskTab(archives, max_characters) for archives in by_task.values()]
