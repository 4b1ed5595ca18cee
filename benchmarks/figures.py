"""What a benchmark found, for who runs it and for a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo_plugin.common.files import write_json


def report(figures: Mapping[str, Any], path: Path | None) -> None:
    """Prints the figures, one a line, and writes them to a JSON file if one is given."""
    for name, value in figures.items():
        print(f"{name:34}{value:,.3f}" if isinstance(value, float) else f"{name:34}{value}")
    if path is not None:
        write_json(path, figures)
