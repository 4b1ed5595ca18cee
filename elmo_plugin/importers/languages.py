"""Whether texts are English, as the bundled biLM and the bundled word vectors are."""

import re
from collections.abc import Iterable

_COMMON = {
    *("the", "and", "to", "that", "with", "it", "you", "this", "are", "not", "by", "from", "they"),
    *("which", "his", "she", "were", "been", "would", "there", "their", "what", "when"),
}
"""Frequent words of English that are hardly words of other languages in the Latin alphabet."""
_WORD = re.compile(r"[^\W\d_]+")
_LAST_LATIN = "\u024f"
_FEWEST_WORDS = 30  # different ones, to tell languages by them
_FEWEST_LETTERS = 10  # to tell alphabets
_MOST_WORDS = 100_000  # that are looked at
_LEAST_SHARE = 0.04  # of the common words; English texts have about 0.2


def looks_english(texts: Iterable[str]) -> bool:
    """Returns whether texts may be English; `True` if they are too short to say."""
    different = set()
    num_words = num_common = num_letters = num_others = 0
    for text in texts:
        for word in _WORD.findall(text):
            num_words += 1
            different.add(word.lower())
            num_common += word.lower() in _COMMON
            num_letters += len(word)
            num_others += sum(letter > _LAST_LATIN for letter in word)
        if num_words > _MOST_WORDS:
            break
    if num_letters >= _FEWEST_LETTERS and num_others > num_letters / 2:
        return False
    return len(different) < _FEWEST_WORDS or num_common >= _LEAST_SHARE * num_words
