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
    old = "the configuration (Jsonnet, or JSON with comments; - for standard input) or model.tar.gz"
    add("source", metavar="OLD", help=old)
    written = "the file that is written (default: standard output)"
    add("-o", "--output", type=OutputPath, default="-", help=written)
    value = "the value of std.extVar(NAME); others stay"
    add("--ext-var", action="append", default=[], metavar="NAME=VALUE", help=value)
    add("--native", action="store_true", help="make elmo_token_embedder this package's elmo")
    parts = "also make reader, vocabulary, model and trainer, and run one batch"
    add("--dry-run", action="store_true", help=parts)
    data = "with --dry-run, data in the place of missing files: train*, dev*, test*"
    add("--data", metavar="DIR", help=data)
    add("--bilm", default="tiny", help=f"with --dry-run, a biLM in the place of missing files: {BILM_HELP}")


def run(args: argparse.Namespace) -> None:
    if args.source.endswith((".tar.gz", ".tgz")):
        from elmo_plugin.porting.archive import port_archive

        if args.output == "-":
            raise BiLmError("an archive needs -o NEW.tar.gz")
        return port_archive(args.source, args.output, _print)
    if wrong := [text for text in args.ext_var if not text.partition("=")[0] or "=" not in text]:
        raise BiLmError(f"--ext-var {wrong[0]}: expected NAME=VALUE")
    given = dict(text.split("=", 1) for text in args.ext_var)
    name = "standard input" if args.source == "-" else args.source
    content = sys.stdin.buffer.read() if args.source == "-" else read_bytes(args.source, name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BiLmError(f"{name}: not UTF-8 ({error.reason} at byte {error.start})") from None
    old, fixed = read_config(text, name, given, os.environ)
    for variable in fixed:
        _print(f'std.extVar("{variable}"): its value is written, because the file computes with it')
    config, notes = port_config(old, args.native)
    found = mistakes(config)
    notes += [_to_number(config, mistake) for mistake in found if mistake.number is not ...]
    left = [str(mistake) for mistake in found if mistake.number is ...]
    for note in [*notes, *(f"to be done: {mistake}" for mistake in left)]:
        _print(str(note))
    if args.output == "-":
        sys.stdout.write(to_json(config))
    else:
        with atomic_write(args.output) as temporary:
            temporary.write_text(to_json(config), encoding="utf-8")
        _print(f"wrote {args.output}")
    if args.dry_run or args.data:
        if left:
            raise BiLmError(f"dry run: {'; '.join(left)}")
        values = {**os.environ, **given}
        dry_run(with_values(config, values), args.data, args.bilm, partial(_print, "dry run: "))
        _print("dry run: reader, vocabulary, model and trainer are made, and one batch ran")


def _print(*texts: str) -> None:
    print("".join(texts), file=sys.stderr)


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
