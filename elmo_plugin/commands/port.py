"""Change a configuration or archive of AllenNLP 0.x or 1.x so that it fits AllenNLP 2.10.1. It
prints each change, and each point that is left for you. A configuration goes to standard output by
default.

    elmo port old.jsonnet -o new.json
    elmo port model.tar.gz -o new.tar.gz
"""

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from elmo_plugin.commands.options import STANDARD_OUTPUT, StreamPath, add_shared
from elmo_plugin.common.errors import BiLmError, raise_if_sigterm
from elmo_plugin.common.files import atomic_write, read_bytes
from elmo_plugin.common.formats.text_files import decode
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.config_check import Mistake
    from elmo_plugin.migration.porting import Note

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="OLD",
        type=StreamPath,
        help="configuration (Jsonnet, or JSON with comments; - for standard input) or model.tar.gz",
    )
    add_shared(parser, "--output", default="-")
    parser.add_argument(
        "--ext-var",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="value of std.extVar(NAME); variables without a value stay in the configuration",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let Jsonnet import files that are not in the folder of OLD, and let --dry-run make "
        "any class that OLD names; for an archive, this option is the same as in other commands",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="also make reader, vocabulary, model and trainer, and run one batch",
    )


def run(args: argparse.Namespace) -> None:
    if args.source.endswith((".tar.gz", ".tgz")):
        _port_archive(args)
    else:
        _port_config(args)


def _port_archive(args: argparse.Namespace) -> None:
    """Ports an archive to a new one."""
    from elmo_plugin.migration.porting.archive import port_archive

    if args.output == STANDARD_OUTPUT:
        raise BiLmError("to port an archive, name the new one: -o NEW.tar.gz")
    port_archive(args.source, args.output, say=_print, trust=args.trust)


def _port_config(args: argparse.Namespace) -> None:
    """Ports a configuration and writes it. With `--dry-run`, also runs one batch of it."""
    from elmo_plugin.migration.porting import port_config
    from elmo_plugin.migration.porting.source import read_config, to_json, with_values

    if args.source == "-":
        name = "standard input"
        content = sys.stdin.buffer.read()
    else:
        name = args.source
        content = read_bytes(args.source, name)
    variables = _parse_variables(args.ext_var)
    old_config = read_config(decode(content, name), name, variables, trust=args.trust)
    config, notes = port_config(old_config)
    notes_on_numbers, remaining_mistakes = _mend_numbers(config)
    _print_findings(notes + notes_on_numbers, remaining_mistakes)
    with atomic_write(args.output) as temporary:
        temporary.write_text(to_json(config), encoding="utf-8")
    if args.output != STANDARD_OUTPUT:
        _print(f"wrote {args.output}")
    if args.dry_run:
        if remaining_mistakes:
            raise BiLmError("dry run: first do the points that are listed above as to be done")
        _dry_run(with_values(config, os.environ | variables), trust=args.trust)
        _print("dry run: built the reader, vocabulary, model and trainer, and ran one batch")


def _mend_numbers(config: dict[str, Any]) -> tuple[list["Note"], list["Mistake"]]:
    """
    Mends the numbers that a configuration has as text, such as "0.5". Returns notes on these
    changes, and the other mistakes in the configuration, which a person must mend.
    """
    from elmo_plugin.config_check import mistakes

    notes = []
    others = []
    for mistake in mistakes(config):
        if mistake.number is None:
            others.append(mistake)
        elif mistake.number.value is None:
            notes.append(_mark_variable_as_number(config, mistake))
        else:
            notes.append(_replace_text_by_number(config, mistake, mistake.number.value))
    return notes, others


def _print_findings(notes: Sequence["Note"], mistakes: Sequence["Mistake"]) -> None:
    """Prints the notes on changes, and the mistakes that are left for the user."""
    for note in notes:
        _print(str(note))
    # If a note is on the same place as a mistake, the note says more, and it is printed already.
    noted_places = {note.place for note in notes if note.kind == "left"}
    for mistake in mistakes:
        if mistake.place not in noted_places:
            _print(f"to be done: {mistake}")


