"""
Makes AllenNLP's own commands safer when it is imported, as a line of `.allennlp_plugins`:

- A training begins only if `elmo_plugin.config_check` finds no mistake in its configuration.
- Archives are loaded as data, by `elmo_plugin.archives.load_archive`.
- `allennlp predict` and `allennlp evaluate` never write over their inputs.

`docs/hardening.md` lists all replacements.
"""

import argparse
import inspect
import json
import logging
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from allennlp import models
from allennlp.commands import evaluate, predict, train
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from allennlp.models import archival
from allennlp.predictors import Predictor, predictor

from elmo_plugin import archives, shims
from elmo_plugin.common.errors import (
    TOO_LITTLE_MEMORY,
    TRUST,
    BiLmError,
    as_configuration_error,
    is_lack_of_memory,
    message_of,
)
from elmo_plugin.common.files import NO_ROOM, atomic_write, reason
from elmo_plugin.common.logs import close_log_files
from elmo_plugin.common.nested_values import values_in
from elmo_plugin.common.outputs import check_outputs
from elmo_plugin.common.streams import show, show_lines
from elmo_plugin.config_check import mistakes, raise_for_mistakes
from elmo_plugin.migration.porting import Note, note_on_first_old_key
from elmo_plugin.training import check_recovery

GET_PREDICTOR = predict._get_predictor
EVALUATE = evaluate.evaluate_from_archive
ARCHIVE_MODEL = archival.archive_model
TRAIN_MODEL = train.train_model
# `Predictor.from_archive` is bound to the class `Predictor`. This is the function under it, so that
# it can be called for subclasses too.
FROM_ARCHIVE = inspect.getattr_static(Predictor, "from_archive").__func__
EXCEPTHOOK = sys.excepthook

# Errors that are raised for a mistake of the user.
MISTAKES = (ConfigurationError, BiLmError, FileNotFoundError)
_ADVICE_TO_CONVERT = "this is of AllenNLP 0.9 or 1.x, so convert the file: elmo port"
_ADVICE_ON_TRUST = (
    "if you trust it, use elmo predict --trust, or take elmo_plugin.hardening out of "
    ".allennlp_plugins"
)
_ADVICE_TO_RECOVER = "--recover continues a training from its last checkpoint"
# How the messages about mistakes in Jsonnet or in --overrides begin.
_JSONNET_MISTAKES = ("STATIC ERROR", "RUNTIME ERROR", "overrides ")


def train_model(params: Params, *args: Any, **kwargs: Any) -> Any:
    """
    Trains as AllenNLP does, if the configuration has no mistakes. Raises `ConfigurationError` with
    all mistakes before anything is made or written. If another mistake of the user ends the
    training later, a new folder without weights is removed.
    """
    # A copy, because AllenNLP takes the keys out of `params` while it trains.
    config = params.duplicate().as_dict(quiet=True)
    found = mistakes(config)
    old_key = note_on_first_old_key(config)
    if found and old_key:
        # `elmo port` mends everything that is old, so the mistakes are not listed.
        raise ConfigurationError(f"{old_key}; {_ADVICE_TO_CONVERT}")
    raise_for_mistakes(found)
    arguments = inspect.signature(TRAIN_MODEL).bind(params, *args, **kwargs).arguments
    folder = Path(arguments["serialization_dir"])
    if arguments.get("recover"):
        check_recovery(folder, params)
    is_new = not folder.exists()  # a folder that was there before is never removed
    try:
        with _logging_without_tracebacks(), _explaining_old_key(old_key):
            return TRAIN_MODEL(params, *args, **kwargs)
    except MISTAKES:
        if is_new:
            _remove_untrained(folder)
        raise
    finally:
        _take_excepthook()  # because AllenNLP has installed its own hook


@contextmanager
def _logging_without_tracebacks() -> Iterator[None]:
    """
    Ignores errors in writing the log. On a full disk, Python would print a traceback for each line.
    """
    raised_before = logging.raiseExceptions
    logging.raiseExceptions = False
    try:
        yield
    finally:
        logging.raiseExceptions = raised_before


