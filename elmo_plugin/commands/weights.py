"""`elmo weights`: shows how much each layer of the biLM counts in trained models."""

import argparse
import logging
from collections.abc import Sequence
from typing import Any

from elmo_plugin.analysis.layer_weights_figure import draw_layer_weights
from elmo_plugin.archives import archive_name
from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.plotting import check_plot, save_figure
from elmo_plugin.common.streams import show
from elmo_plugin.embedding import LayerWeights, layer_name, read_layer_weights

logger = logging.getLogger(__name__)


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    if args.plot is not None:
        check_plot("--plot", args.plot)
    models = [(archive, mixes) for archive in args.archives if (mixes := _read(archive))]
    if not models:
        raise BiLmError("no archive has a model with ELMo")
    show(table(models))
    if args.plot is not None:
        save_figure(draw_layer_weights([(archive_name(name), mixes) for name, mixes in models]), args.plot)
    return [{"archive": name, **mix._asdict()} for name, mixes in models for mix in mixes]


def table(models: Sequence[tuple[str, Sequence[LayerWeights]]]) -> str:
    """Returns a header, and a line for each mix of each named model."""
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


def _read(archive: str) -> list[LayerWeights]:
    mixes = read_layer_weights(read_state(archive))
    if not mixes:
        logger.warning("skipped %s: its model has no ELMo", archive)
    return mixes
