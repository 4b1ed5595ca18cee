"""`elmo export`: writes a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.bilm.io import DTYPES, OPTIONS_NAME, WEIGHTS_NAME, read_checkpoint, write_card, write_files
from elmo_plugin.commands.command import BILM_HELP, Command, OutputPath
from elmo_plugin.common.streams import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", help=BILM_HELP)
    add("output_directory", type=OutputPath, help="where options.json and weights.hdf5 are written")
    add("--dtype", choices=DTYPES, help="type of the weights (default: the source's)")
    add("--no-softmax", action="store_true", help="leave out the softmax, needed only in training")
    add("--hf", action="store_true", help="add a model card, for a model hub such as Hugging Face's")


def export(
    source: str | Mapping[str, str],
    output_directory: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    Writes a biLM to `options.json` and `weights.hdf5` in a folder, by default in the source's dtype.
    `with_card` adds a `README.md` for a model hub, unless there is one.

    Raises `BiLmError` if the source contains no biLM, and `OSError` if a file cannot be written; earlier
    files then stay unchanged.
    """
    folder = Path(output_directory)
    stored = read_checkpoint(source, with_softmax=with_softmax)
    stored = stored._replace(weights=dict(stored.weights).items(), dtype=dtype or stored.dtype)
    options_file, weights_file = write_files(folder, stored)
    if with_card:
        write_card(folder, stored)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    show(f"wrote {options_file} and {weights_file} with {softmax}")


def run(args: argparse.Namespace) -> None:
    export(args.source, args.output_directory, args.dtype, not args.no_softmax, args.hf)


COMMAND = Command(
    description="Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
    add_arguments=add_arguments,
    run=run,
    outputs=lambda args: [Path(args.output_directory) / name for name in (OPTIONS_NAME, WEIGHTS_NAME)],
)
