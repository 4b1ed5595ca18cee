"""`elmo port`: makes a configuration or an archive of AllenNLP 0.x or 1.x one for AllenNLP 2.10.1."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, OutputPath
from elmo_plugin.common.files import atomic_write, read_bytes
from elmo_plugin.porting import Note, port_config
from elmo_plugin.porting.check import Mistake, mistakes
from elmo_plugin.porting.dry_run import dry_run
from elmo_plugin.porting.source import NUMBER_VARIABLE, read_config, to_json, with_values


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "source",
        metavar="OLD",
        help="the configuration (Jsonnet, or JSON with comments; - for standard input) or model.tar.gz",
    )
    add(
        "-o",
        "--output",
        type=OutputPath,
        default="-",
        help="the file that is written (default: standard output)",
    )
    add(
        "--ext-var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of std.extVar(NAME); others stay",
    )
    add("--native", action="store_true", help="make elmo_token_embedder this package's elmo")
    add(
        "--dry-run",
        action="store_true",
        help="also make reader, vocabulary, model and trainer, and run one batch",
    )
    add(
        "--data",
        metavar="DIR",
        help="with --dry-run, data in the place of missing files: train*, dev*, test*",
    )
    add("--bilm", default="tiny", help=f"with --dry-run, a biLM in the place of missing files: {BILM_HELP}")


def run(args: argparse.Namespace) -> None:
    if args.source.endswith((".tar.gz", ".tgz")):
        from elmo_plugin.porting.archive import port_archive

        if args.output == "-":
            raise BiLmError("an archive needs -o NEW.tar.gz")
        port_archive(args.source, args.output, _print)
        return
    given = dict(_pair(text) for text in args.ext_var)
    name = "standard input" if args.source == "-" else args.source
    content = sys.stdin.buffer.read() if args.source == "-" else read_bytes(args.source, name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BiLmError(f"{name}: not UTF-8 ({error.reason} at byte {error.start})") from None
    config, notes = port_config(read_config(text, name, given, os.environ), args.native)
    found = mistakes(config)
    for mistake in found:
        if mistake.number is not ...:
            notes.append(_to_number(config, mistake))
    for note in notes:
        _print(str(note))
    left = [mistake for mistake in found if mistake.number is ...]
    for mistake in left:
        _print(f"to be done: {mistake}")
    ported = to_json(config)
    if args.output == "-":
        sys.stdout.write(ported)
    else:
        with atomic_write(args.output) as temporary:
            temporary.write_text(ported, encoding="utf-8")
        _print(f"wrote {args.output}")
    if args.dry_run or args.data:
        if left:
            raise BiLmError(f"dry run: {'; '.join(map(str, left))}")
        dry_run(
            with_values(config, {**os.environ, **given}), args.data, args.bilm, partial(_print, "dry run: ")
        )
        _print("dry run: reader, vocabulary, model and trainer are made, and one batch ran")


def _print(*texts: str) -> None:
    print("".join(texts), file=sys.stderr)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BiLmError(f"--ext-var {text}: expected NAME=VALUE")
    return name, value


def _to_number(config: Any, mistake: Mistake) -> Note:
    """Replaces text by its number, and a variable by one that is read as a number."""
    *parents, last = mistake.keys
    for key in parents:
        config = config[key]
    if mistake.number is None:
        config[last] = NUMBER_VARIABLE + config[last][1:]
        return Note(mistake.place, "text, now read as a number by std.parseJson", "changed")
    config[last] = mistake.number
    return Note(mistake.place, f"text, now the number {mistake.number!r}", "changed")


def _outputs(args: argparse.Namespace) -> list[str | Path]:
    return [] if args.output == "-" else [args.output]


COMMAND = Command(
    description="Write a configuration of AllenNLP 0.5 to 2.10 as one for AllenNLP 2.10.1, and print each "
    "change and each part that is left to do. For a model.tar.gz, write an archive with the same weights.",
    add_arguments=add_arguments,
    run=run,
    outputs=_outputs,
)
