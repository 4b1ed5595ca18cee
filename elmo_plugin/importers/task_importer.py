"""The base of the importers of all tasks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report

Example = TypeVar("Example")


class TaskImporter(ABC, Generic[Example]):
    """
    Reads files of any form as the examples of one task, and writes the examples in the one form
    that the task has here.
    """

    examples: str
    """The name of the examples in messages, such as "sentences"."""
    suffix: str
    """The end of the names of the files that are written, such as ".txt"."""
    roles: Sequence[str] = ()
    """What `--column ROLE=NAME` may choose a column or a key for."""
    kind_of_labels = "labels"
    """The name of the labels in messages."""
    needs_two_labels = False
    """Whether training data of one label alone teach nothing."""
    refuses_new_labels = False
    """Whether dev and test data must have no label that the training data lack."""

    @abstractmethod
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[Example]:
        """
        Yields the examples of a file, or of a folder, and reports how its parts were read.

        Raises `ConfigurationError`, beginning with the file (and line), if the file is not of a
        known form, or if something cannot be decided. The error then names the option that decides
        it.
        """

    @abstractmethod
    def write(self, examples: Sequence[Example]) -> Iterator[str]:
        """Yields the text of a file in the one form, in pieces that include their line ends."""

    def labels(self, example: Example) -> Iterable[str]:
        """Returns the labels of an example, to count them."""
        return ()

    def document(self, example: Example) -> str:
        """
        Returns the document of an example, or an empty text if files do not name it. A split keeps
        documents whole.
        """
        return ""

    def text(self, example: Example) -> str:
        """Returns the text of an example, to recognize its language."""
        return ""

    def check(self, file: str, examples: Sequence[Example]) -> list[str]:
        """
        Returns messages about the examples of a file as a whole. Raises `ConfigurationError` if no
        model can learn from them.
        """
        return []
