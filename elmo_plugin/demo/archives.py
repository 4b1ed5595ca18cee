"""Trained models and their tasks, side by side in the tab of each task."""

import json
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_plugin.archives import archive_name, load_archive
from elmo_plugin.common.bundled import tagger_of
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tasks import MAX_CHARACTERS, TASKS, Tab, Task
from elmo_plugin.demo.views import Bar, Bars, views
from elmo_plugin.embedding import layer_name, read_layer_weights


class LoadedArchive:
    """
    A trained model that predicts one input after another. `tagger` is the archive of the model that finds
    the predicates of sentences for semantic roles.
    """

    def __init__(self, path: str, task: Task, predictor: Predictor, tagger: str | None = None) -> None:
        self.path, self.task, self.predictor, self.tagger = path, task, predictor, tagger
        self.name = archive_name(path)
        self.mixes = [
            Bars(mix.placement, list(map(Bar, map(layer_name, mix.layers), mix.normalized_weights)))
            for mix in read_layer_weights(predictor._model.state_dict())
        ]
        self._lock = threading.Lock()

    @property
    def needs_predicates(self) -> bool:
        """Whether an input has to name the predicates."""
        return self.task.name == "srl" and self.tagger is None

    def predict(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the predictor's JSON. Raises `BiLmError` or `ConfigurationError` for unusable input."""
        inputs = {"predicates": [], **inputs} if self.needs_predicates else {**inputs}
        with self._lock:
            return self.predictor.predict_json(inputs)

    def python(self, inputs: Mapping[str, Any]) -> str:
        """Returns the lines of Python that return the same prediction."""
        tagger = f", predicates={self.tagger!r}" if self.tagger else ""
        return (
            f"from elmo_plugin import load_predictor\npredictor = load_predictor({self.path!r}{tagger})\n"
            f"prediction = predictor.predict_json({dict(inputs)!r})"
        )


class TaskTab(Tab):
    """The predictions of all archives of one task, side by side."""

    template = "task.html"

    def __init__(self, archives: Sequence[LoadedArchive], max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(archives[0].task, max_characters)
        self.archives = archives

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        inputs: dict[str, Any] = dict(self.texts(query))
        chosen: list[int] = []
        if needs_predicates := any(archive.needs_predicates for archive in self.archives):
            chosen = _numbers(query.get("predicates", ""))
            inputs |= {"predicates": chosen} if chosen else {}
        columns = [_column(archive, inputs) for archive in self.archives]
        answered = [column for column in columns if not column["error"]]
        outputs = [column["prediction"] for column in answered]
        for column, parts in zip(answered, views(self.slug, outputs, inputs), strict=True):
            column["parts"] = parts
        toggles = []  # of each word: it, whether it is a predicate, and the address that changes this
        for index, word in enumerate(outputs[0]["words"] if needs_predicates and outputs else []):
            predicates = " ".join(map(str, sorted({*chosen} ^ {index})))
            toggles.append((word, index in chosen, self.address({**inputs, "predicates": predicates})))
        results = [{key: column[key] for key in ("archive", "prediction", "error")} for column in columns]
        return {"columns": columns, "toggles": toggles, "json": results}


def _numbers(text: str) -> list[int]:
    if not all(each.isascii() and each.isdigit() and len(each) < 7 for each in text.split()):
        raise BiLmError("The predicates are numbers of words, such as 3 6; the first word is 0.")
    return sorted({int(each) for each in text.split()})


def _column(archive: LoadedArchive, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the prediction of an archive for the template, or why it is missing."""
    prediction, error = None, ""
    try:
        prediction = archive.predict(inputs)
    except (BiLmError, ConfigurationError) as mistake:
        error = str(mistake)
    except Exception:
        traceback.print_exc()
        error = "The model failed; the terminal shows how."
    result = {"archive": archive.path, "prediction": prediction, "error": error}
    text = json.dumps(prediction, indent=2, ensure_ascii=False)
    return {**result, "model": archive, "parts": [], "json": text, "python": archive.python(inputs)}


def task_tabs(paths: Sequence[str], max_characters: int, trust: bool = False) -> list[TaskTab]:
    """Returns a tab for each task of these archives."""
    by_task: dict[str, list[LoadedArchive]] = {}
    for archive in load_archives(paths, trust):
        by_task.setdefault(archive.task.name, []).append(archive)
    return [TaskTab(archives, max_characters) for archives in by_task.values()]


def load_archives(paths: Sequence[str], trust: bool = False, cuda_device: int = -1) -> list[LoadedArchive]:
    """
    Loads trained models. A tagger of predicates among models of semantic roles finds the
    predicates for them; that of this package's `srl` does if there is none. Raises `BiLmError` if a model
    cannot be loaded.
    """
    models = {path: load_archive(path, cuda_device, trust=trust) for path in paths}
    tasks = {path: task_of(archive.model, path) for path, archive in models.items()}
    names = [task.name for task in tasks.values()]
    taggers = [path for path in models if tasks[path].name == "srl_predicates" and "srl" in names]
    if not taggers and (names := list(filter(None, map(tagger_of, paths)))):
        taggers, models[names[0]] = names[:1], load_archive(names[0], cuda_device)
    options = {"predicates": Predictor.from_archive(models[taggers[0]])} if taggers else {}
    loaded = []
    for path in [path for path in models if path not in taggers]:
        is_srl = tasks[path].name == "srl"
        predictor = Predictor.from_archive(models[path], extra_args=options if is_srl else {})
        loaded.append(LoadedArchive(path, tasks[path], predictor, taggers[0] if taggers and is_srl else None))
    return loaded


def task_of(model: Model, path: str) -> Task:
    """Returns the task of a model, or of the members of an ensemble, by the predictor that it names."""
    predictor = getattr(model, "members", [model])[0].default_predictor
    if predictor is None:
        hint = "; show a biLM by --bilm" if type(model).__name__ == "BiLmLanguageModel" else ""
        raise BiLmError(f"archive {path}: its model, {type(model).__name__}, lacks a predictor{hint}")
    name = predictor.removeprefix("elmo_")
    return TASKS.get(name) or Task(name, name.replace("_", " ").capitalize(), {"sentence": 2})
