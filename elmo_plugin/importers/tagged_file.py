"""A file with tagged words, and how it is to be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_text
from elmo_plugin.tasks.tokenizers import SpacyRulesTokenizer


@dataclass(frozen=True)
class TaggedFile:
    """A file with tagged words, and how it is to be read. `file` is its path, perhaps a folder."""

    file: str
    options: ImportOptions
    report: Report
    prefers_entities: bool
    """Whether types of entities without letters are the tags, if a file has other tags too."""

    @cached_property
    def text(self) -> str:
        """The text, read here for the first form that looks at it."""
        return read_text(self.file, self.options, self.report)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @cached_property
    def tokenizer(self) -> SpacyRulesTokenizer:
        """The rules that split the texts of a language into words."""
        return SpacyRulesTokenizer(self.options.language)
