"""Turn files of any usual form into the one form that a task is trained on: train, dev and test in
a folder. It prints how it read each file, the numbers of examples and labels, and the examples that
it skipped, with the reasons. If it cannot decide something, it names the option that does.

    elmo import ner spreadsheet.xlsx -o data --split 0.1
    elmo import classify train.csv dev.csv -o data --column text=body label=mood
    elmo import snli pairs/ -o data --dry-run
"""

import argparse
import math
from functools import partial
from pathlib import Path

from elmo_plugin.commands.options import InputPath
from elmo_plugin.commands.suggestions import task_name
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"
TASKS = ("ner", "tag", "srl", "coref", "squad", "snli", "sst", "classify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "task",
        metavar="TASK",
        type=partial(task_name, tasks=TASKS),
        help=f"the task: {', '.join(TASKS)}",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        type=InputPath,
        nargs="+",
        help="a folder with files called train…, dev… (or valid…) and maybe test…, or such files; "
        "files with other names are taken in the order train, dev, test",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="the folder to write; must not exist yet",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be imported, and write nothing"
    )
    add_import_options(parser)


def add_import_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for everything that a file does not show."""
    parser.add_argument(
        "--column",
        metavar="ROLE=NAME",
        nargs="+",
        default=[],
        help="the column or key of a role, by its name, or by its number from 0: text=body "
        "label=mood, word=Wort tag=3",
    )
    parser.add_argument(
        "--encoding", metavar="NAME", help="the character encoding of the files, as cp1252"
    )
    parser.add_argument(
        "--separator", metavar="CHARACTER", help="the character between columns, or tab"
    )
    parser.add_argument(
        "--label-names",
        metavar="NAME",
        nargs="+",
        help="the names of labels that are numbers, from 0",
    )
    parser.add_argument(
        "--tags",
        metavar="ENCODING",
        help="the encoding of tags: BIO, IOB1, BIOUL, BIOES, BMES, IO, mixed, or plain",
    )
    parser.add_argument(
        "--language", metavar="CODE", help="the language whose rules split texts into words"
    )
    parser.add_argument(
        "--split",
        metavar="SHARE",
        type=parse_share,
        help="without dev data, the share of the training data that becomes it, as 0.1",
    )


def parse_share(text: str) -> float:
    """Parses the share of `--split`, a number between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan  # it fails the comparison
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {text}")
    return number


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if the folder to write is missing, or exists already."""
    if not args.output and not args.dry_run:
        raise BiLmError("expected --output FOLDER, or --dry-run")
    if args.output and args.output.exists():
        raise BiLmError(f"{args.output} already exists; name a new folder")


def run(args: argparse.Namespace) -> None:
    from elmo_plugin.importers import IMPORTERS, find_parts, options_of, read_data, write_data

    importer = IMPORTERS[args.task]
    options = options_of(args, importer.roles)
    files = find_parts([Path(file) for file in args.files])
    data = read_data(importer, files, options, args.split)
    for line in data.lines:
        show(line)
    if args.dry_run:
        return
    written = write_data(importer, data.parts, args.output)
    show(f"wrote {', '.join(str(file) for file in written.values())}")
    if "dev" not in written:
        show("There is no dev file: --split 0.1 makes one of a tenth of the training data.")
