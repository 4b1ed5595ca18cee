"""Show how much each layer of the biLM counts in trained models. Prints gamma and the normalized
weights for each placement of ELMo; models without ELMo are skipped.

    elmo weights run/model.tar.gz
    elmo weights runs/*/model.tar.gz --plot weights.png
"""

import argparse
import logging
from pathlib import Path
from typing import Any

from elmo_plugin.commands.options import OutputPath, add, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.streams import show_table

NEEDS = "torch"
logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="+")
    add(parser, "--plot FILE", "draw the result, as .svg, .png or .pdf", OutputPath)
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    from elmo_plugin.analysis.layer_weights_figure import check_plot, draw_layer_weights
    from elmo_plugin.bilm.io import read_state
    from elmo_plugin.embedding import layer_name, read_layer_weights

    if args.plot is not None:
        check_plot(args.plot)
    models = [(archive, read_layer_weights(read_state(archive))) for archive in args.archives]
    for archive, mixes in models:
        if not mixes:
            logger.warning("skipped %s: its model has no ELMo", archive)
    found = [(archive, mix) for archive, mixes in models for mix in mixes]
    if not found:
        raise BiLmError("no archive has a model with ELMo")
    layers = sorted({layer for _, mix in found for layer in mix.layers})
    rows = [["archive", "placement", "gamma", *map(layer_name, layers)]]
    for archive, mix in found:
        weights = dict(zip(mix.layers, mix.normalized_weights, strict=True))
        cells = [f"{weights[layer]:.3f}" if layer in weights else "-" for layer in layers]
        rows.append([archive, mix.placement, f"{mix.gamma:.3f}", *cells])
    show_table(rows)
    if args.plot is not None:
        named = [(Path(name.removesuffix("model.tar.gz")).name, mix) for name, mix in found]
        figure = draw_layer_weights(named)
        with atomic_write(args.plot) as temporary:
            figure.savefig(temporary, dpi=200)
    return [{"archive": name, **mix._asdict()} for name, mix in found]
