"""The kinds of files that vectors are written to."""

from pathlib import Path

from elmo_plugin.embed_files.hdf5_output import Hdf5Output
from elmo_plugin.embed_files.part import OutputFormat
from elmo_plugin.embed_files.safetensors_output import SafetensorsOutput
from elmo_plugin.embed_files.settings import Settings

FORMATS = {"hdf5": (".hdf5", ".h5"), "safetensors": (".safetensors",)}  # and the ends of their names


def format_of(path: str | Path) -> str | None:
    """The format that the end of a file's name says, if any."""
    return next((name for name, ends in FORMATS.items() if Path(path).suffix in ends), None)


def make_format(name: str, settings: Settings, row_shape: tuple[int, ...]) -> OutputFormat:
    """
    # Parameters

    name : `str`
        One of `FORMATS`.
    settings : `Settings`
        What the file has.
    row_shape : `tuple[int, ...]`
        See `Embedder`.
    """
    return Hdf5Output(settings) if name == "hdf5" else SafetensorsOutput(settings, row_shape)
