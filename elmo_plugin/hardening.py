"""
Makes AllenNLP's own commands safer when it is imported, as a line of `.allennlp_plugins`:

- A mistake in a configuration is one sentence that begins with its key, such as
  `model.encoder.hidden_size`. AllenNLP makes objects by `FromParams.from_params`, and their arguments by
  `construct_arg`. What either raises gets the names of the arguments on its way out, up to the first object
  that knows its own place in the configuration.
- Archives are loaded as data, by `elmo_plugin.archives.load_archive`.
- `allennlp predict` and `allennlp evaluate` never write over their inputs.

`docs/hardening.md` lists all replacements.
"""

import argparse
import collections.abc
import inspect
import os
import re
import sys
import types
import typing
from collections.abc import Iterable
from textwrap import shorten
from typing import Any, get_args, get_origin

import torch
from allennlp import models
from allennlp.commands import evaluate, predict
from allennlp.commands.train import TrainModel
from allennlp.common import Lazy, Params, from_params
from allennlp.common import params as params_module
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import FromParams
from allennlp.common.util import SigTermReceived
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import spacy_tokenizer
from allennlp.models import archival
from allennlp.predictors import Predictor, predictor

from elmo_plugin import archives
from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.outputs import check_outputs
from elmo_plugin.porting.check import NO_SPACY_MODEL, refuse_old

CONSTRUCT_ARG = from_params.construct_arg
FROM_PARAMS = FromParams.__dict__["from_params"].__func__
GET_PREDICTOR = predict._get_predictor
EVALUATE = evaluate.evaluate_from_archive
GET_SPACY_MODEL = spacy_tokenizer.get_spacy_model
EXCEPTHOOK = sys.excepthook
WITH_OVERRIDES = params_module.with_overrides

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_LISTS = (list, tuple, set, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)
_NOT_MISTAKES = (OSError, MemoryError, SigTermReceived, torch.cuda.OutOfMemoryError)
_NO_OPTION = re.compile(r".*got an unexpected keyword argument '(.*)'")
_LONGEST = 300
_JSONNET = ("STATIC ERROR", "RUNTIME ERROR")  # of a configuration or of --overrides


class MistakeError(ConfigurationError):
    """
    A mistake in a configuration: its reason, and the keys that lead to it with dots between them. `is_whole`
    says that they begin at the top of the file.
    """

    def __init__(self, reason: str, path: str = "", is_whole: bool = False) -> None:
        is_named = not path or reason.startswith(path) or f'"{path}."' in reason
        super().__init__(reason if is_named else f"{path}: {reason}")
        self.reason, self.path, self.is_whole = reason, path, is_whole

    def __reduce__(self) -> tuple[Any, ...]:
        return MistakeError, (self.reason, self.path, self.is_whole)


def make_from_params(
    cls: type[Any],
    params: Params,
    constructor_to_call: Any = None,
    constructor_to_inspect: Any = None,
    **extras: Any,
) -> Any:
    """Raises `MistakeError` if an object cannot be made, whatever the reason."""
    path = getattr(params, "history", "").rstrip(".")
    try:
        _check_object(params)
        if cls is TrainModel:
            _take_excepthook()  # from AllenNLP's log
            if problem := refuse_old(_plain(params)):
                raise MistakeError(problem[1], problem[0], is_whole=True)
        return FROM_PARAMS(cls, params, constructor_to_call, constructor_to_inspect, **extras)
    except MistakeError as error:
        if error.is_whole or not path:
            raise
        whole = f"{path}.{error.path}" if error.path else path
        raise MistakeError(error.reason, whole, is_whole=True) from error.__cause__
    except _NOT_MISTAKES:
        raise
    except Exception as error:
        if _is_from_reading(error):
            raise
        raise MistakeError(_reason(error, cls.__name__), path, is_whole=bool(path)) from error


