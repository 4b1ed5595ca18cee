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
from copy import deepcopy
from typing import Any

from elmo_plugin.commands.options import STANDARD_OUTPUT, StreamPath, add_shared
from elmo_plugin.common.errors import BiLmError, raise_stop
from elmo_plugin.common.files import atomic_write, read_bytes
from elmo_plugin.common.formats.text_files import decode

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
        help="let Jsonnet import files that are not in the folder of OLD; for an archive, as in "
        "other commands",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="also make reader, vocabulary, model and trainer, and run one batch",
    )


def run(args: argparse.Namespace) -> None:
    from elmo_plugin.config_check import mistakes
    from elmo_plugin.porting import port_config
    from elmo_plugin.porting.source import read_config, to_json, with_values

    if args.source.endswith((".tar.gz", ".tgz")):
        from elmo_plugin.porting.archive import port_archive

        if args.output == STANDARD_OUTPUT:
            raise BiLmError("to port an archive, name the new one: -o NEW.tar.gz")
        return port_archive(args.source, args.output, _print, args.trust)
    if wrong := [text for text in args.ext_var if not text.partition("=")[0] or "=" not in text]:
        raise BiLmError(f"--ext-var {wrong[0]}: expected NAME=VALUE")
    given = dict(text.split("=", 1) for text in args.ext_var)
    name = "standard input" if args.source == "-" else args.source
    content = sys.stdin.buffer.read() if args.source == "-" else read_bytes(args.source, name)
    config, notes = port_config(read_config(decode(content, name), name, given, args.trust))
    found = mistakes(config)
    notes += [_to_number(config, mistake) for mistake in found if mistake.number is not ...]
    left = [str(mistake) for mistake in found if mistake.number is ...]
    for note in [*notes, *(f"to be done: {mistake}" for mistake in left)]:
        _print(str(note))
    with atomic_write(args.output) as temporary:
        temporary.write_text(to_json(config), encoding="utf-8")
    if args.output != STANDARD_OUTPUT:
        _print(f"wrote {args.output}")
    if args.dry_run:
        if left:
            raise BiLmError("dry run: first do the points that are listed above as to be done")
        _dry_run(with_values(config, {**os.environ, **given}))
        _print("dry run: built the reader, vocabulary, model and trainer, and ran one batch")


def _dry_run(config: dict[str, Any]) -> None:
    """Makes what `allennlp train --dry-run` makes, on the CPU, and runs one batch."""
    from allennlp.commands.train import TrainModel
    from allennlp.common import Params
    from allennlp.common.checks import ConfigurationError
    from allennlp.data import DatasetReader

    from elmo_plugin.config_check import NO_SPACY_MODEL
    from elmo_plugin.porting.source import variables_in
    from elmo_plugin.sweeps.trainings import SEEDS

    if missing := variables_in(config):
        raise BiLmError(f"dry run: pass {' '.join(f'--ext-var {name}=VALUE' for name in missing)}")
    trainer = config.get("trainer", {})
    trainer = {"type": trainer} if isinstance(trainer, str) else trainer
    config = config | {"trainer": trainer | {"cuda_device": -1}}
    for key in ("distributed", *SEEDS):  # which the command itself takes
        config.pop(key, None)
    reading = ""
    with tempfile.TemporaryDirectory(prefix="elmo_port_") as folder:
        try:
            for file, key in _files(config).items():
                reading = f"{file}, read by {key} ({_plain_options(config[key])}): "
                reader = DatasetReader.from_params(Params({key: deepcopy(config[key])}).pop(key))
                if not sum(1 for _ in reader.read(file)):
                    raise BiLmError("it finds no instances")
            reading = ""
            loop: Any = TrainModel.from_params(
                Params(config), serialization_dir=folder, local_rank=0
            )
            loop.trainer.batch_outputs(next(iter(loop.trainer.data_loader)), for_training=True)
        except SystemExit:  # of spaCy's download
            raise BiLmError(f"dry run: spaCy's model {NO_SPACY_MODEL}") from None
        except Exception as error:  # readers and models can raise anything
            raise_stop(error)
            kind = (
                ""
                if isinstance(error, ConfigurationError | BiLmError)
                else f"{type(error).__name__}: "
            )
            *_, last = traceback.extract_tb(error.__traceback__)
            message = (
                " ".join(str(error).split()) or f"{last.filename}, line {last.lineno}: {last.line}"
            )
            raise BiLmError(f"dry run: {reading}{kind}{message}") from error


def _files(config: dict[str, Any]) -> dict[str, str]:
    """Returns the key of the reader of each file."""
    other = (
        "validation_dataset_reader" if config.get("validation_dataset_reader") else "dataset_reader"
    )
    keys = {
        "train_data_path": "dataset_reader",
        "validation_data_path": other,
        "test_data_path": other,
    }
    return {config[key]: reader for key, reader in keys.items() if isinstance(config.get(key), str)}


def _plain_options(reader: Any) -> str:
    """Returns the options of a reader that are plain values."""
    options = {"type": reader} if isinstance(reader, str) else reader
    plain = (
        f"{name}: {value!r}"
        for name, value in options.items()
        if not isinstance(value, dict | list)
    )
    return ", ".join(plain)


def _print(text: str) -> None:
    print(text, file=sys.stderr)


def _to_number(config: Any, mistake: Any) -> Any:
    """Replaces text by its number, and a variable by one that is read as a number."""
    from elmo_plugin.porting import Note
    from elmo_plugin.porting.source import NUMBER_VARIABLE

    *parents, last = mistake.keys
    for key in parents:
        config = config[key]
    if mistake.number is None:
        config[last] = NUMBER_VARIABLE + config[last][1:]
        return Note(mistake.place, "text, now read as a number by std.parseJson", "changed")
    config[last] = mistake.number
    return Note(mistake.place, f"text, now the number {mistake.number!r}", "changed")