def _parse_variables(texts: Sequence[str]) -> dict[str, str]:
    """Returns the variables of `--ext-var` by their names."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise BiLmError(f"--ext-var {text}: expected NAME=VALUE")
        values[name] = value
    return values


def _dry_run(config: dict[str, Any], trust: bool) -> None:
    """
    Makes what `allennlp train --dry-run` makes, on the CPU, and runs one batch. Any error becomes a
    `BiLmError`. Without `trust`, a configuration that may run code or fetch files is also an error,
    before any of its objects is made.
    """
    from elmo_plugin.archives import using_spacy_rules
    from elmo_plugin.migration.porting.source import how_to_give, variables_in

    missing = variables_in(config)
    if missing:
        raise BiLmError(f"dry run: pass {how_to_give(missing)}")
    config = _for_one_batch(config)
    if trust:
        _make_and_run(config)
        return
    _check_dry_run(config)
    # Without these rules, AllenNLP would download the models of spaCy.
    with using_spacy_rules(config, name="dry run"):
        _make_and_run(config)


def _check_dry_run(config: dict[str, Any]) -> None:
    """Raises `BiLmError` if the objects of a configuration may run code or fetch files."""
    from elmo_plugin.config_check import refused_in_dry_run

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
    from allennlp.common import Params
    from allennlp.data import DatasetReader

    for file, key in _data_files(config):
        with _errors_of_dry_run(f"{file}, read by {key} ({_plain_options(config[key])}): "):
            # Popped from other parameters, because errors then name the key.
            params = Params({key: deepcopy(config[key])}).pop(key)
            reader = DatasetReader.from_params(params)
            num_instances = sum(1 for _ in reader.read(file))
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
    from elmo_plugin.sweeps.configs import SEEDS

    trainer = config.get("trainer", {})
    if isinstance(trainer, str):  # AllenNLP also takes only the name of a class
        trainer = {"type": trainer}
    keys_of_command = ("distributed", *SEEDS)
    kept = {key: value for key, value in config.items() if key not in keys_of_command}
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
    from elmo_plugin.config_check import NO_SPACY_MODEL

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
    from allennlp.common.checks import ConfigurationError

    message = " ".join(str(error).split())
    if not message:
        last = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{last.filename}, line {last.lineno}: {last.line}"
    if isinstance(error, ConfigurationError | BiLmError):
        return message
    return f"{type(error).__name__}: {message}"


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


def _print(text: str) -> None:
    """Prints to standard error, because the configuration may go to standard output."""
    show(text, file=sys.stderr)


def _replace_text_by_number(config: dict[str, Any], mistake: "Mistake", number: float) -> "Note":
    """Replaces a text in a configuration by the number that it means, and returns a note on it."""
    from elmo_plugin.migration.porting import Note

    parent = _parent(config, mistake.keys)
    parent[mistake.keys[-1]] = number
    return Note(mistake.place, f"text, now the number {number!r}", "changed")


def _mark_variable_as_number(config: dict[str, Any], mistake: "Mistake") -> "Note":
    """
    Changes the mark of a variable in a configuration, so that the variable becomes a number. A mark
    stands for a variable whose value is not known, such as `std.extVar('RATE')`.
    """
    from elmo_plugin.migration.porting import Note
    from elmo_plugin.migration.porting.source import NUMBER_VARIABLE

    parent = _parent(config, mistake.keys)
    key = mistake.keys[-1]
    # The first character of a mark says whether its variable is a text or a number.
    name_and_end = parent[key][1:]
    parent[key] = NUMBER_VARIABLE + name_and_end
    return Note(mistake.place, "text, now read as a number by std.parseJson", "changed")


def _parent(config: dict[str, Any], keys: Sequence[str | int]) -> Any:
    """Returns the object or list in a configuration in which the value at `keys` is."""
    parent: Any = config
    for key in keys[:-1]:
        parent = parent[key]
    return parent