def construct_arg(
    class_name: str, argument_name: str, popped_params: Any, annotation: Any, default: Any, **extras: Any
) -> Any:
    """Raises `MistakeError` if an argument has another type, or cannot be made."""
    expected = annotation
    if isinstance(annotation, types.UnionType) and popped_params is not default:
        kinds = [kind for kind in get_args(annotation) if kind is not types.NoneType]
        expected = kinds[0] if len(kinds) == 1 and kinds[0] in _KINDS else annotation
    try:
        if get_origin(expected) is Lazy and popped_params is not default:
            _check_object(popped_params)
            if isinstance(popped_params, str):  # made later, when its place is no longer known
                popped_params = Params({"type": popped_params}, history=f"{argument_name}.")
        if get_origin(expected) in _LISTS and isinstance(popped_params, str) and get_args(expected) != (str,):
            raise MistakeError(f"expected a list, not {popped_params!r}")  # and not each of its characters
        return CONSTRUCT_ARG(class_name, argument_name, popped_params, expected, default, **extras)
    except MistakeError as error:
        raise _below(argument_name, error) from error.__cause__
    except _NOT_MISTAKES:
        raise
    except Exception as error:
        attempts = _attempts(error) if get_origin(expected) is typing.Union else []
        deepest = max(attempts, key=lambda mistake: len(mistake.path), default=None)
        if deepest is not None and deepest.path != argument_name:
            raise _below(argument_name, deepest) from error
        kind = _kind(expected)
        if kind is not None and (attempts or _is_of_another_kind(popped_params, expected)):
            reason = f"expected {kind}, not {_shown(popped_params)}"
        else:
            reason = _reason(error, class_name)
        raise MistakeError(reason, argument_name) from error


def load_archive(*args: Any, **kwargs: Any) -> archival.Archive:
    """Loads an archive as data."""
    with as_configuration_error():
        return archives.load_archive(*args, **kwargs)


def get_predictor(args: argparse.Namespace) -> Predictor:
    """
    Raises `ConfigurationError` if the output of `allennlp predict` is one of its inputs, or the predictor
    does not take `--predictor-args`.
    """
    _check_outputs([args.output_file], [args.input_file, args.archive_file, args.weights_file])
    try:
        return GET_PREDICTOR(args)
    except (TypeError, ValueError) as error:
        if args.predictor_args.strip():
            raise ConfigurationError(
                f"--predictor-args {args.predictor_args}: {_reason(error, '')}"
            ) from error
        raise


def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """
    Raises `ConfigurationError` if an output of `allennlp evaluate` is one of its inputs, or the model does
    not return `--batch-weight-key`.
    """
    options = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    inputs = [*options["input_file"].split(","), options["archive_file"], options.get("weights_file")]
    names = ("metrics_output_file", "predictions_output_file")
    outputs = [output for name in names for output in (options.get(name) or "").split(",")]
    _check_outputs(outputs, inputs)
    try:
        return EVALUATE(*args, **kwargs)
    except KeyError as error:
        if (key := options.get("batch_weight_key")) and error.args == (key,):
            raise ConfigurationError(f"--batch-weight-key {key}: the model does not return it") from error
        raise


def get_spacy_model(name: str, *args: Any, **kwargs: Any) -> Any:
    """Raises `ConfigurationError` if a model of spaCy is not installed and cannot be downloaded."""
    try:
        return GET_SPACY_MODEL(name, *args, **kwargs)
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"spaCy's model {name} {NO_SPACY_MODEL}") from error


def excepthook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """Ends a program with one sentence if the user made a mistake, and as Python does otherwise."""
    is_of_jsonnet = isinstance(error, RuntimeError) and str(error).startswith(_JSONNET)
    is_mistake = is_of_jsonnet or isinstance(error, ConfigurationError | BiLmError)
    if is_mistake and not os.environ.get("ALLENNLP_DEBUG"):
        print(f"{kind.__name__}: {str(error).strip()}", file=sys.stderr)
    else:
        EXCEPTHOOK(kind, error, traceback)


