"""Trained models that predict, with the tagger of predicates that one of semantic roles needs."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import archive_name, load_archive
from elmo_plugin.common.bundled import tagger_of, trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import read_json_object
from elmo_plugin.embedding import layer_name, read_layer_weights
from elmo_plugin.predictions.tasks import TASKS, Task
from elmo_plugin.predictions.views import Bar, Bars

if TYPE_CHECKING:
    from allennlp.models import Model
    from allennlp.predictors import Predictor


class LoadedArchive:
    """
    A trained model, perhaps still loading, that predicts one input after another. `tagger` is the archive of
    the model that finds the predicates of sentences for semantic roles.
    """

    def __init__(
        self, path: str, task: Task, predictor: "Future[Predictor]", tagger: str | None, score: str
    ) -> None:
        self.path, self.task, self.tagger, self.score = path, task, tagger, score
        self.name = path if path in trained_models() else archive_name(path)
        self._predictor = predictor
        self._lock = threading.Lock()

    @property
    def is_loading(self) -> bool:
        return not self._predictor.done()

    @property
    def predictor(self) -> "Predictor":
        """Waits for the model. Raises `BiLmError` if it cannot be loaded."""
        return self._predictor.result()

    @cached_property
    def mixes(self) -> list[Bars]:
        """The weights of the biLM's layers."""
        return [
            Bars(mix.placement, list(map(Bar, map(layer_name, mix.layers), mix.normalized_weights)))
            for mix in read_layer_weights(self.predictor._model.state_dict())
        ]

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
    from allennlp.predictors import Predictor

    options = {"predicates": Predictor.from_archive(models[taggers[0]])} if taggers else {}
    loaded = []
    for path in [path for path in tasks if path not in taggers]:
        is_srl = tasks[path].name == "srl"
        predictor: Future[Predictor] = Future()
        predictor.set_result(Predictor.from_archive(models[path], extra_args=options if is_srl else {}))
        tagger = taggers[0] if taggers and is_srl else None
        loaded.append(LoadedArchive(path, tasks[path], predictor, tagger, _score(path, models[path].config)))
    return loaded


def _score(path: str, config: Mapping[str, Any]) -> str:
    """Returns the score of a trained model from its training's folder, or an empty string."""
    if path in trained_models():
        return trained_models()[path].score
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    try:
        metric = config["trainer"]["validation_metric"]
        score = read_json_object(folder / "metrics.json", "metrics.json")[f"best_validation_{metric[1:]}"]
        return f"{metric[1:]} {100 * score:.1f} % in validation" if metric.startswith("+") else ""
    except (BiLmError, KeyError, TypeError, AttributeError):  # it was copied, or has several metrics
        return ""


def task_of(model: "Model", path: str) -> Task:
    """Returns the task of a model, or of the members of an ensemble, by the predictor that it names."""
    predictor = getattr(model, "members", [model])[0].default_predictor
    if predictor is None:
        hint = "; show a biLM by --bilm" if type(model).__name__ == "BiLmLanguageModel" else ""
        raise BiLmError(f"archive {path}: its model, {type(model).__name__}, lacks a predictor{hint}")
    name = predictor.removeprefix("elmo_")
    return TASKS.get(name) or Task(name, name.replace("_", " ").capitalize(), {"sentence": 2})
