"""Predicts with a trained model: `load_predictor`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.archives import load_archive, naming_archive, safe_default_predictor
from elmo_plugin.bilm import BiLmError, listed_items
from elmo_plugin.common.bundled import tagger_of
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.common.meanings import no_attribute
from elmo_plugin.common.outputs import check_outputs
from elmo_plugin.common.task_cards import InputText, TaskCard
from elmo_plugin.predictions.files import check_format, write_predictions
from elmo_plugin.predictions.input_files import count_inputs, read_inputs
from elmo_plugin.predictions.inputs import Input, input_of_item, input_of_texts
from elmo_plugin.predictions.prediction import TASKS, Prediction

if TYPE_CHECKING:
    from allennlp.models import Model
    from allennlp.predictors import Predictor

BATCH_SIZE = 32
_BATCHES_READ_AHEAD = 8  # their inputs are sorted by length together
_EXPECTED_INPUTS = "a text, a list of words, or a list or column of either"
_SPACE = re.compile(r"\s")


class TextPredictor:
    """
    Predicts from texts with a trained model, see `load_predictor`.

    allennlp: AllenNLP's predictor; attributes that this class does not have are looked up there
    config: the configuration of the model
    tagger: finds the predicates for a model that needs them
    """

    def __init__(
        self,
        allennlp: "Predictor",
        task: TaskCard,
        config: Mapping[str, Any] | None = None,
        tagger: "TextPredictor | None" = None,
    ) -> None:
        self.allennlp = allennlp
        self.task = task
        self.config = config
        self.tagger = tagger

    @property
    def models(self) -> "list[Model]":
        """The model, and the tagger's model."""
        models = [self.allennlp._model]
        if self.tagger is not None:
            models += self.tagger.models
        return models

    @property
    def is_stateful(self) -> bool:
        """
        Whether predictions depend on the texts before them, because a part of the model carries a
        state from batch to batch.
        """
        if not hasattr(self.allennlp, "_model"):  # a user's predictor: this cannot be known
            return True
        for model in self.models:
            if any(getattr(module, "stateful", False) for module in model.modules()):
                return True
        return False

    def __getattr__(self, name: str) -> Any:
        """
        Returns the attribute of AllenNLP's predictor. If it does not exist, but another library
        calls something so, the `AttributeError` says what that is called here.
        """
        # While this object is unpickled, it does not have attributes yet, and `self.allennlp` would
        # call this method again without end.
        allennlp = self.__dict__.get("allennlp")
        if hasattr(allennlp, name):
            return getattr(allennlp, name)
        raise no_attribute("TextPredictor", name)

    def __repr__(self) -> str:
        return f"<predictor of {self.task.title.lower()}: {', '.join(self.task.text_names)}>"

    def predict(self, *texts: Any, **named: Any) -> Any:
        """
        Returns the prediction for a text, or the predictions for several.

        # Parameters

        texts : `str | Sequence[str] | Iterable[str | Sequence[str]]`
            A text, or the words of a sentence, or several inputs. A list or tuple of strings is the
            words of a sentence if none of the strings has a space. Any other iterable is several
            inputs, each a text or a list of words. Models of questions and of pairs of sentences
            take two texts, or one list of pairs.
        named : `str`
            The same by name: `sentence`, `document`, `passage` and `question`, `premise` and
            `hypothesis`.

        # Returns

        `Prediction | list[Prediction]`

        Raises `BiLmError` or AllenNLP's `ConfigurationError`, naming the text, if one cannot be
        used.
        """
        names = self.task.text_names
        if named:
            return self.predict_json(self._named_input(texts, named))
        # Without any text, `input_of_texts` raises an error that says how many are expected.
        if all(isinstance(text, str) for text in texts):
            plain = [str(text) for text in texts]  # numpy's strings are of a subclass of `str`
            return self.predict_json(input_of_texts(self.task, plain))
        if len(texts) > 1:
            raise BiLmError(f"predict: expected {' and '.join(names)}, or one list of inputs")
        if self._is_one_input(texts[0]):
            return self.predict_json(input_of_item(self.task, texts[0], place="predict"))
        return list(self.predict_each(self._numbered_inputs(texts[0])))

    def __call__(self, *texts: Any, **named: Any) -> Any:
        """Returns what `predict` returns."""
        return self.predict(*texts, **named)

    def _named_input(self, texts: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """
        Returns the input of a call in which the first texts are given by position, and all others
        by name. Raises `BiLmError` unless each text of the task is given once.
        """
        names = self.task.text_names
        inputs = dict(zip(names, texts, strict=False))  # the texts may be fewer than the names
        # A text may be given by another name that the task knows, such as `context` for `passage`.
        by_usual_name = {self.task.usual_name(name): text for name, text in named.items()}
        remaining_names = names[len(texts) :]
        if set(by_usual_name) != set(remaining_names):
            got = ", ".join(by_usual_name)
            hint = ""
            if "batch_size" in by_usual_name:
                hint = "; predict_file takes a batch_size"
            raise BiLmError(f"predict: expected {' and '.join(names)}, got {got}{hint}")
        inputs.update(by_usual_name)
        return inputs

    def _numbered_inputs(self, items: Any) -> Iterator[Input]:
        """Yields the input for each item of an iterable. Its place, for messages, is its index."""
        for number, item in enumerate(listed_items(items, "predict", _EXPECTED_INPUTS)):
            place = f"texts[{number}]"
            yield Input(place, input_of_item(self.task, item, place))

    def _is_one_input(self, value: Any) -> bool:
        """
        Returns whether a value is one input, not a list of inputs: a mapping, a document of spaCy,
        or a list or tuple of words.
        """
        is_document_of_spacy = isinstance(getattr(value, "text", None), str)
        if isinstance(value, Mapping) or is_document_of_spacy:
            return True
        if not isinstance(value, list | tuple) or len(value) == 0:
            return False
        if len(self.task.texts) > 1:  # a list of pairs of texts
            return False
        return all(isinstance(word, str) and not _SPACE.search(word) for word in value)

    def predict_json(self, inputs: dict[str, Any]) -> Prediction:
        """Returns the prediction for the JSON that `allennlp predict` reads."""
        return Prediction(self.allennlp.predict_json(inputs), self.task, inputs)

    def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[Prediction]:
        """Returns the predictions for several inputs, computed together."""
        predictions = []
        outputs = self.allennlp.predict_batch_json(inputs)
        for output, given in zip(outputs, inputs, strict=True):
            predictions.append(Prediction(output, self.task, given))
        return predictions

    def predict_each(
        self, inputs: Iterable[Input], batch_size: int = BATCH_SIZE
    ) -> Iterator[Prediction]:
        """
        Yields the prediction for each input, in order. Several batches are read ahead, so that
        inputs of about the same length can be computed together. Raises `BiLmError`, beginning with
        the place of the input, if an input cannot be used.
        """
        check_at_least("batch_size", batch_size, least=1)
        num_read_ahead = batch_size * _BATCHES_READ_AHEAD
        # With a single input in each batch, nothing is gained. A stateful model must read the
        # inputs in their order.
        if batch_size == 1 or self.is_stateful:
            num_read_ahead = batch_size
        remaining = iter(inputs)
        while inputs_ahead := list(islice(remaining, num_read_ahead)):
            yield from self._predict_by_length(inputs_ahead, batch_size)

    def _predict_by_length(self, inputs: Sequence[Input], batch_size: int) -> list[Prediction]:
        """
        Returns the prediction for each input, and raises as `predict_each` does. Inputs of about
        the same length are computed together, because all texts of a batch are padded to the length
        of the longest one.
        """
        lengths = [_length(given) for given in inputs]
        indices_by_length = sorted(range(len(inputs)), key=lengths.__getitem__)
        predictions: dict[int, Prediction] = {}  # by the index of the input
        for start in range(0, len(inputs), batch_size):
            # In their order again, so that an error names the first mistake of the batch.
            indices = sorted(indices_by_length[start : start + batch_size])
            batch = [inputs[index] for index in indices]
            predictions.update(zip(indices, self._predict_batch(batch), strict=True))
        return [predictions[index] for index in range(len(inputs))]

    def _predict_batch(self, batch: Sequence[Input]) -> list[Prediction]:
        """Returns the predictions for one batch, and raises as `predict_each` does."""
        # Imported here, so that this file can be imported without AllenNLP, which takes seconds.
        from allennlp.common.checks import ConfigurationError

        try:
            predictions = self.predict_batch_json([given.values for given in batch])
        except (BiLmError, ConfigurationError):
            # Again one at a time, so that the message names the input with the mistake.
            predictions = [self._predict_one(given) for given in batch]
        for prediction, given in zip(predictions, batch, strict=True):
            prediction.line = given.line
        return predictions

    def _predict_one(self, given: Input) -> Prediction:
        """Returns the prediction for an input, and raises as `predict_each` does."""
        from allennlp.common.checks import ConfigurationError

        try:
            return self.predict_json(given.values)
        except (BiLmError, ConfigurationError) as error:
            raise BiLmError(f"{given.place}: {error}") from None

    def predict_file(
        self, path: str | Path, output: str | Path, batch_size: int = BATCH_SIZE
    ) -> None:
        """
        Writes the prediction for each line of a file (see `read_inputs`) to a .jsonl, .json, .csv,
        .conll or .html file, completely or not at all.
        """
        check_format(output, self.task)
        check_outputs([output], [str(path)])
        count_inputs([str(path)], self.task)  # raises errors before the first prediction
        inputs = read_inputs(path, self.task)  # one at a time, so the file may be large
        write_predictions(self.predict_each(inputs, batch_size), output, self.allennlp)


def _length(given: Input) -> int:
    """Returns about how many characters the texts of an input have."""
    return sum(len(str(value)) for value in given.values.values())


def load_predictor(
    path: str | Path,
    predictor: str | None = None,
    cuda_device: int = -1,
    overrides: str | dict[str, Any] = "",
    trust: bool = False,
    **options: Any,
) -> TextPredictor:
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
    **options
        Arguments of the predictor. `predicates` is a tagger of predicates: a path or a name as for
        `path`, or a predictor. The model "srl" of this package already comes with one.

    Raises `BiLmError` as `load_archive` does, or if the model and the predictor do not fit.
    """
    if predictor is not None and _SPACE.search(predictor):
        raise BiLmError(
            f"load_predictor: expected the name of a predictor, got a text, {predictor!r:.60}; "
            f"write load_predictor({str(path)!r}).predict(text)"
        )
    archive = load_archive(path, cuda_device, overrides, trust=trust)
    # Imported after the checks, because AllenNLP takes seconds to import.
    from allennlp.predictors import Predictor

    task = task_of(archive.model, str(path), predictor)
    predicates = options.get("predicates", tagger_of(path))
    tagger = None
    if isinstance(predicates, TextPredictor):
        tagger = predicates
    elif predicates and isinstance(predicates, str | Path):
        # Loaded here, because AllenNLP's predictor would load the archive without any checks.
        tagger = load_predictor(predicates, cuda_device=cuda_device, trust=trust)
        _check_tagger(task, str(path), tagger.task, str(predicates))
        options["predicates"] = tagger
    # Without a name, AllenNLP would look for one in the configuration. That of a fine-tuned model,
    # of type `from_archive`, does not contain a name, but the model itself knows it.
    name = predictor or archive.model.default_predictor
    # A predictor that the user names is trusted, and the archive's own is checked first.
    is_trusted = trust or predictor is not None
    with (
        naming_archive(f"archive {path}"),
        safe_default_predictor(archive, trust=is_trusted),
    ):
        allennlp = Predictor.from_archive(archive, name, extra_args=options)
    if task.name not in TASKS:  # only the predictor shows which texts a task of the user's has
        task = replace(task, texts=_texts_of(allennlp))
    return TextPredictor(allennlp, task, archive.config.as_dict(quiet=True), tagger)


def _check_tagger(task: TaskCard, path: str, tagger_task: TaskCard, tagger: str) -> None:
    """
    Raises `BiLmError` if a task of this package does not take predicates from this tagger. A task
    of the user's may take them from any tagger.
    """
    if task.name not in TASKS or task.tagger == tagger_task.name:
        return
    if task.tagger:
        raise BiLmError(f"predicates: {tagger} does not tag predicates")
    raise BiLmError(f"predicates: {path} does not need predicates")


def _texts_of(predictor: "Predictor") -> tuple[InputText, ...]:
    """
    Returns the texts that a predictor of the user's reads: the arguments that its `predict`
    requires.
    """
    required = []
    if hasattr(predictor, "predict"):
        for argument in signature(predictor.predict).parameters.values():
            is_positional = argument.kind in (
                Parameter.POSITIONAL_ONLY,
                Parameter.POSITIONAL_OR_KEYWORD,
            )
            if is_positional and argument.default is Parameter.empty:
                required.append(InputText(argument.name))
    if not required:  # such as a predictor with `predict_json` only: most read a sentence
        return (InputText("sentence"),)
    return tuple(required)


def task_of(model: "Model", path: str, predictor: str | None = None) -> TaskCard:
    """
    Returns the task of a model or an ensemble, by the name of the predictor: the given one, or else
    the model's default. Raises `BiLmError` if neither is known.
    """
    members = getattr(model, "members", [model])  # an ensemble has several
    predictor = predictor or members[0].default_predictor
    if predictor is None:
        hint = ""
        # Compared by name, because this package does not import `language_model`.
        if type(model).__name__ == "BiLmLanguageModel":
            hint = "; show a biLM by --bilm"
        raise BiLmError(
            f"archive {path}: its model, {type(model).__name__}, has no predictor{hint}"
        )
    name = predictor.removeprefix("elmo_")  # such as "ner" from "elmo_ner"
    if name in TASKS:
        return TASKS[name]
    return TaskCard(name, title=name.replace("_", " ").capitalize())