def _take_excepthook() -> None:
    global EXCEPTHOOK
    if sys.excepthook is not excepthook:
        EXCEPTHOOK, sys.excepthook = sys.excepthook, excepthook


def with_overrides(original: Any, overrides_dict: Any, prefix: str = "") -> Any:
    """Raises `ConfigurationError` if an override is of a key that does not exist."""
    try:
        return WITH_OVERRIDES(original, overrides_dict, prefix)
    except ValueError as error:
        raise ConfigurationError(f"--overrides: {error}") from error


def _check_outputs(outputs: Iterable[str | None], inputs: Iterable[Any]) -> None:
    with as_configuration_error():
        check_outputs(filter(None, outputs), filter(None, inputs))


def _check_object(params: Any) -> None:
    if params is not None and not isinstance(params, Params | str):
        raise MistakeError(f"expected an object or the name of a type, not {_shown(params)}")
    name = params.get("type", "") if isinstance(params, Params) else ""
    if not isinstance(name, str):
        raise MistakeError(f"expected text, not {_shown(name)}", "type")


def _is_from_reading(error: BaseException) -> bool:
    """Returns whether a dataset reader raised the error while it read its data; the error names the file."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if isinstance(frame.f_locals.get("self"), DatasetReader) and frame.f_code.co_name != "__init__":
            return True
        traceback = traceback.tb_next
    return False


def _below(argument_name: str, error: MistakeError) -> MistakeError:
    """Returns the mistake with the name of the argument that it is in."""
    is_there = error.is_whole or f"{error.path}.".startswith(f"{argument_name}.")  # as of `embedders.elmo`
    path = error.path if is_there else f"{argument_name}.{error.path}".rstrip(".")
    return MistakeError(error.reason, path, error.is_whole)


def _attempts(error: BaseException) -> list[MistakeError]:
    """Returns AllenNLP's attempts at each type of a union: the causes of the error."""
    mistakes = []
    cause = error.__cause__
    while isinstance(cause, MistakeError):
        mistakes.append(cause)
        cause = cause.__cause__
    return mistakes


def _kind(annotation: Any) -> str | None:
    """Returns a description of the values of a type, or `None` for types without one."""
    origin = get_origin(annotation)
    if origin is typing.Union:
        kinds = [_kind(kind) for kind in get_args(annotation) if kind is not types.NoneType]
        return " or ".join(kind for kind in kinds if kind) if all(kinds) else None
    if origin in (*_LISTS, *_OBJECTS):
        return "an object" if origin in _OBJECTS else "a list"
    return "an object" if hasattr(annotation, "from_params") else _KINDS.get(annotation)


def _is_of_another_kind(value: Any, annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in _LISTS:
        return not isinstance(value, list | tuple | set)
    if origin in _OBJECTS:
        return not isinstance(value, collections.abc.Mapping)
    return annotation in _KINDS


def _reason(error: Exception, name: str) -> str:
    """Returns the message of an error in one line, shortened if it comes from a library."""
    message = " ".join(str(error).split())
    if isinstance(error, ConfigurationError | BiLmError):
        return message
    unknown = _NO_OPTION.match(message) if isinstance(error, TypeError) else None
    if unknown is not None:
        return f"{name} does not take the option {unknown[1]!r}"
    return f"cannot be made ({type(error).__name__}: {shorten(message, _LONGEST)})"


def _shown(value: Any) -> str:
    return shorten(repr(_plain(value)), _LONGEST)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.as_dict(quiet=True) if isinstance(value, Params) else value


FromParams.from_params = classmethod(make_from_params)  # type: ignore[assignment]
from_params.construct_arg = construct_arg
predict._get_predictor = get_predictor
evaluate.evaluate_from_archive = evaluate_from_archive
spacy_tokenizer.get_spacy_model = get_spacy_model  # type: ignore[assignment]
_take_excepthook()
params_module.with_overrides = with_overrides
for module in (archival, models, predictor, predict, evaluate):  # each looks it up
    module.load_archive = load_archive  # type: ignore[attr-defined]