@contextmanager
def _explaining_old_key(old_key: Note | None) -> Iterator[None]:
    """
    Raises a `ConfigurationError` about the old key of a configuration in place of the `TypeError`
    of a constructor that does not know a key. Python raises that `TypeError` if a class takes
    `**kwargs`, and passes the old key on to a base class.
    """
    try:
        yield
    except TypeError as error:
        if old_key is None or "__init__() got an unexpected" not in str(error):
            raise
        raise ConfigurationError(f"{old_key}; {_ADVICE_TO_CONVERT}") from error


def archive_model(
    serialization_dir: str | os.PathLike[str],
    weights: str = "best.th",
    archive_path: str | os.PathLike[str] | None = None,
    include_in_archive: list[str] | None = None,
) -> str:
    """
    Packs the archive of a training as AllenNLP does. If that fails, no unfinished file is left.
    """
    path = Path(archive_path or serialization_dir)
    if path.is_dir():  # AllenNLP writes the archive into the folder
        path = path / "model.tar.gz"
    with atomic_write(path) as temporary:
        ARCHIVE_MODEL(serialization_dir, weights, str(temporary), include_in_archive)
    return str(path)


def _remove_untrained(folder: Path) -> None:
    """Removes the folder of a training, unless it has weights already."""
    if not any(folder.glob("*.th")):
        close_log_files()
        shutil.rmtree(folder, ignore_errors=True)


def load_archive(*args: Any, **kwargs: Any) -> archival.Archive:
    """
    Passes its arguments to `elmo_plugin.archives.load_archive`, and raises the errors of that
    function as `ConfigurationError`.
    """
    try:
        return archives.load_archive(*args, **kwargs)
    except BiLmError as error:
        # The message may advise `--trust`, an option that AllenNLP's commands do not have.
        message = str(error).replace(TRUST, _ADVICE_ON_TRUST)
        raise ConfigurationError(message) from None


def get_predictor(args: argparse.Namespace) -> Predictor:
    """
    Makes the predictor of `allennlp predict`. Raises `ConfigurationError` if the output is one of
    the inputs, if `--predictor-args` is not JSON, or if the predictor does not take it.
    """
    _check_outputs([args.output_file], [args.input_file, args.archive_file, args.weights_file])
    try:
        return GET_PREDICTOR(args)
    except (TypeError, ValueError) as error:
        if not args.predictor_args.strip():
            raise
        raise ConfigurationError(
            f"--predictor-args {args.predictor_args}: {message_of(error)}"
        ) from error


@wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """
    Evaluates a model, as `allennlp evaluate` does. Raises `ConfigurationError` if an output is one
    of the inputs, or the model does not return `--batch-weight-key`.
    """
    options = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    data = _data_of_evaluations(options["input_file"])
    inputs = [*_paths_in(data), options["archive_file"], options.get("weights_file")]
    _check_outputs(_outputs_of_evaluations(options, data), inputs)
    try:
        return EVALUATE(*args, **kwargs)
    except KeyError as error:
        key = options.get("batch_weight_key")
        is_about_this_key = bool(key) and error.args == (key,)
        if not is_about_this_key:
            raise
        raise ConfigurationError(
            f"--batch-weight-key {key}: the model does not return it"
        ) from error


def _data_of_evaluations(input_file: str) -> list[Any]:
    """
    Returns the data of each evaluation that `allennlp evaluate` makes. As AllenNLP does, this first
    reads the argument as JSON, such as `{"ner": "dev.txt"}`. If it is not JSON, it is a list of
    paths with commas between them.
    """
    try:
        data: list[Any] = json.loads(f"[{input_file}]")
    except json.JSONDecodeError:
        return input_file.split(",")
    return data


def _paths_in(data: list[Any]) -> Iterator[str]:
    """Yields all texts in a list, at any depth, because each of them may be a path."""
    for _, value in values_in(data):
        if isinstance(value, str):
            yield value


def _outputs_of_evaluations(options: Mapping[str, Any], data: list[Any]) -> list[str]:
    """Returns the files with metrics and predictions that `allennlp evaluate` writes."""
    auto_names = options.get("auto_names")
    metrics = _output_files(
        options.get("metrics_output_file"),
        data,
        suffix=".outputs",
        is_automatic=auto_names in ("METRICS", "ALL"),
    )
    predictions = _output_files(
        options.get("predictions_output_file"),
        data,
        suffix=".preds",
        is_automatic=auto_names in ("PREDS", "ALL"),
    )
    return metrics + predictions


