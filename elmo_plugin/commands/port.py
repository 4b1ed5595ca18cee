"""`elmo port`: makes a configuration or an archive of AllenNLP 0.x or 1.x one for AllenNLP 2.10.1."""

import argparse
import os
import sys
from functools import partial
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.options import STANDARD_OUTPUT
from elmo_plugin.common.files import atomic_write, read_bytes
from elmo_plugin.porting import Note, port_config
from elmo_plugin.porting.check import Mistake, mistakes
from elmo_plugin.porting.dry_run import dry_run
from elmo_plugin.porting.source import NUMBER_VARIABLE, read_config, to_json, with_values


def run(args: argparse.Namespace) -> None:
    if args.source.endswith((".tar.gz", ".tgz")):
        from elmo_plugin.porting.archive import port_archive

        if args.output == STANDARD_OUTPUT:
            raise BiLmError("to port an archive, name the new one: -o NEW.tar.gz")
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
        _print(f'std.extVar("{variable}"): replaced by its current value: the file uses it in an expression')
    config, notes = port_config(old, args.native)
    found = mistakes(config)
    notes += [_to_number(config, mistake) for mistake in found if mistake.number is not ...]
    left = [str(mistake) for mistake in found if mistake.number is ...]
    for note in [*notes, *(f"to be done: {mistake}" for mistake in left)]:
        _print(str(note))
    with atomic_write(args.output) as temporary:
        temporary.write_text(to_json(config), encoding="utf-8")
    if args.output != STANDARD_OUTPUT:
        _print(f"wrote {args.output}")
    if args.dry_run or args.data:
        if left:
            raise BiLmError(f"dry run: {'; '.join(left)}")
        values = {**os.environ, **given}
        dry_run(with_values(config, values), args.data, args.bilm, partial(_print, "dry run: "))
        _print("dry run: built the reader, vocabulary, model and trainer, and ran one batch")


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
