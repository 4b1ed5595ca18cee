"""Documents of words with their clusters of mentions."""

from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.spans import Span

NO_SPEAKER = "-"
_EXPECTED_SPEAKERS = '"speakers": expected one name for each word of each of the "sentences"'


class CorefDocument(NamedTuple):
    """A document or a part of one, with its clusters of mentions."""

    name: str  # such as "nw/wsj/24/wsj_2401"
    part: str  # its number as in the file, such as "000", or empty
    sentences: list[list[str]]  # with the brackets and quotation marks of plain text
    speakers: list[list[str]]  # the speaker of each word, "-" if unknown
    genre: str  # the part of the name before the first "/"
    clusters: list[list[Span]]
    file: str = ""
    first_line: int = 1
    text: str | None = None  # as somebody typed it, if it was not given as words
    places: list[tuple[int, int]] | None = None  # start and end of each word in `text`

    @property
    def length(self) -> int:
        """The number of its words."""
        return sum(len(words) for words in self.sentences)

    @property
    def typed_sentences(self) -> list[list[str]]:
        """
        The sentences with each word as it stands in `text`; without `text`, as in `sentences`.
        """
        if self.text is None or self.places is None:
            return self.sentences
        typed = []
        first = 0  # the index in the document of the first word of the sentence
        for words in self.sentences:
            places = self.places[first : first + len(words)]
            typed.append([self.text[start:end] for start, end in places])
            first += len(words)
        return typed

    @property
    def title(self) -> str:
        """Name and part, by which the scorer finds a document, such as "(wsj_2401); part 000"."""
        if not self.part:
            return f"({self.name});"
        return f"({self.name}); part {self.part}"

    @property
    def location(self) -> str:
        """File and line, with which an error message begins."""
        return f"{self.file}, line {self.first_line}"


def genre_in(name: str) -> str:
    """Returns the part of a document's name before the first "/"; an empty string without one."""
    genre, slash, _ = name.partition("/")
    if not slash:
        return ""
    return genre


def check_words(sentences: Any) -> list[list[str]]:
    """
    Returns the sentences of a predictor's input without byte order marks. Raises `BiLmError` if
    they are not lists of words, or one of the lists or words is empty.
    """
    if not sentences or not _are_texts(sentences) or not all(sentences):
        raise BiLmError(
            '"sentences": expected a list of lists of words, none of them empty, got '
            f"{sentences!s:.200}"
        )
    return [[word.replace(BYTE_ORDER_MARK, "") for word in words] for words in sentences]


def check_speakers(speakers: Any, sentences: list[list[str]]) -> list[list[str]]:
    """
    Returns the speaker of each word in a predictor's input: "-" if the speaker is null or empty, or
    if `speakers` is `None`. Raises `BiLmError` if speakers are given, but not one for each word.
    """
    if speakers is None:
        return [[NO_SPEAKER] * len(words) for words in sentences]
    if not is_list_of(speakers, list) or len(speakers) != len(sentences):
        raise BiLmError(_EXPECTED_SPEAKERS)
    checked = []
    for names, words in zip(speakers, sentences, strict=True):
        names = [name or NO_SPEAKER for name in names]
        if not _are_texts([names]) or len(names) != len(words):
            raise BiLmError(_EXPECTED_SPEAKERS)
        checked.append(names)
    return checked


def _are_texts(lists: Any) -> bool:
    """
    Returns whether the value is a list of lists of texts, and none of the texts is empty but for
    byte order marks. A list may be empty.
    """
    if not is_list_of(lists, list):
        return False
    for texts in lists:
        if not is_list_of(texts, str) or not all(text.strip(BYTE_ORDER_MARK) for text in texts):
            return False
    return True
