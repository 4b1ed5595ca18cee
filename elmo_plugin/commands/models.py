"""`elmo models`: lists the models that come with this package."""

import argparse
from typing import Any

from elmo_plugin.common.bundled import BUNDLED, bundled_models
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    models = bundled_models()
    if args.path:
        show(models[args.path].file)
    else:
        show(table())
        show(f"\nIn {BUNDLED}; the README.md beside each model is its card.")
    return [{**model._asdict(), "path": str(model.file), "bytes": model.size} for model in models.values()]


def table() -> str:
    """Returns a header, and a line for each model."""
    rows = [("name", "", "score", "licence", "size")]
    for model in bundled_models().values():
        rows.append((model.name, model.about, model.score, model.licence, f"{model.size / 1e6:.1f} MB"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
