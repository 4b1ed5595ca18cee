"""Figures of matplotlib (an extra)."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")


def check_plot(option: str, path: str | PathLike[str]) -> None:
    """Raises `BiLmError` if the file that an option of a command names cannot be drawn."""
    if Path(path).suffix not in FORMATS:
        raise BiLmError(f"{option} draws {', '.join(FORMATS)}, not {path}")
    new_figure(1, 1)


def new_figure(width: float, height: float) -> "Figure":
    """Returns an empty figure, with sizes in inches. Raises `BiLmError` if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        how = "install elmo_plugin[figures], or matplotlib itself"
        raise BiLmError(f"drawing needs matplotlib: {how}") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: str | PathLike[str]) -> None:
    """Writes a figure in the format of the path's suffix, one of `FORMATS`."""
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=200)
