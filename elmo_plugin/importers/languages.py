"""Whether texts are English, as the bundled biLM and the bundled word vectors are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_ENGLISH_WORDS = """
the and to that with it you this are not by from they which his she were been would there their
what when
"""
_OTHER_WORDS = """
der und ist nicht das ein eine mit für auf ich sie wird el los las que una por para con del pero muy
como está les est une dans pour pas avec sur nous vous qui mais che della sono gli nel più het een
van niet voor naar não uma com isso och att inte jag ikke som til jeg się nie jest na že není bir bu
için yang dan tidak untuk
"""
_COMMON = frozenset(_ENGLISH_WORDS.split())
"""Frequent words of English that are hardly words of other languages in the Latin alphabet."""
_FOREIGN = frozenset(_OTHER_WORDS.split())
"""Frequent words of other languages in the Latin alphabet that are hardly words of English."""
_WORD = re.compile(r"[^\W\d_]+")
_LAST_LATIN_LETTER = "\u024f"  # in the order of Unicode
_MIN_LETTERS = 10  # that tell an alphabet
_MIN_FOREIGN_WORDS = 3  # that tell another language
_MIN_DIFFERENT_WORDS = 30  # some of them would be common ones if the texts were English
_MIN_SHARE_OF_COMMON_WORDS = 0.04  # English texts have about 0.2
_MAX_WORDS = 100_000  # that are looked at


@dataclass
class _Counts:
    """The words and letters of texts, as far as they tell the language."""

    different_words: set[str] = field(default_factory=set)
    words: int = 0
    common_words: int = 0
    foreign_words: int = 0
    letters: int = 0
    non_latin_letters: int = 0

    def add(self, word: str) -> None:
        """Counts a word and its letters."""
        lower = word.lower()
        self.different_words.add(lower)
        self.words += 1
        if lower in _COMMON:
            self.common_words += 1
        if lower in _FOREIGN:
            self.foreign_words += 1
        for letter in word:
            self.letters += 1
            if letter > _LAST_LATIN_LETTER:
                self.non_latin_letters += 1


def looks_english(texts: Iterable[str]) -> bool:
    """Returns whether texts may be English; `True` if they are too short to say."""
    counts = _count(texts)
    most_are_non_latin = counts.non_latin_letters > counts.letters / 2
    if most_are_non_latin and counts.letters >= _MIN_LETTERS:
        return False
    # English texts may quote a few words of other languages.
    most_are_foreign = counts.foreign_words > 2 * counts.common_words
    if most_are_foreign and counts.foreign_words >= _MIN_FOREIGN_WORDS:
        return False
    if len(counts.different_words) < _MIN_DIFFERENT_WORDS:
        return True
    return counts.common_words >= _MIN_SHARE_OF_COMMON_WORDS * counts.words


def _count(texts: Iterable[str]) -> _Counts:
    """Counts the words and the letters of the first texts, which say enough of the others."""
    counts = _Counts()
    for text in texts:
        for word in _WORD.findall(text):
            counts.add(word)
        if counts.words > _MAX_WORDS:
            break
    return counts
