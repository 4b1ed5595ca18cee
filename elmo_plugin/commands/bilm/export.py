"""`elmo export`, `allennlp elmo-export`: a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_plugin.bilm.io import DTYPES, OPTIONS_NAME, WEIGHTS_NAME, read_checkpoint, write_weights
from elmo_plugin.commands.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what says which biLM is written where."""
    add = parser.add_argument
    add(
        "source",
        help="model.tar.gz, or the directory, of a trained `bilm` model; the name of a pretrained biLM; "
        "or a directory with an options.json and a weights.hdf5",
    )
    add("output_directory", help="where options.json and weights.hdf5 are written")
    add("--dtype", choices=DTYPES, help="type of the numbers (default: the source's)")
    add("--no-softmax", action="store_true", help="leave out the softmax, which only training needs")


def export(
    source: str | Mapping[str, str],
    output_directory: str | Path,
    dtype: str | None = None,
    with_softmax: bool = True,
) -> None:
    """
    # Parameters

    source : `str | Mapping[str, str]`
        Whatever `load_bilm` takes.
    output_directory : `str | Path`
        Gets `options.json` and `weights.hdf5`; made if it is not there.
    dtype : `str`, optional
        The type of the numbers in `weights.hdf5`. By default that of the source, so that no bit is lost.
    with_softmax : `bool`
        Whether the source's softmax, if it has one, is written with the biLM.

    Raises `BiLmError` where the source holds no biLM; then nothing is written.
    """
    weights_file, options_file = (Path(output_directory) / name for name in (WEIGHTS_NAME, OPTIONS_NAME))
    stored = read_checkpoint(source, with_softmax)
    write_weights(weights_file, dict(stored.weights), stored.options, dtype or stored.dtype, stored.softmax)
    stored.options.to_file(options_file)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    print(f"wrote {options_file} and {weights_file} with {softmax}")


COMMAND = Command(
    name="export",
    help="Export a biLM to options.json and weights.hdf5.",
    description="Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
    add_arguments=add_arguments,
    run=lambda args: export(args.source, args.output_directory, args.dtype, not args.no_softmax),
)
