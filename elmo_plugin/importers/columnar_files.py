"""Tables of parquet and of Arrow, which store column after column, by pyarrow."""

import io
from types import ModuleType

import numpy
import pandas
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.text_files import suffix_of
from elmo_plugin.importers.text import read_content

COLUMNAR = (".parquet", ".arrow", ".feather")
_ARROW_FILE = b"ARROW1"  # the first bytes of the file format; the stream format has none


def read_columnar(file: str) -> pandas.DataFrame:
    """
    Returns the table of a file as text, with the names of its columns in the first row, as in
    tables of other formats. A missing value becomes an empty text.

    Raises `ConfigurationError`, naming the file, if it cannot be read, or if pyarrow is not
    installed.
    """
    content = read_content(file)
    try:
        import pyarrow  # here, because only these files need it
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigurationError(
            f"{file}: reading parquet and Arrow needs pyarrow ({error}): pip install pyarrow"
        ) from None
    try:
        frame = _read_frame(pyarrow, file, content)
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"{file}: not a table that pyarrow can read ({error})") from None
    header = pandas.DataFrame([[str(name) for name in frame.columns]])
    values = frame.astype(object).where(frame.notna(), "")
    # `concat` puts columns of the same name below each other, and those of `header` are numbers.
    values.columns = header.columns
    return pandas.concat([header, values], ignore_index=True).map(_as_text)


def _read_frame(pyarrow: ModuleType, file: str, content: bytes) -> pandas.DataFrame:
    """
    Reads the content of a file with the module `pyarrow`. It is parquet, Arrow's file format (as in
    `.feather`), or Arrow's stream format (as `datasets` writes it).
    """
    if suffix_of(file) == ".parquet":
        table = pyarrow.parquet.read_table(io.BytesIO(content))
    elif content.startswith(_ARROW_FILE):
        table = pyarrow.ipc.open_file(content).read_all()
    else:
        table = pyarrow.ipc.open_stream(content).read_all()
    # By default, a missing value would turn a column of integers into floats.
    frame = table.to_pandas(integer_object_nulls=True)
    # If pandas wrote the file, a column may have been the index of its table, and becomes the index
    # of this one. It is needed as a column like others.
    names_of_index = []
    for name in frame.index.names:
        if name is not None and name not in frame.columns:
            names_of_index.append(name)
    if names_of_index:
        frame = frame.reset_index(level=names_of_index)
    return frame


def _as_text(value: object) -> str:
    """Returns a value as text, and an array as the text of a list, as `value_in_cell` reads it."""
    if isinstance(value, numpy.ndarray):
        value = value.tolist()
    return str(value)
