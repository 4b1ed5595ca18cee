"""`allennlp elmo-weights`: how much each layer of the biLM counts in trained models."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.analysis import draw_mixes
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.files import write_json
from elmo_plugin.common.plotting import check_plot, save_figure
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
        add = subparser.add_argument
        about_archives = "model.tar.gz, or the directory of the training, of any model with ELMo"
        add("archives", nargs="+", metavar="ARCHIVE", help=about_archives)
        add("-o", "--output", metavar="FILE", help="where to draw, as .svg, .png or .pdf; needs matplotlib")
        add("--json", metavar="FILE", help="what is printed, as JSON")
        subparser.set_defaults(func=lambda args: show_weights(args.archives, args.output, args.json))
        return subparser


def show_weights(
    archives: Sequence[str | Path], output: str | Path | None = None, json: str | Path | None = None
) -> None:
    """
    Prints the mixing weights of trained models, and draws them.

    # Parameters

    archives : `Sequence[str | Path]`
        Archives, or directories of trainings, of models with ELMo. Only their weights are read.
    output : `str | Path | None`
        A picture to be written, see `draw_mixes`.
    json : `str | Path | None`
        A file that gets an object for each placement of each archive, with `archive`, `placement`, `layers`,
        `shares` (their normalised weights) and `gamma`.

    Raises `ConfigurationError` where an archive has no weights of ELMo, or where the picture cannot be drawn.
    """
    if output is not None:
        with as_configuration_error():
            check_plot("-o", output)
    models = [(str(archive), _read(archive)) for archive in archives]
    print(table(models))
    if json is not None:
        write_json(json, [_as_json(name, mix) for name, mixes in models for mix in mixes])
    if output is not None:
        save_figure(draw_mixes([(_short(name), mixes) for name, mixes in models]), output)


def table(models: Sequence[tuple[str, Sequence[Mix]]]) -> str:
    """Returns a header and a line for each mix of each model, which is given with its name."""
    layers = sorted({layer for _, mixes in models for mix in mixes for layer in mix.layers})
    rows = [["archive", "placement", "gamma", *map(layer_name, layers)]]
    for name, mixes in models:
        for mix in mixes:
            weights = dict(zip(mix.layers, mix.normalized_weights, strict=True))
            cells = [f"{weights[layer]:.3f}" if layer in weights else "-" for layer in layers]
            rows.append([name, mix.placement, f"{mix.gamma:.3f}", *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _as_json(archive: str, mix: Mix) -> dict[str, Any]:
    names = {"normalized_weights": "shares"}  # the name in files that are there already
    return {"archive": archive, **{names.get(name, name): value for name, value in mix._asdict().items()}}


def _read(archive: str | Path) -> list[Mix]:
    with as_configuration_error():
        mixes = read_mixes(read_state(archive))
    if not mixes:
        raise ConfigurationError(f"archive {archive}: its model has no ELMo of elmo_plugin")
    return mixes


def _short(archive: str) -> str:
    """
    Returns the name of the training's directory, with that of its configuration where it is a seed of a
    sweep; or of an archive that is called something else.
    """
    path = Path(archive).absolute()
    if path.name != "model.tar.gz" and path.is_file():
        return path.name.removesuffix(".tar.gz")
    training = path if path.is_dir() else path.parent
    return f"{training.parent.name}/{training.name}" if training.name.isdecimal() else training.name
