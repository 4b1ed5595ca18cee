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
_LAST_LATIN = "\u024f"
_FEWEST_WORDS = 30  # different ones, to tell languages by the words that are missing
_FEWEST_FOREIGN = 3
_FEWEST_LETTERS = 10  # to tell alphabets
_MOST_WORDS = 100_000  # that are looked at
_LEAST_SHARE = 0.04  # of the common words; English texts have about 0.2


@dataclass
class _Counts:
    """The words and letters of texts, as far as they tell the language."""

    different: set[str] = field(default_factory=set)
    words: int = 0
    common: int = 0
    foreign: int = 0
    letters: int = 0
    other_letters: int = 0

    def add(self, word: str) -> None:
        """Counts a word and its letters."""
        lower = word.lower()
        self.different.add(lower)
        self.words += 1
        if lower in _COMMON:
            self.common += 1
        if lower in _FOREIGN:
            self.foreign += 1
        for letter in word:
            self.letters += 1
            if letter > _LAST_LATIN:
                self.other_letters += 1


def looks_english(texts: Iterable[str]) -> bool:
    """Returns whether texts may be English; `True` if they are too short to say."""
    counts = _count(texts)
    if counts.letters >= _FEWEST_LETTERS and counts.other_letters > counts.letters / 2:
        return False
    if counts.foreign >= _FEWEST_FOREIGN and counts.foreign > 2 * counts.common:
        return False
    if len(counts.different) < _FEWEST_WORDS:
        return True
    return counts.common >= _LEAST_SHARE * counts.words


def _count(texts: Iterable[str]) -> _Counts:
    """Counts the words of the first texts."""
    counts = _Counts()
    for text in texts:
        for word in _WORD.findall(text):
            counts.add(word)
        if counts.words > _MOST_WORDS:
            break
    return counts
