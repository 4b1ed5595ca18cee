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
    BiLmError,
    as_configuration_error,
    is_lack_of_memory,
)
from elmo_plugin.common.files import NO_ROOM, atomic_write, check_outputs, close_log_files, reason
from elmo_plugin.common.streams import show, show_lines
from elmo_plugin.config_check import mistakes, raise_for_mistakes
from elmo_plugin.migration.porting import Note, note_on_first_old_key
from elmo_plugin.training import check_recovery

GET_PREDICTOR = predict._get_predictor
EVALUATE = evaluate.evaluate_from_archive
ARCHIVE_MODEL = archival.archive_model
TRAIN_MODEL = train.train_model
# The function itself: a class method taken from the class would always make a `Predictor`.
FROM_ARCHIVE = inspect.getattr_static(Predictor, "from_archive").__func__
EXCEPTHOOK = sys.excepthook

# Errors that mean a mistake of the user.
MISTAKES = (ConfigurationError, BiLmError, FileNotFoundError)
_OLD = "this is of AllenNLP 0.9 or 1.x, so convert the file: elmo port"
_TRUST = (
    "if you trust it, use elmo predict --trust, or take elmo_plugin.hardening out of "
    ".allennlp_plugins"
)
_RESUME = "--recover continues a training from its last checkpoint"
# How messages begin that are about a mistake in Jsonnet or in --overrides.
_JSONNET_MISTAKES = ("STATIC ERROR", "RUNTIME ERROR", "overrides ")


def train_model(params: Params, *args: Any, **kwargs: Any) -> Any:
    """
    Trains as AllenNLP does, if the configuration has no mistakes. Raises `ConfigurationError` with
    all of them before anything is made or written. If the training then fails by a mistake that was
    not seen before, its folder is removed, if it is new and has no weights.
    """
    # A copy, because AllenNLP takes the keys out of `params` while it trains.
    config = params.duplicate().as_dict(quiet=True)
    found = mistakes(config)
    old_key = note_on_first_old_key(config)
    if found and old_key:
        # One command mends all that is old, so the mistakes are not listed.
        raise ConfigurationError(f"{old_key}; {_OLD}")
    raise_for_mistakes(found)
    given = inspect.signature(TRAIN_MODEL).bind(params, *args, **kwargs).arguments
    folder = Path(given["serialization_dir"])
    if given.get("recover"):
        check_recovery(folder, params)
    is_new = not folder.exists()  # a folder that was there before is never removed
    # On a full disk, Python would print a traceback for each line of the log.
    raises_in_logging = logging.raiseExceptions
    logging.raiseExceptions = False
    try:
        with _naming_old_key(old_key):
            return TRAIN_MODEL(params, *args, **kwargs)
    except MISTAKES:
        if is_new:
            _remove_untrained(folder)
        raise
    finally:
        logging.raiseExceptions = raises_in_logging
        _take_excepthook()  # AllenNLP's logging has set its own


@contextmanager
def _naming_old_key(old_key: Note | None) -> Iterator[None]:
    """
    Turns the `TypeError` of a constructor that does not know a key into a `ConfigurationError`
    about the old key of the configuration. It is raised if a class takes `**kwargs`, and passes
    the old key on to a base class.
    """
    try:
        yield
    except TypeError as error:
        if old_key is None or "__init__() got an unexpected" not in str(error):
            raise
        raise ConfigurationError(f"{old_key}; {_OLD}") from error


def archive_model(
    serialization_dir: str | os.PathLike[str],
    weights: str = "best.th",
    archive_path: str | os.PathLike[str] | None = None,
    include_in_archive: list[str] | None = None,
) -> str:
    """Packs the archive of a training as AllenNLP does, but completely or not at all."""
    path = Path(archive_path or serialization_dir)
    if path.is_dir():  # for a folder, AllenNLP writes the archive into it
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
    with as_configuration_error():
        try:
            return archives.load_archive(*args, **kwargs)
        except BiLmError as error:
            # The message may advise `--trust`, an option that AllenNLP's commands do not have.
            message = str(error).replace(archives.TRUST, _TRUST)
            raise BiLmError(message) from None


def get_predictor(args: argparse.Namespace) -> Predictor:
    """
    Makes the predictor of `allennlp predict`. Raises `ConfigurationError` if the output is one of
    the inputs, or the predictor does not take `--predictor-args`.
    """
    _check_outputs([args.output_file], [args.input_file, args.archive_file, args.weights_file])
    try:
        return GET_PREDICTOR(args)
    except (TypeError, ValueError) as error:
        if args.predictor_args.strip():
            message = " ".join(str(error).split())
            raise ConfigurationError(
                f"--predictor-args {args.predictor_args}: {message}"
            ) from error
        raise


@wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """
    Evaluates a model, as `allennlp evaluate` does. Raises `ConfigurationError` if an output is one
    of the inputs, or the model does not return `--batch-weight-key`.
    """
    options = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    data = _data_of_evaluation(options["input_file"])
    inputs = [*_paths_in(data), options["archive_file"], options.get("weights_file")]
    _check_outputs(_outputs_of_evaluation(options, data), inputs)
    try:
        return EVALUATE(*args, **kwargs)
    except KeyError as error:
        key = options.get("batch_weight_key")
        if key and error.args == (key,):
            raise ConfigurationError(
                f"--batch-weight-key {key}: the model does not return it"
            ) from error
        raise


def _data_of_evaluation(input_file: str) -> list[Any]:
    """
    Returns the data of each evaluation that `allennlp evaluate` makes. AllenNLP reads its argument
    as values of JSON, such as `{"ner": "dev.txt"}`, or else as paths, with commas between them.
    """
    try:
        data: list[Any] = json.loads(f"[{input_file}]")
    except json.JSONDecodeError:
        return input_file.split(",")
    return data


def _paths_in(data: list[Any]) -> Iterator[str]:
    """Yields every text in a list, at any depth, because any of them may be a path."""
    for _, value in archives.values_in(data):
        if isinstance(value, str):
            yield value


def _outputs_of_evaluation(options: Mapping[str, Any], data: list[Any]) -> list[str]:
    """
    Returns the files that `allennlp evaluate` writes. With `--auto-names`, AllenNLP does not write
    the files that the options name, but one beside each file of the data.
    """
    outputs: list[str] = []
    for option, kind, suffix in (
        ("metrics_output_file", "METRICS", ".outputs"),
        ("predictions_output_file", "PREDS", ".preds"),
    ):
        given = options.get(option)
        if given is None:
            continue
        if options.get("auto_names") in (kind, "ALL"):
            for file in _paths_in(data):
                path = Path(file)
                outputs.append(str(path.parent / f"{path.stem}{suffix}"))
        else:
            outputs += given.split(",")
    return outputs


def from_archive(
    cls: Any, archive: Any, predictor_name: str | None = None, *args: Any, **kwargs: Any
) -> Any:
    """
    Makes a predictor: the class method `Predictor.from_archive`. Raises `ConfigurationError` if the
    caller names none, and the one that the archive names reads files or loads other models.
    """
    # A predictor that the caller names is not the archive's choice, so it is trusted.
    is_named_by_caller = predictor_name is not None
    with (
        as_configuration_error(),
        archives.default_predictor(archive, trust=is_named_by_caller),
    ):
        return FROM_ARCHIVE(cls, archive, predictor_name, *args, **kwargs)


def excepthook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    """
    Prints the error that ends a program: as one sentence if the user made a mistake or stopped the
    program, not at all if nobody reads its output, and else as Python does.
    """
    if _is_mistake(error) and not os.environ.get("ALLENNLP_DEBUG"):
        # Several lines, because Jsonnet's message has one for each call that led to the mistake.
        show_lines(f"{kind.__name__}: {str(error).strip()}", file=sys.stderr)
        return
    interruption = _interruption(error)
    if interruption:
        show(f"{interruption}; {_RESUME}", file=sys.stderr)
    elif not isinstance(error, BrokenPipeError):  # raised by `allennlp predict … | head`
        EXCEPTHOOK(kind, error, traceback)


def _is_mistake(error: BaseException) -> bool:
    """Returns whether an error is a mistake of the user's."""
    if isinstance(error, MISTAKES):
        return True
    # Jsonnet raises these for a mistake, but other programs raise them as well.
    is_jsonnets_kind = isinstance(error, RuntimeError | ValueError)
    return is_jsonnets_kind and str(error).startswith(_JSONNET_MISTAKES)


def _interruption(error: BaseException) -> str:
    """
    Names the cause if a program ended without a mistake in it: a full disk, a lack of memory or a
    signal. Returns an empty string for any other error.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        message = str(error.strerror)
        if "could not write" in message:
            return message  # by this package's own code, with the file and the reason
        return f"could not write {error.filename or 'a file'}: {reason(error)}"
    if is_lack_of_memory(error):
        return TOO_LITTLE_MEMORY
    if isinstance(error, KeyboardInterrupt | SigTermReceived):
        return "stopped"
    return ""


def _take_excepthook() -> None:
    """
    Makes Python call our `excepthook` for errors that end the process. Ours calls the hook that was
    there for the errors that it does not print itself.
    """
    global EXCEPTHOOK
    if sys.excepthook is not excepthook:
        EXCEPTHOOK = sys.excepthook
        sys.excepthook = excepthook


def _check_outputs(outputs: Iterable[str | None], inputs: Iterable[Any]) -> None:
    """
    Raises `ConfigurationError` if an output is one of the inputs. Options that were not given, as
    `None` or an empty text, are left out.
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
for module in (archival, models, predictor, predict, evaluate):  # each has imported the function
    module.load_archive = load_archive  # type: ignore[attr-defined]
