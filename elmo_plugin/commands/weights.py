"""Show how much each layer of the biLM counts in trained models. It prints gamma and the normalized
weights for each placement of ELMo, and skips models without ELMo.

    elmo weights run/model.tar.gz
    elmo weights runs/*/model.tar.gz --plot weights.png
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import OutputPath, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.streams import show_table

if TYPE_CHECKING:
    from elmo_plugin.embedding import LayerWeights

NEEDS = "torch"
logger = get_logger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="+")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=OutputPath,
        help="draw the weights, as .svg, .png or .pdf",
    )
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    from elmo_plugin.analysis.layer_weights_figure import check_plot, draw_layer_weights
    from elmo_plugin.bilm.io import read_state
    from elmo_plugin.embedding import read_layer_weights

    if args.plot is not None:
        check_plot(args.plot)
    found = []
    for archive in args.archives:
        mixes = read_layer_weights(read_state(archive))
        if not mixes:
            logger.warning("skipped %s: its model has no ELMo", archive)
        for mix in mixes:
            found.append((archive, mix))
    if not found:
        raise BiLmError("no archive has a model with ELMo")
    show_table(_table(found))
    if args.plot is not None:
        named_mixes = []
        for archive, mix in found:
            training_folder = Path(archive.removesuffix("model.tar.gz")).absolute()
            named_mixes.append((training_folder.name, mix))
        figure = draw_layer_weights(named_mixes)
        with atomic_write(args.plot) as temporary:
            figure.savefig(temporary, dpi=200)
    return [{"archive": archive, **mix._asdict()} for archive, mix in found]


def _table(found: Sequence[tuple[str, "LayerWeights"]]) -> list[list[str]]:
    """
    Returns the rows of a table: a heading, then one for each mix of an archive, with a column for
    each layer that any of them mixes.
    """
    from elmo_plugin.embedding import layer_name

    mixed: set[int] = set()
    for _, mix in found:
        mixed.update(mix.layers)
    layers = sorted(mixed)
    heading = ["archive", "placement", "gamma"]
    heading += [layer_name(layer) for layer in layers]
    rows = [heading]
    for archive, mix in found:
        weights = dict(zip(mix.layers, mix.normalized_weights, strict=True))
        row = [archive, mix.placement, f"{mix.gamma:.3f}"]
        for layer in layers:
            if layer in weights:
                row.append(f"{weights[layer]:.3f}")
            else:
                row.append("-")
        rows.append(row)
    return rows
