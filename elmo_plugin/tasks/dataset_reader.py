"""What the dataset readers of all tasks share."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance, TokenIndexer
from allennlp.data.fields import Field, ListField, MetadataField, TextField
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.common.text_files import decode, read_lines


class Line(NamedTuple):
    """A line of a text file, with its line end, and where it is; the first line has the number 1."""

    text: str
    file: str
    number: int

    @property
    def location(self) -> str:
        """File and line, with which an error message begins."""
        return f"{self.file}, line {self.number}"


class TaskDatasetReader(DatasetReader):
    """
    The base of dataset readers of text files. The files are UTF-8; those whose names end in `.gz` or `.zst`
    are compressed.

    A subclass turns lines into examples by `read_examples`, and an example into an instance by
    `text_to_instance`, whose arguments an example is. Error messages call an example by `example_name`.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors, for all text fields.

    Raises `ConfigurationError`, naming file and line, where a line is not UTF-8, and naming the file where it
    holds no example.
    """

    example_name = "sentence"

    def __init__(self, token_indexers: dict[str, TokenIndexer], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._token_indexers = token_indexers

    @abstractmethod
    def read_examples(self, lines: Iterable[Line]) -> Iterator[tuple[Any, ...]]:
        """
        Yields the arguments of `text_to_instance` for each example in a file.

        Raises `ConfigurationError`, beginning with `Line.location`, where a line is not as it should be.
        """

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        example = None
        for example in self.read_examples(_read_text_lines(str(file_path))):
            yield self.text_to_instance(*example)
        if example is None:
            raise ConfigurationError(f"{file_path}: there is no {self.example_name} in this file")

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        for field in instance.fields.values():
            self._apply_to_texts(field)

    def _apply_to_texts(self, field: Field) -> None:
        if isinstance(field, TextField):
            field.token_indexers = self._token_indexers
        elif isinstance(field, ListField):
            for part in field.field_list:
                self._apply_to_texts(part)


def sentence_fields(tokens: list[Token]) -> dict[str, Field]:
    """Returns the fields `tokens`, the text, and `words`, its words as strings."""
    return {"tokens": TextField(tokens), "words": MetadataField([token.text for token in tokens])}


def _read_text_lines(file_path: str) -> Iterator[Line]:
    for number, line in enumerate(read_lines(file_path), start=1):
        yield Line(decode(line, f"{file_path}, line {number}"), file_path, number)
