"""Trained models that predict, with the tagger of predicates that one of semantic roles needs."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from elmo_plugin.archives import archive_name, default_predictor, load_archive
from elmo_plugin.common.bundled import tagger_of, trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.predictions.files import Input
from elmo_plugin.predictions.prediction import Prediction, Task
from elmo_plugin.predictions.predictor import Predictor, task_of


class LoadedArchive:
    """
    A trained model, perhaps still loading, that predicts one input after another. `tagger` is the archive of
    the model that finds the predicates of sentences for semantic roles.
    """

    def __init__(self, path: str, task: Task, predictor: Future[Predictor], tagger: str | None) -> None:
        self.path, self.task, self.tagger = path, task, tagger
        self.name = path if path in trained_models() else archive_name(path)
        self._predictor = predictor
        self._lock = threading.Lock()

    @property
    def is_loading(self) -> bool:
        return not self._predictor.done()

    @property
    def predictor(self) -> Predictor:
        """Waits for the model. Raises `BiLmError` if it cannot be loaded."""
        return self._predictor.result()

    def checked(self, inputs: Iterable[Input]) -> Iterator[Input]:
        """Yields the inputs. Raises `BiLmError` if one has to name its predicates."""
        for each in inputs:
            if self.needs_predicates and "predicates" not in each.values:
                raise BiLmError(
                    f"{each.place}: say which words are predicates, by --predicates ARCHIVE, the tagger, or "
                    'in JSON: {"sentence": "She wants to leave.", "predicates": [1]}'
                )
            yield each

    @property
    def needs_predicates(self) -> bool:
        """Whether an input has to name the predicates."""
        return self.task.name == "srl" and self.tagger is None

    def predict(self, inputs: Mapping[str, Any]) -> Prediction:
        """Returns the prediction. Raises `BiLmError` or `ConfigurationError` for unusable input."""
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
    from allennlp.predictors import Predictor as AllenNlpPredictor

    def make(path: str, **options: Any) -> AllenNlpPredictor:
        name = models[path].model.default_predictor
        return AllenNlpPredictor.from_archive(models[path], name, extra_args=options)

    options = {"predicates": make(taggers[0])} if taggers else {}
    loaded = []
    for path in [path for path in tasks if path not in taggers]:
        is_srl = tasks[path].name == "srl"
        predictor: Future[Predictor] = Future()
        with default_predictor(models[path], trust):
            made = make(path, **options if is_srl else {})
        predictor.set_result(Predictor(made, tasks[path]))
        tagger = taggers[0] if taggers and is_srl else None
        loaded.append(LoadedArchive(path, tasks[path], predictor, tagger))
    return loaded


def load_one(path: str, predicates: str | None, trust: bool, cuda_device: int = -1) -> LoadedArchive:
    """
    Loads a trained model. `predicates` is the archive of the tagger that finds predicates, for semantic
    roles. Raises `BiLmError` if one cannot be loaded, or is not a tagger.
    """
    archive, *others = load_archives([path, *([predicates] if predicates else [])], trust, cuda_device)
    if predicates and (others or archive.tagger != predicates):
        why = f"{predicates} does not tag" if archive.task.name == "srl" else f"{path} does not need"
        raise BiLmError(f"--predicates: {why} predicates")
    return archive
