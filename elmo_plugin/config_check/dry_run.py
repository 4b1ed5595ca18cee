"""A dry run of a configuration for `allennlp train`. It may come from elsewhere."""

import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple

from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_plugin.common.errors import BiLmError, is_for_user, message_of, raise_if_sigterm
from elmo_plugin.common.spacy_in_allennlp import using_spacy_rules
from elmo_plugin.config_check.dry_run_judge import refused_in_dry_run
from elmo_plugin.config_check.training_judge import KEYS_OF_THE_COMMAND, NO_SPACY_MODEL


def try_training(config: dict[str, Any], trust: bool) -> None:
    """
    Makes what `allennlp train --dry-run` makes, on the CPU, and runs one batch. Any error becomes a
    `BiLmError`. Without `trust`, a configuration that may run code or fetch files is also an error,
    before any of its objects is made.
    """
    config = _for_one_batch(config)
    if trust:
        _make_and_run(config)
        return
    _refuse_unsafe(config)
    # Without these rules, AllenNLP would download the models of spaCy.
    with using_spacy_rules(config, name="dry run"):
        _make_and_run(config)


def _refuse_unsafe(config: dict[str, Any]) -> None:
    """Raises `BiLmError` if the objects of a configuration may run code or fetch files."""
    first_refusal = next(refused_in_dry_run(config), None)
    if first_refusal is None:
        return
    place = ".".join(str(key) for key in first_refusal.keys)
    message = f"dry run: {place}: {first_refusal.reason}"
    if first_refusal.trust_helps:
        message += "; use --trust if you trust this configuration"
    raise BiLmError(message)


def _make_and_run(config: dict[str, Any]) -> None:
    """Reads each file of data, then makes the whole training and runs one batch."""
    from allennlp.commands.train import TrainModel

    for file in _data_files(config):
        key = file.reader_key
        with _errors_of_dry_run(f"{file.path}, read by {key} ({_plain_options(config[key])}): "):
            # Popped from other parameters, because errors then name the key.
            params = Params({key: deepcopy(config[key])}).pop(key)
            reader = DatasetReader.from_params(params)
            num_instances = sum(1 for _ in reader.read(file.path))
            if num_instances == 0:
                raise BiLmError("it finds no instances")
    with tempfile.TemporaryDirectory(prefix="elmo_port_") as folder, _errors_of_dry_run():
        params = Params(config)
        training: Any = TrainModel.from_params(params, serialization_dir=folder, local_rank=0)
        for batch in training.trainer.data_loader:
            # Computes the outputs and the loss, without a step of the optimizer.
            training.trainer.batch_outputs(batch, for_training=True)
            break  # one batch is enough


def _for_one_batch(config: dict[str, Any]) -> dict[str, Any]:
    """
    Returns a configuration for `TrainModel` that runs in this process, on the CPU. Leaves out the
    keys that `TrainModel` does not take: `allennlp train` reads them itself.
    """
    trainer = config.get("trainer", {})
    if isinstance(trainer, str):  # AllenNLP also takes only the name of a class
        trainer = {"type": trainer}
    kept = {key: value for key, value in config.items() if key not in KEYS_OF_THE_COMMAND}
    kept["trainer"] = trainer | {"cuda_device": -1}
    for key in ("data_loader", "validation_data_loader"):
        loader = kept.get(key)
        if isinstance(loader, dict):
            kept[key] = {name: value for name, value in loader.items() if name != "num_workers"}
    return kept


@contextmanager
def _errors_of_dry_run(place: str = "") -> Iterator[None]:
    """
    Turns any error in the block into a `BiLmError` of one line that begins with "dry run" and the
    place, because a reader or a model may raise anything.
    """
    try:
        yield
    except SystemExit:  # spaCy's download has failed
        raise BiLmError(f"dry run: spaCy's model {NO_SPACY_MODEL}") from None
    except Exception as error:
        raise_if_sigterm(error)
        raise BiLmError(f"dry run: {place}{_describe(error)}") from error


def _describe(error: Exception) -> str:
    """
    Returns the message of an error in one line. The type of the error stands before it, unless the
    message was written for users. An error without a message is described by its line of code.
    """
    if is_for_user(error):
        return message_of(error)
    if not str(error).strip():
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {last.filename}, line {last.lineno}: {last.line}"
    return f"{type(error).__name__}: {message_of(error)}"


class _DataFile(NamedTuple):
    """A file of data, and the key in the configuration of the reader that reads it."""

    path: str
    reader_key: str


def _data_files(config: dict[str, Any]) -> list[_DataFile]:
    """Returns the files of data. A file is listed twice if two different readers read it."""
    validation_reader = "dataset_reader"
    if config.get("validation_dataset_reader"):
        validation_reader = "validation_dataset_reader"
    reader_of_path = {
        "train_data_path": "dataset_reader",
        "validation_data_path": validation_reader,
        "test_data_path": validation_reader,
    }
    files: list[_DataFile] = []
    for path_key, reader_key in reader_of_path.items():
        if isinstance(config.get(path_key), str):
            file = _DataFile(config[path_key], reader_key)
            if file not in files:
                files.append(file)
    return files


def _plain_options(reader: Any) -> str:
    """Returns the options of a reader that are plain values, such as `type: 'conll2003'`."""
    if isinstance(reader, str):  # only the name of a class
        return f"type: {reader!r}"
    plain = []
    for name, value in reader.items():
        if not isinstance(value, dict | list):
            plain.append(f"{name}: {value!r}")
    return ", ".join(plain)
