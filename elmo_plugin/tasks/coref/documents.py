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
    places: list[tuple[int, int]] | None = None  # the start and end in `text` of each word

    @property
    def length(self) -> int:
        """The number of its words."""
        return sum(len(words) for words in self.sentences)

    @property
    def typed_sentences(self) -> list[list[str]]:
        """
        The sentences, with each word as somebody typed it in `text`. It may differ from the word in
        `sentences` by its brackets and quotation marks.
        """
        if self.text is None or self.places is None:
            return self.sentences
        typed = []
        first_word = 0  # of the sentence, as an index in the document
        for words in self.sentences:
            places = self.places[first_word : first_word + len(words)]
            typed.append([self.text[start:end] for start, end in places])
            first_word += len(words)
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
    # The function checks the words. That no sentence is empty is checked here.
    is_usable = _is_list_of_word_lists(sentences) and len(sentences) > 0 and all(sentences)
    if not is_usable:
        raise BiLmError(
            '"sentences": expected a list of lists of words, none of them empty, got '
            f"{sentences!s:.200}"
        )
    return [[word.replace(BYTE_ORDER_MARK, "") for word in words] for words in sentences]


def check_speakers(speakers: Any, sentences: list[list[str]]) -> list[list[str]]:
    """
    Returns the speaker of each word in a predictor's input. A speaker that is null or empty becomes
    "-", and so do all speakers if `speakers` is `None`. Raises `BiLmError` if speakers are given,
    but not one for each word.
    """
    if speakers is None:
        return [[NO_SPEAKER] * len(words) for words in sentences]
    if not is_list_of(speakers, list) or len(speakers) != len(sentences):
        raise BiLmError(_EXPECTED_SPEAKERS)
    checked = []
    for names, words in zip(speakers, sentences, strict=True):
        names = [name or NO_SPEAKER for name in names]
        if not _is_word_list(names) or len(names) != len(words):
            raise BiLmError(_EXPECTED_SPEAKERS)
        checked.append(names)
    return checked


def _is_list_of_word_lists(value: Any) -> bool:
    """Returns whether the value is a list of lists of words. The lists may be empty."""
    return is_list_of(value, list) and all(_is_word_list(words) for words in value)


def _is_word_list(value: Any) -> bool:
    """Returns whether the value is a list of strings that contain more than byte order marks."""
    return is_list_of(value, str) and all(word.strip(BYTE_ORDER_MARK) for word in value)