def _output_files(given: str | None, data: list[Any], suffix: str, is_automatic: bool) -> list[str]:
    """
    Returns the files that AllenNLP writes for one option, such as `--output-file`. `given` is the
    value of the option. With `is_automatic`, AllenNLP ignores that value, except that there has to
    be one. It writes a file with the `suffix` beside each file of the data.
    """
    if given is None:
        return []
    if not is_automatic:
        return given.split(",")
    outputs = []
    for file in _paths_in(data):
        path = Path(file)
        outputs.append(str(path.parent / f"{path.stem}{suffix}"))
    return outputs


def from_archive(
    cls: Any, archive: Any, predictor_name: str | None = None, *args: Any, **kwargs: Any
) -> Any:
    """
    Takes the place of the class method `Predictor.from_archive`. Without a `predictor_name`, the
    archive names the predictor. Raises `ConfigurationError` if that predictor reads files or loads
    other models.
    """
    # The archive did not choose a predictor that the caller names, so it is trusted.
    is_named_by_caller = predictor_name is not None
    with (
        as_configuration_error(),
        archives.safe_default_predictor(archive, trust=is_named_by_caller),
    ):
        return FROM_ARCHIVE(cls, archive, predictor_name, *args, **kwargs)


def excepthook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """
    Prints the error that ends a program. A mistake of the user, a full disk, a lack of memory or a
    signal is printed without a traceback. Nothing is printed if nobody reads the output any more.
    All other errors are printed as Python does it.
    """
    wants_tracebacks = bool(os.environ.get("ALLENNLP_DEBUG"))  # AllenNLP's variable for debugging
    if _is_mistake(error) and not wants_tracebacks:
        # Several lines, because Jsonnet's message has one for each call that led to the mistake.
        show_lines(f"{kind.__name__}: {str(error).strip()}", file=sys.stderr)
        return
    if isinstance(error, BrokenPipeError):
        return  # `allennlp predict … | head` raises it, and no reader is left for a message
    interruption = _interruption(error)
    if interruption:
        show(f"{interruption}; {_ADVICE_TO_RECOVER}", file=sys.stderr)
    else:
        EXCEPTHOOK(kind, error, traceback)


def _is_mistake(error: BaseException) -> bool:
    """Returns whether an error is about a mistake of the user."""
    if isinstance(error, MISTAKES):
        return True
    # Jsonnet raises these two classes for a mistake. Much other code raises them for other reasons,
    # so the message decides.
    may_be_of_jsonnet = isinstance(error, RuntimeError | ValueError)
    return may_be_of_jsonnet and str(error).startswith(_JSONNET_MISTAKES)


def _interruption(error: BaseException) -> str:
    """
    Says what interrupted a program from outside: a full disk, a lack of memory or a signal. Returns
    an empty string for any other error.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        message = str(error.strerror)
        if "could not write" in message:
            return message  # this package's own code raised it, and names the file and the reason
        return f"could not write {error.filename or 'a file'}: {reason(error)}"
    if is_lack_of_memory(error):
        return TOO_LITTLE_MEMORY
    if isinstance(error, KeyboardInterrupt | SigTermReceived):
        return "stopped"
    return ""


def _take_excepthook() -> None:
    """
    Makes Python call our `excepthook` for errors that end the process. The hook that was there
    before is kept in `EXCEPTHOOK`: ours calls it for the errors that it does not print itself.
    """
    global EXCEPTHOOK
    if sys.excepthook is not excepthook:
        EXCEPTHOOK = sys.excepthook
        sys.excepthook = excepthook


def _check_outputs(outputs: Iterable[str | None], inputs: Iterable[Any]) -> None:
    """
    Raises `ConfigurationError` if an output is one of the inputs. An option that was not given is
    `None` or an empty text, and is left out.
    """
    given_outputs = [output for output in outputs if output]
    given_inputs = [argument for argument in inputs if argument]
    with as_configuration_error():
        check_outputs(given_outputs, given_inputs)


train.train_model = train_model
train.archive_model = archive_model
predict._get_predictor = get_predictor
evaluate.evaluate_from_archive = evaluate_from_archive
Predictor.from_archive = classmethod(from_archive)  # type: ignore[assignment]
shims.never_install_spacy_models()
_take_excepthook()
# Each of these modules has imported `load_archive` under its own name.
for module in (archival, models, predictor, predict, evaluate):
    module.load_archive = load_archive  # type: ignore[attr-defined]
