"""`allennlp elmo-export`: a biLM in the layout of published ELMo models."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from overrides import overrides

from elmo_plugin.bilm.io import DTYPES, read_checkpoint, write_files
from elmo_plugin.common.errors import as_configuration_error


@Subcommand.register("elmo-export")
class ElmoExport(Subcommand):
    """Writes `options.json` and `weights.hdf5`."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
            help="Export a biLM to options.json and weights.hdf5.",
        )
        add = subparser.add_argument
        add(
            "source",
            help="model.tar.gz, or the directory, of a trained `bilm` model; the name of a pretrained biLM; "
            "or a directory with an options.json and a weights.hdf5",
        )
        add("output_directory", help="where options.json and weights.hdf5 are written")
        add("--dtype", choices=DTYPES, help="type of the numbers (default: the source's)")
        add("--no-softmax", action="store_true", help="leave out the softmax, which only training needs")
        subparser.set_defaults(
            func=lambda args: export(args.source, args.output_directory, args.dtype, not args.no_softmax)
        )
        return subparser


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

    Raises `ConfigurationError` where the source holds no biLM, or a file cannot be written; then both
    files are what they were.
    """
    with as_configuration_error():
        stored = read_checkpoint(source, with_softmax)
        options_file, weights_file = write_files(output_directory, stored, dtype)
    softmax = f"a softmax over {len(stored.softmax.words)} words" if stored.softmax else "no softmax"
    print(f"wrote {options_file} and {weights_file} with {softmax}")
