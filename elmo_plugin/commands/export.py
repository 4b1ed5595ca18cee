"""`elmo export`: writes a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.bilm.io import (
    DTYPES,
    OPTIONS_NAME,
    WEIGHTS_NAME,
    read_checkpoint,
    write_card,
    write_files,
)
from elmo_plugin.commands.command import Command, OutputFile
from elmo_plugin.common.outputs import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "source",
        help="model.tar.gz, or the directory, of a trained `bilm` model; the name of a pretrained biLM; "
        "or a directory with an options.json and a weights.hdf5",
    )
    add("output_directory", action=OutputFile, help="where options.json and weights.hdf5 are written")
    add("--dtype", choices=DTYPES, help="type of the numbers (default: the source's)")
    add("--no-softmax", action="store_true", help="leave out the softmax, which only training needs")
    add("--hf", action="store_true", help="add a model card, for a model hub such as Hugging Face's")


def export(
    source: str | Mapping[str, str],
    output_directory: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
    with_card: bool = False,
) -> None:
    """
    Writes a biLM in the layout of published ELMo models.

    # Parameters

    source : `str | Mapping[str, str]`
        See `BiLm.from_pretrained`.
    output_directory : `str | Path`
        The folder of `options.json` and `weights.hdf5`, which is made if it is missing.
    dtype : `str`, optional
        The type of the numbers in `weights.hdf5`. By default that of the source, so that no bit is lost.
    with_softmax : `bool`
        Whether the source's softmax, if it has one, is written with the biLM.
    with_card : `bool`
        Whether to add a `README.md` for a model hub. An existing one stays as it is.

    Raises `BiLmError` if the source has no biLM, and `OSError` if a file cannot be written. Options and
    weights then stay what they were.
    """
    folder = Path(output_directory)
    stored = read_checkpoint(source, with_softmax=with_softmax)
    stored = stored._replace(weights=dict(stored.weights).items(), dtype=dtype or stored.dtype)
    options_file, weights_file = write_files(folder, stored)
    if with_card:
        write_card(folder, stored)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    print(f"wrote {options_file} and {weights_file} with {softmax}")


def run(args: argparse.Namespace) -> None:
    folder = args.output_directory
    with_softmax = not args.no_softmax
    export(
        args.source,
        folder,
        args.dtype,
        with_softmax=with_softmax,
        with_card=args.hf,
    )


def outputs(args: argparse.Namespace) -> list[Output]:
    folder = Path(args.output_directory)
    return [Output("output_directory", folder / name) for name in (OPTIONS_NAME, WEIGHTS_NAME)]


COMMAND = Command(
    description="Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
    add_arguments=add_arguments,
    run=run,
    outputs=outputs,
)
