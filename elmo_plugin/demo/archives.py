"""Trained models, each with its task, found from its archive."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tasks import TASKS, Task, other_task
from elmo_plugin.demo.views import Bar, Bars, Part, view
from elmo_plugin.embedding import layer_name, read_mixes

if TYPE_CHECKING:
    from allennlp.predictors import Predictor

_PREFIX = "elmo_"


class LoadedArchive:
    """
    A trained model that predicts in a thread of its own, one input after another.

    # Parameters

    path : `str`
        Of the archive.
    name : `str`
        What a page calls it.
    task : `Task`
        What it reads.
    predictor : `Predictor`
        That of its task.
    tagger : `str | None`, optional (default = `None`)
        The archive of the tagger that finds the predicates of sentences, where this is a model of semantic
        roles that has one.
    """

    def __init__(
        self, path: str, name: str, task: Task, predictor: "Predictor", tagger: str | None = None
    ) -> None:
        self.path, self.name, self.task, self.tagger = path, name, task, tagger
        self.predictor = predictor
        self.mixes = _mix_bars(predictor)
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @property
    def needs_predicates(self) -> bool:
        """Whether an input has to say which words are predicates."""
        return self.task.name == "srl" and self.tagger is None

    def predict(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """
        Returns the predictor's JSON. If neither the input nor a tagger names predicates, there are none.

        Raises `BiLmError` where the input cannot be used.
        """
        given = dict(inputs)
        if self.needs_predicates:
            given.setdefault("predicates", [])
        with _as_bilm_error():
            return self.predictor.predict_json(given)

    def view(self, output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
        """Returns what a person reads of a prediction."""
        return view(self.task.name, output, inputs)

    def command(self, inputs: Mapping[str, Any]) -> str:
        """Returns the command that shows the same prediction."""
        plain = list(inputs) == [field.name for field in self.task.fields]
        texts = list(inputs.values()) if plain else [json.dumps(inputs, ensure_ascii=False)]
        tagger = ["--predicates", self.tagger] if self.tagger else []
        options = ["--"] if any(text.startswith("-") for text in texts) else []
        return shlex.join(["elmo", "predict", self.path, *tagger, *options, *texts])

    def python(self, inputs: Mapping[str, Any]) -> str:
        """Returns the three lines of Python that give the same prediction."""
        arguments = f"{self.path!r}"
        if self.tagger:
            arguments += f", predictor_name='elmo_srl', extra_args={{'predicates': {self.tagger!r}}}"
        return (
            "from elmo_plugin.plugin import allennlp  # registers the models\n"
            f"predictor = allennlp.predictors.Predictor.from_path({arguments})\n"
            f"prediction = predictor.predict_json({dict(inputs)!r})"
        )


def load_archives(paths: Sequence[str]) -> list[LoadedArchive]:
    """
    Loads trained models on the CPU.

    # Parameters

    paths : `Sequence[str]`
        Archives, `model.tar.gz`, or the directories of trainings. A tagger of predicates next to models of
        semantic roles finds the predicates for these.

    Raises `BiLmError` where one of them cannot be loaded, and where AllenNLP is not installed.
    """
    import_all_plugins("a trained model")
    from allennlp.models import load_archive
    from allennlp.predictors import Predictor

    archives = []
    for path in paths:
        with _as_bilm_error(path):
            archive = load_archive(path)
            archives.append((path, archive, task_of(archive.model, path)))
    taggers = [(path, archive) for path, archive, task in archives if task.name == "srl_predicates"]
    has_roles = any(task.name == "srl" for _, _, task in archives)
    tagger, extra = None, None
    if taggers and has_roles:  # one for all models of semantic roles
        tagger, archive = taggers[0]
        with _as_bilm_error(tagger):
            extra = {"predicates": Predictor.from_archive(archive)}
    loaded = []
    for (path, archive, task), name in zip(archives, names([path for path, _, _ in archives]), strict=True):
        if has_roles and task.name == "srl_predicates":
            continue
        is_srl = task.name == "srl"
        with _as_bilm_error(path):
            predictor = Predictor.from_archive(archive, extra_args=extra if is_srl else None)
        loaded.append(LoadedArchive(path, name, task, predictor, tagger if is_srl else None))
    return loaded


def names(paths: Sequence[str]) -> list[str]:
    """
    Returns names that distinguish archives: for `runs/ner/model.tar.gz` the folder's name, and as many
    folders above it as necessary. A folder that is only a number, such as a seed, has the one above it before
    it.
    """
    parts = [list(Path(path).absolute().parts[1:]) for path in paths]
    parts = [each[:-1] if each[-1] == "model.tar.gz" and len(each) > 1 else each for each in parts]
    length = 1
    while True:
        short = [each[-length:] for each in parts]
        is_number = any(each[0].isdigit() for each in short)
        is_ambiguous = len({tuple(each) for each in short}) < len({tuple(each) for each in parts})
        if length >= max(map(len, parts), default=0) or not (is_number or is_ambiguous):
            return ["/".join(each) for each in short]
        length += 1


def task_of(model: Any, path: str) -> Task:
    """Returns the task of a model, by the predictor that it names."""
    member = model.members[0] if hasattr(model, "members") else model  # those of an ensemble
    predictor = member.default_predictor
    if predictor is None:
        hint = "; show a biLM by --bilm" if type(model).__name__ == "BiLmLanguageModel" else ""
        raise BiLmError(f"archive {path}: its model, {type(model).__name__}, has no predictor{hint}")
    name = predictor.removeprefix(_PREFIX)
    return TASKS.get(name) or other_task(name)


def _mix_bars(predictor: "Predictor") -> list[Bars]:
    """Returns how much each layer of the biLM counts, for each placement of ELMo."""
    return [
        Bars(
            mix.placement,
            [
                Bar(layer_name(number), weight)
                for number, weight in zip(mix.layers, mix.normalized_weights, strict=True)
            ],
        )
        for mix in read_mixes(predictor._model.state_dict())
    ]


@contextmanager
def _as_bilm_error(path: str = "") -> Iterator[None]:
    """Turns AllenNLP's `ConfigurationError` of the block into a `BiLmError`, which names the archive."""
    from allennlp.common.checks import ConfigurationError

    try:
        yield
    except ConfigurationError as error:
        message = error.message if isinstance(error.message, str) else str(error)
        raise BiLmError(message if path in message else f"archive {path}: {message}") from None
