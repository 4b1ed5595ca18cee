"""The base of the dataset readers of all tasks."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import infer_constructor_params
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, ListField, MetadataField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.tokenizers import text_as_typed

logger = get_logger(__name__)

_COLUMN = re.compile(r"\S+", re.ASCII)


class Line(NamedTuple):
    """
    A line of a text file, including its line end, with the name of the file and its number, from 1;
    or another part of a file, named by its `unit`.
    """

    text: str
    file: str
    number: int
    unit: str = "line"

    @property
    def place(self) -> str:
        """Its place in the file."""
        return f"{self.unit} {self.number}"

    @property
    def location(self) -> str:
        """File and line, with which an error message begins."""
        return f"{self.file}, {self.place}"

    def error(self, message: object) -> ConfigurationError:
        """Returns an error that begins with file and line."""
        return ConfigurationError(f"{self.location}: {message}")

    @property
    def columns(self) -> list[str]:
        """The parts of the line between ASCII white space. Other spaces may be part of a word."""
        return _COLUMN.findall(self.text)

    @property
    def fields(self) -> list[str]:
        """The parts of the line between tabs, with any spaces; without tabs, its `columns`."""
        if "\t" not in self.text:
            return self.columns
        return [field.strip(" ") for field in self.text.strip("\r\n").split("\t")]


class TaskDatasetReader(DatasetReader):
    """
    The base of dataset readers of text files. The files are UTF-8; files whose names end in `.gz`
    or `.zst` are compressed.

    A subclass has `read_examples`; it yields the arguments of `text_to_instance` for each example
    in the lines of a file. Error messages call the examples by the plural `example_names`.

    If `folder_patterns` is set, for example to `("*_gold.txt", "*.txt")`, a folder can be read as
    well. The patterns are tried in order, and the first one that matches a file below the folder
    decides: all files that match it are read, compressed or not. The log lists the files without an
    example.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors, for all text fields.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8, and naming the file
    or the folder if it contains no example.
    """

    example_names = "sentences"
    folder_patterns: tuple[str, ...] = ()
    keep_marks = False  # see `read_text_lines`

    def __init__(self, token_indexers: dict[str, TokenIndexer], **kwargs: Any) -> None:
        # Misspelled options of a configuration arrive in `kwargs`, beside the common options. They
        # are refused here, because the error of `DatasetReader` would not list the known ones.
        common_options = signature(DatasetReader.__init__).parameters.keys()
        unknown = sorted(kwargs.keys() - common_options)
        if unknown:
            # Many unknown options describe another file format, such as a delimiter. Therefore the
            # error also names `elmo import`.
            own_options = infer_constructor_params(type(self)).keys() - common_options - {"kwargs"}
            raise ConfigurationError(
                f"dataset_reader: there is no option {unknown[0]!r}; it has "
                f"{', '.join(sorted(own_options))}; `elmo import` reads files of other forms"
            )
        super().__init__(**kwargs)
        self._token_indexers = token_indexers

    @abstractmethod
    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[Any, ...]]:
        """
        Yields the arguments of `text_to_instance` for each example in a file.

        Raises `ConfigurationError`, with a message that begins with `Line.location`, if a line is
        malformed.
        """

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        files = self._find_files(str(file_path))
        empty_files = []
        for file in files:
            has_example = False
            for example in self.read_examples(read_text_lines(file, self.keep_marks)):
                has_example = True
                yield self.text_to_instance(*example)
            if not has_example:
                empty_files.append(file)
        if len(empty_files) == len(files):
            if Path(file_path).is_dir():
                kind = "folder"
            else:
                kind = "file"
            raise ConfigurationError(f"{file_path}: no {self.example_names} in this {kind}")
        if empty_files:
            logger.info(
                "%d of %d files have no %s: %s",
                len(empty_files),
                len(files),
                self.example_names,
                empty_files,
            )

    def _find_files(self, file_path: str) -> list[str]:
        """
        Returns the files to read, in the order of their paths: the path itself if it is a file, or
        the files below a folder. The first of the `folder_patterns` that matches any file chooses
        them. Raises `ConfigurationError` if no file is found.
        """
        folder = Path(file_path)
        if not folder.is_dir():
            return [file_path]
        if not self.folder_patterns:
            raise ConfigurationError(f"{file_path}: expected a file, not a folder")
        for pattern in self.folder_patterns:
            files: set[Path] = set()
            for suffix in ("", ".gz", ".zst"):
                files.update(folder.rglob(pattern + suffix))
            if files:
                return [str(file) for file in sorted(files)]
        patterns = " or ".join(self.folder_patterns)
        raise ConfigurationError(f"{file_path}: no {patterns} (plain, .gz or .zst) in this folder")

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        for field in instance.fields.values():
            parts: Sequence[Field] = [field]
            if isinstance(field, ListField):  # such as the sentences of a document
                parts = field.field_list
            for part in parts:
                if isinstance(part, TextField):
                    part.token_indexers = self._token_indexers


def sentence_fields(tokens: list[Token]) -> dict[str, Field]:
    """Returns the field `tokens`, for the model, and the field `words`, with the words as typed."""
    words = [text_as_typed(token) for token in tokens]
    return {"tokens": TextField(tokens), "words": MetadataField(words)}


def read_text_lines(file_path: str, keep_marks: bool = False) -> Iterator[Line]:
    """
    Yields the lines of a text file, plain or compressed. Byte order marks are removed. With
    `keep_marks`, those inside a line stay, because they count in character offsets.

    Raises `ConfigurationError`, naming file and line, if a line is not UTF-8.
    """
    with as_configuration_error():
        for number, line in enumerate(read_lines(file_path), start=1):
            text = decode(line, f"{file_path}, line {number}", keep_marks)
            # A mark before the text of a line is no part of it, even where marks are kept.
            yield Line(text.lstrip(BYTE_ORDER_MARK), file_path, number)
