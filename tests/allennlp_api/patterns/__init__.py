"""Ways in which public code uses AllenNLP's ELMo, each a function of a `Library` and a place with files.

A pattern returns tensors, arrays or plain values, in whatever lists and dictionaries, that have to be the
same whether AllenNLP's names are imported or ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin import batch_to_ids

SENTENCES = [["The", "play", "ended", "."], ["A", "long", "play", "!"], ["Wörterbuch", "by", "a", "child"]]
RAGGED = [["The", "play", "ended", "."], ["Wörterbuch"], ["A", "child"]]
IDS = batch_to_ids(SENTENCES)


@dataclass(frozen=True)
class Library:
    """What a script imports, by AllenNLP's names."""

    Elmo: Any
    ElmoTokenEmbedder: Any
    ScalarMix: Any
    batch_to_ids: Any


class Place(NamedTuple):
    """
    options, weights: the files of a biLM
    folder: an empty folder
    """

    options: str
    weights: str
    folder: Path

    @property
    def files(self) -> tuple[str, str]:
        return self.options, self.weights


Pattern = Callable[[Library, Place], Any]
