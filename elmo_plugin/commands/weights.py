"""`allennlp elmo-weights`: how much each layer of the biLM counts in trained models."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.analysis import FORMATS, draw_mixes, save
from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.files import write_json
from elmo_plugin.embedding import Mix, layer_name, read_mixes


@Subcommand.register("elmo-weights")
class ElmoWeights(Subcommand):
    """Prints and draws the mixing weights."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Print gamma and the normalised weight of each layer of the biLM, for each place "
            "where ELMo enters the models.",
            help="Show how much each layer of the biLM counts in trained models.",
        )
        subparser.add_argument(
            "archives",
            nargs="+",
            metavar="ARCHIVE",
            help="model.tar.gz, or the directory of the training, of any model with ELMo",
        )
        subparser.add_argument(
            "-o", "--output", metavar="FILE", help="a picture that is written, .png or .svg; needs matplotlib"
        )
        subparser.add_argument("--json", metavar="FILE", help="what is printed, as JSON")
        subparser.set_defaults(func=lambda args: show_weights(args.archives, args.output, args.json))
        return subparser


def show_weights(
    archives: Sequence[str | Path], output: str | Path | None = None, json: str | Path | None = None
) -> None:
    """
    # Parameters

    archives : `Sequence[str | Path]`
        Archives, or directories of trainings, of models with ELMo. Only their weights are read.
    output : `str | Path | None`
        A picture to be written, see `draw_mixes`.
    json : `str | Path | None`
        A file that gets an object for each placement of each archive: `archive` and what `Mix` has.

    Raises `ConfigurationError` where an archive has no weights of ELMo, and where the picture cannot be made.
    """
    if output is not None and Path(output).suffix not in FORMATS:
        raise ConfigurationError(f"-o takes a file that ends in {' or '.join(FORMATS)}, not {output}")
    models = [(str(archive), _read(archive)) for archive in archives]
    print(table(models))
    if json is not None:
        write_json(json, [{"archive": name, **mix._asdict()} for name, mixes in models for mix in mixes])
    if output is not None:
        save(draw_mixes([(_short(name), mixes) for name, mixes in models]), output)


def table(models: Sequence[tuple[str, Sequence[Mix]]]) -> str:
    """A line for each mix of each model, given by its name, below a head."""
    layers = sorted({layer for _, mixes in models for mix in mixes for layer in mix.layers})
    rows = [["archive", "placement", "gamma", *map(layer_name, layers)]]
    for name, mixes in models:
        for mix in mixes:
            shares = dict(zip(mix.layers, mix.shares, strict=True))
            figures = [f"{shares[layer]:.3f}" if layer in shares else "-" for layer in layers]
            rows.append([name, mix.placement, f"{mix.gamma:.3f}", *figures])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _read(archive: str | Path) -> list[Mix]:
    try:
        mixes = read_mixes(read_state(archive))
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None
    if not mixes:
        raise ConfigurationError(f"archive {archive}: its model has no ELMo of elmo_plugin")
    return mixes


def _short(archive: str) -> str:
    """
    The name of the training's directory, with that of its configuration where it is a seed of a sweep; or of
    an archive that is called something else.
    """
    path = Path(archive).absolute()
    if path.name != "model.tar.gz" and path.is_file():
        return path.name.removesuffix(".tar.gz")
    training = path if path.is_dir() else path.parent
    return f"{training.parent.name}/{training.name}" if training.name.isdecimal() else training.name
