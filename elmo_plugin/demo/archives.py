"""Trained models and their tasks, side by side in the tab of each task."""

import json
import shlex
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tasks import MAX_CHARACTERS, TASKS, Tab, Task
from elmo_plugin.demo.views import Bar, Bars, views
from elmo_plugin.embedding import layer_name, read_mixes

if TYPE_CHECKING:
    from allennlp.predictors import Predictor


class LoadedArchive:
    """
    A trained model, which predicts one input after another. `tagger` is the archive of the model that finds
    the predicates of sentences for semantic roles.
    """

    def __init__(
        self, path: str, name: str, task: Task, predictor: "Predictor", tagger: str | None = None
    ) -> None:
        self.path, self.name, self.task, self.predictor, self.tagger = path, name, task, predictor, tagger
        self._lock = threading.Lock()
        self.mixes = [
            Bars(
                mix.placement,
                [
                    Bar(layer_name(each), w)
                    for each, w in zip(mix.layers, mix.normalized_weights, strict=True)
                ],
            )
            for mix in read_mixes(predictor._model.state_dict())
        ]

    @property
    def needs_predicates(self) -> bool:
        """Whether an input has to name the predicates."""
        return self.task.name == "srl" and self.tagger is None

    def predict(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the predictor's JSON. Raises `BiLmError` if the input cannot be used."""
        defaults = {"predicates": []} if self.needs_predicates else {}
        with self._lock, _as_bilm_error():
            return self.predictor.predict_json({**defaults, **inputs})

    def command(self, inputs: Mapping[str, Any]) -> str:
        """Returns the command that shows the same prediction."""
        is_plain = list(inputs) == list(self.task.fields)
        texts = list(inputs.values()) if is_plain else [json.dumps(inputs, ensure_ascii=False)]
        tagger = ["--predicates", self.tagger] if self.tagger else []
        options = ["--"] if any(text.startswith("-") for text in texts) else []
        return shlex.join(["elmo", "predict", self.path, *tagger, *options, *texts])

    def python(self, inputs: Mapping[str, Any]) -> str:
        """Returns the lines of Python that return the same prediction."""
        arguments = f"{self.path!r}"
        if self.tagger:
            arguments += f", predictor_name='elmo_srl', extra_args={{'predicates': {self.tagger!r}}}"
        return (
            "from elmo_plugin.plugin import allennlp  # registers the models\n"
            f"predictor = allennlp.predictors.Predictor.from_path({arguments})\n"
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
        outputs = [column["output"] for column in answered]
        for column, parts in zip(answered, views(self.slug, outputs, inputs), strict=True):
            column["parts"] = parts
        toggles = []  # of each word: it, whether it is a predicate, and the address that changes this
        for index, word in enumerate(outputs[0]["words"] if needs_predicates and outputs else []):
            predicates = " ".join(map(str, sorted({*chosen} ^ {index})))
            toggles.append((word, index in chosen, self.address({**inputs, "predicates": predicates})))
        results = [
            {"archive": each["archive"].path, "prediction": each["output"], "error": each["error"]}
            for each in columns
        ]
        return {"columns": columns, "toggles": toggles, "json": results}


def _numbers(text: str) -> list[int]:
    if not all(each.isascii() and each.isdigit() and len(each) < 7 for each in text.split()):
        raise BiLmError("The predicates are numbers of words, such as 3 6; the first word is 0.")
    return sorted({int(each) for each in text.split()})


def _column(archive: LoadedArchive, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the template shows of an archive: its prediction, or why there is none."""
    output, error = None, ""
    try:
        output = archive.predict(inputs)
    except BiLmError as mistake:
        error = str(mistake)
    except Exception:
        traceback.print_exc()
        error = "The model failed; the terminal shows how."
    about = {"command": archive.command(inputs), "python": archive.python(inputs)}
    return {"archive": archive, "output": output, "error": error, "parts": [], **about}


def load_archives(paths: Sequence[str]) -> list[LoadedArchive]:
    """
    Loads trained models on the CPU. A tagger of predicates among models of semantic roles finds the
    predicates for them. Raises `BiLmError` if a model cannot be loaded, or AllenNLP is not installed.
    """
    import_all_plugins("a trained model")
    from allennlp.models import load_archive
    from allennlp.predictors import Predictor

    archives = []
    for path, name in zip(paths, names(paths), strict=True):
        with _as_bilm_error(path):
            archive = load_archive(path)
            archives.append((path, name, archive, task_of(archive.model, path)))
    has_roles = any(task.name == "srl" for *_, task in archives)
    tagger, options = None, None
    for path, _, archive, task in archives:
        if has_roles and tagger is None and task.name == "srl_predicates":
            with _as_bilm_error(path):
                tagger, options = path, {"predicates": Predictor.from_archive(archive)}
    loaded = []
    for path, name, archive, task in archives:
        is_srl = task.name == "srl"
        if not (has_roles and task.name == "srl_predicates"):
            with _as_bilm_error(path):
                predictor = Predictor.from_archive(archive, extra_args=options if is_srl else None)
            loaded.append(LoadedArchive(path, name, task, predictor, tagger if is_srl else None))
    return loaded


def names(paths: Sequence[str]) -> list[str]:
    """
    Returns a short name for each archive: the directory of the training, after the directory above if it is
    the seed of a sweep; or the path, if another archive has the same name.
    """
    short = []
    for path in paths:
        archive = Path(path).absolute()
        training = archive.parent if archive.name == "model.tar.gz" else archive
        short.append(
            f"{training.parent.name}/{training.name}" if training.name.isdecimal() else training.name
        )
    return [name if short.count(name) == 1 else path for name, path in zip(short, paths, strict=True)]


def task_of(model: Any, path: str) -> Task:
    """Returns the task of a model, or of the members of an ensemble, by the predictor that it names."""
    predictor = getattr(model, "members", [model])[0].default_predictor
    if predictor is None:
        hint = "; show a biLM by --bilm" if type(model).__name__ == "BiLmLanguageModel" else ""
        raise BiLmError(f"archive {path}: its model, {type(model).__name__}, has no predictor{hint}")
    name = predictor.removeprefix("elmo_")
    return TASKS.get(name) or Task(name, name.replace("_", " ").capitalize(), {"sentence": 2})


@contextmanager
def _as_bilm_error(path: str = "") -> Iterator[None]:
    """Turns AllenNLP's `ConfigurationError` of the block into a `BiLmError` that names the archive."""
    from allennlp.common.checks import ConfigurationError

    try:
        yield
    except ConfigurationError as error:
        message = str(error.message)
        raise BiLmError(message if path in message else f"archive {path}: {message}") from None
