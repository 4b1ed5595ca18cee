"""Predicts with a trained model: `load_predictor`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import default_predictor, load_archive, one_sentence
from elmo_plugin.bilm import BiLmError, in_order
from elmo_plugin.common.bundled import tagger_of
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.common.files import check_outputs
from elmo_plugin.predictions.files import Input, check_format, read_inputs, write_predictions
from elmo_plugin.predictions.prediction import FIELDS, TASKS, Prediction, Task

if TYPE_CHECKING:
    from allennlp.models import Model
    from allennlp.predictors import Predictor as AllenNlpPredictor

BATCH_SIZE = 32
_EXPECTED = "a text, a list of words, or a list of either"
_SPACE = re.compile(r"\s")


class Predictor:
    """
    Predicts with a trained model, see `load_predictor`. `allennlp` is AllenNLP's predictor, which
    has all other attributes.
    """

    def __init__(self, allennlp: "AllenNlpPredictor", task: Task) -> None:
        self.allennlp, self.task = allennlp, task

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__.get("allennlp"), name)

    def __repr__(self) -> str:
        return f"<predictor of {self.task.title.lower()}: {', '.join(self.task.fields)}>"

    def predict(self, *texts: Any, **named: Any) -> Any:
        """
        Returns the prediction for a text, or the predictions for several.

        # Parameters

        texts : `str | Sequence[str] | Iterable[str | Sequence[str]]`
            A text; or the words of a sentence: a list or tuple of strings without any space; or any
            iterable of texts and lists of words, in any mixture. Models of questions and of pairs
            of sentences take two texts, or one list of pairs.
        named : `str`
            The same by name: `sentence`, `document`, `passage` and `question`, `premise` and
            `hypothesis`.

        Raises `BiLmError` or AllenNLP's `ConfigurationError`, naming the text, if one cannot be
        used.
        """
        fields = list(self.task.fields)
        if named := {FIELDS.get(name, name): text for name, text in named.items()}:
            if set(named) != set(fields[len(texts) :]):
                raise BiLmError(f"predict: expected {' and '.join(fields)}, got {', '.join(named)}")
            return self.predict_json(dict(zip(fields, texts, strict=False)) | named)
        if not texts or all(isinstance(text, str) for text in texts):
            return self.predict_json(self.task.from_texts(list(map(str, texts))))
        if len(texts) > 1:
            raise BiLmError(f"predict: expected {' and '.join(fields)}, or one list of inputs")
        if self._is_one(texts[0]):
            return self.predict_json(self.task.from_item(texts[0], "predict"))
        items = in_order(texts[0], "predict", _EXPECTED)
        places = ((f"texts[{number}]", item) for number, item in enumerate(items))
        inputs = (Input(place, self.task.from_item(item, place)) for place, item in places)
        return list(self.predict_each(inputs))

    def _is_one(self, value: Any) -> bool:
        """
        Returns whether a value is one input: a document of spaCy, or a list or tuple of words.
        """
        if isinstance(value, Mapping) or isinstance(getattr(value, "text", None), str):
            return True
        are_words = (
            isinstance(value, list | tuple) and len(self.task.fields) == 1 and len(value) > 0
        )
        return are_words and all(
            isinstance(each, str) and not _SPACE.search(each) for each in value
        )

    def predict_json(self, inputs: dict[str, Any]) -> Prediction:
        """Returns the prediction for the JSON that `allennlp predict` reads."""
        return Prediction(self.allennlp.predict_json(inputs), self.task, inputs)

    def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[Prediction]:
        """Returns the predictions for several inputs, computed together."""
        outputs = self.allennlp.predict_batch_json(inputs)
        return [
            Prediction(output, self.task, each)
            for output, each in zip(outputs, inputs, strict=True)
        ]

    def predict_each(
        self, inputs: Iterable[Input], batch_size: int = BATCH_SIZE
    ) -> Iterator[Prediction]:
        """Yields the prediction for each input, in batches. Errors begin with its place."""
        from allennlp.common.checks import ConfigurationError

        check_at_least("batch_size", batch_size)
        rest = iter(inputs)
        while batch := list(islice(rest, batch_size)):
            try:
                outputs = self.predict_batch_json([each.values for each in batch])
            except (BiLmError, ConfigurationError):  # which of them is it?
                outputs = [self._predict_at(*each[:2]) for each in batch]
            for prediction, each in zip(outputs, batch, strict=True):
                prediction.line = each.line
                yield prediction

    def _predict_at(self, place: str, values: dict[str, Any]) -> Prediction:
        from allennlp.common.checks import ConfigurationError

        try:
            return self.predict_json(values)
        except (BiLmError, ConfigurationError) as error:
            raise BiLmError(f"{place}: {error}") from None

    def predict_file(
        self, path: str | Path, output: str | Path, batch_size: int = BATCH_SIZE
    ) -> None:
        """
        Writes the prediction for each line of a file, see `read_inputs`, to a file .jsonl, .csv,
        .conll or .html, which is whole or not written.
        """
        check_format(output, self.task)
        check_outputs([output], [str(path)])
        inputs = list(read_inputs(path, self.task))
        write_predictions(self.predict_each(inputs, batch_size), output, self.allennlp)


def load_predictor(
    path: str | Path,
    predictor: str | None = None,
    cuda_device: int = -1,
    overrides: str | dict[str, Any] = "",
    trust: bool = False,
    **options: Any,
) -> Predictor:
    """
    Loads a trained model to predict with.

    # Parameters

    path : `str | Path`
        A name of this package, such as "ner", or another word for its task, such as "sentiment"; or
        an archive, see `load_archive`.
    predictor : `str | None`
        The registered name of a predictor; `None` for the model's own.
    cuda_device, overrides, trust
        See `load_archive`.
    **options Arguments of the predictor. If `predicates` is a path or a name, it is the archive of
        a tagger of predicates; `srl` of this package has one.

    Raises `BiLmError` as `load_archive` does, or if the model and the predictor do not fit.
    """
    archive = load_archive(path, cuda_device, overrides, trust=trust)
    from allennlp.predictors import Predictor as AllenNlpPredictor

    task = task_of(archive.model, str(path), predictor)
    tagger = options.get("predicates", tagger_of(path))
    if tagger and isinstance(tagger, str | Path):  # AllenNLP would load it without checks
        options["predicates"] = load_predictor(tagger, None, cuda_device, trust=trust)
        tasks = (task.name, options["predicates"].task.name)
        if task.name in TASKS and tasks != ("srl", "srl_predicates"):
            why = f"{tagger} does not tag" if task.name == "srl" else f"{path} does not need"
            raise BiLmError(f"predicates: {why} predicates")
    # The configuration of a model `from_archive` does not say which predictor it has.
    name = predictor or archive.model.default_predictor
    with (
        one_sentence(f"archive {path}"),
        default_predictor(archive, trust or predictor is not None),
    ):
        allennlp = AllenNlpPredictor.from_archive(archive, name, extra_args=options)
    return Predictor(
        allennlp, task if task.name in TASKS else task._replace(fields=_texts_of(allennlp))
    )


def _texts_of(predictor: "AllenNlpPredictor") -> dict[str, int]:
    """
    Returns the fields of a predictor of the user's: the arguments that its `predict` requires.
    """
    arguments = (
        signature(predictor.predict).parameters.values() if hasattr(predictor, "predict") else ()
    )
    required = [
        each.name
        for each in arguments
        if each.default is each.empty and each.kind < each.VAR_POSITIONAL
    ]
    return dict.fromkeys(required or ["sentence"], 2)


def task_of(model: "Model", path: str, predictor: str | None = None) -> Task:
    """Returns the task of a model or an ensemble, by a predictor or the one that it names."""
    predictor = predictor or getattr(model, "members", [model])[0].default_predictor
    if predictor is None:
        hint = "; show a biLM by --bilm" if type(model).__name__ == "BiLmLanguageModel" else ""
        raise BiLmError(
            f"archive {path}: its model, {type(model).__name__}, lacks a predictor{hint}"
        )
    name = predictor.removeprefix("elmo_")
    return TASKS.get(name) or Task(name, name.replace("_", " ").capitalize(), {"sentence": 2})
