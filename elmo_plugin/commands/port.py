"""Change a configuration or archive of AllenNLP 0.x or 1.x so that it fits AllenNLP 2.10.1. It
prints each change, and each point that is left for you. A configuration goes to standard output by
default.

    elmo port old.jsonnet -o new.json
    elmo port model.tar.gz -o new.tar.gz
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import STANDARD_OUTPUT, StreamPath, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write, read_bytes
from elmo_plugin.common.formats.text_files import decode
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.config_check import Mistake, NumberInText
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


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` for an archive without a new name, or with options of configurations."""
    if not _is_archive(args.source):
        return
    if args.output == STANDARD_OUTPUT:
        raise BiLmError("to port an archive, name the new one: -o NEW.tar.gz")
    if args.ext_var or args.dry_run:
        raise BiLmError("--ext-var and --dry-run are for a configuration, not for an archive")


def _is_archive(source: str) -> bool:
    """Returns whether OLD is an archive, and not a configuration."""
    return source.endswith((".tar.gz", ".tgz"))


def run(args: argparse.Namespace) -> None:
    if _is_archive(args.source):
        from elmo_plugin.migration.porting.archive import port_archive

        port_archive(args.source, args.output, say=_print, trust=args.trust)
    else:
        _port_config(args)


def _port_config(args: argparse.Namespace) -> None:
    """Ports a configuration and writes it. With `--dry-run`, also runs one batch of it."""
    from elmo_plugin.config_check import try_training
    from elmo_plugin.migration.porting import port_config
    from elmo_plugin.migration.porting.source import (
        how_to_give,
        read_config,
        to_json,
        variables_in,
        with_values,
    )

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
        complete_config = with_values(config, os.environ | variables)
        missing = variables_in(complete_config)
        if missing:
            raise BiLmError(f"dry run: pass {how_to_give(missing)}")
        try_training(complete_config, args.trust)
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
        else:
            notes.append(_mend_number(config, mistake, mistake.number))
    return notes, others


def _mend_number(config: dict[str, Any], mistake: "Mistake", number: "NumberInText") -> "Note":
    """
    Replaces a text in a configuration by the number that it means, and returns a note on it. The
    text may be the mark of a variable with an unknown value. Then the mark becomes that of a
    number, such as `std.parseJson(std.extVar('RATE'))`.
    """
    from elmo_plugin.migration.porting import Note
    from elmo_plugin.migration.porting.source import NUMBER_VARIABLE

    parent: Any = config  # the object or list in which the text is
    for key in mistake.keys[:-1]:
        parent = parent[key]
    key = mistake.keys[-1]
    if number.value is None:
        # The first character of a mark says whether its variable is a text or a number.
        name_and_end = parent[key][1:]
        parent[key] = NUMBER_VARIABLE + name_and_end
        return Note(mistake.place, "text, now read as a number by std.parseJson", "changed")
    parent[key] = number.value
    return Note(mistake.place, f"text, now the number {number.value!r}", "changed")


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


def _print(text: str) -> None:
    """Prints to standard error, because the configuration may go to standard output."""
    show(text, file=sys.stderr)
