"""`allennlp elmo-export`: the biLM of a training archive in the layout of published ELMo models."""

import argparse
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.weights import DTYPES, write_weights


@Subcommand.register("elmo-export")
class ElmoExport(Subcommand):
    """Writes `options.json` and `weights.hdf5`."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Write a trained biLM as the options.json and weights.hdf5 of published ELMo models.",
            help="Export a trained biLM to options.json and weights.hdf5.",
        )
        subparser.add_argument("archive", help="model.tar.gz, or the directory, of a trained `bilm` model")
        subparser.add_argument("output_directory", help="where options.json and weights.hdf5 are written")
        subparser.add_argument("--dtype", choices=DTYPES, default="float32", help="type of the numbers")
        subparser.set_defaults(func=lambda args: export(args.archive, args.output_directory, args.dtype))
        return subparser


def export(archive: str, output_directory: str, dtype: str = "float32") -> None:
    """
    # Parameters

    archive : `str`
        The `model.tar.gz`, or the serialization directory, of a trained `bilm` model.
    output_directory : `str`
        Gets `options.json` and `weights.hdf5`; made if it is not there.
    dtype : `str`
        The type of the numbers in `weights.hdf5`.

    Raises `ConfigurationError` where the archive holds no biLM; then nothing is written.
    """
    try:
        bilm = BiLm.from_archive(archive)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None
    output = Path(output_directory)
    write_weights(output / "weights.hdf5", bilm.state_dict(), bilm.options, dtype)
    bilm.options.to_file(output / "options.json")
    print(f"wrote {output / 'options.json'} and {output / 'weights.hdf5'}")
