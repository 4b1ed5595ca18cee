"""Which of Windows' encodings of the Latin alphabet a text has, by the languages that it fits.

The same byte is è in cp1252 and č in cp1250, and þ in cp1252 and ş in cp1254. So a text is decoded
by each, and compared with the letters and the frequent words of languages.
"""

import re
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path
from runpy import run_path
from typing import NamedTuple

from spacy import lang

_WESTERN = "cp1252"
_CENTRAL = "cp1250"
_TURKISH = "cp1254"
_BALTIC = "cp1257"
_WORD = re.compile(r"[^\W\d_]+")


class _Language(NamedTuple):
    """The encoding of a language, its code, and its letters that ASCII lacks, in small letters."""

    encoding: str
    code: str
    letters: str


_MOST_IN_SUCCESSION = 2  # letters that ASCII lacks; words of other alphabets have more of them
_LANGUAGES = (
    _Language(_WESTERN, "en", "àäçèéêëïñöü"),  # in foreign words, such as café
    _Language(_WESTERN, "ca", "àçèéíïòóúü·"),
    _Language(_WESTERN, "da", "æøåé"),
    _Language(_WESTERN, "de", "äöüßéàè"),
    _Language(_WESTERN, "es", "áéíñóúü"),
    _Language(_WESTERN, "fi", "åäöšž"),
    _Language(_WESTERN, "fr", "àâæçèéêëîïôœùûüÿ"),
    _Language(_WESTERN, "is", "áæéíðóöúýþ"),
    _Language(_WESTERN, "it", "àèéìíîòóùú"),
    _Language(_WESTERN, "nb", "æøåéèòôó"),
    _Language(_WESTERN, "nl", "áéèëíïóöúüà"),
    _Language(_WESTERN, "pt", "áâãàçéêíóôõúü"),
    _Language(_WESTERN, "sv", "åäöé"),
    _Language(_CENTRAL, "cs", "áčďéěíňóřšťúůýž"),
    _Language(_CENTRAL, "hr", "čćđšž"),
    _Language(_CENTRAL, "hu", "áéíóöőúüű"),
    _Language(_CENTRAL, "pl", "ąćęłńóśźż"),
    _Language(_CENTRAL, "ro", "ăâîşţ"),
    _Language(_CENTRAL, "sk", "áäčďéíĺľňóôŕšťúýž"),
    _Language(_CENTRAL, "sl", "čšž"),
    _Language(_TURKISH, "tr", "âçğıîöşûü"),
    _Language(_BALTIC, "et", "äõöšüž"),
    _Language(_BALTIC, "lt", "ąčęėįšųūž"),
    _Language(_BALTIC, "lv", "āčēģīķļņšūž"),
)


def latin_encodings(content: bytes) -> list[str]:
    """
    Returns the encoding that fits a text best, or several encodings if they fit equally well. Of
    encodings that decode the text to the same letters, only the first is returned. The list is
    empty if the text fits no language.
    """
    texts = dict(_decoded(content))
    scores = {encoding: _best_score(text, encoding) for encoding, text in texts.items()}
    best = max(scores.values(), default=-1)
    if best < 0:  # more words contradict each language than speak for it
        return []
    encodings_by_text: dict[str, str] = {}
    for encoding, text in texts.items():
        if scores[encoding] == best:
            encodings_by_text.setdefault(text, encoding)
    return list(encodings_by_text.values())


def _decoded(content: bytes) -> Iterator[tuple[str, str]]:
    """Yields each encoding in which the content is legal, and the text as which it decodes it."""
    for encoding in (_WESTERN, _CENTRAL, _TURKISH, _BALTIC):
        try:
            yield encoding, content.decode(encoding)
        except UnicodeDecodeError:
            continue


def _best_score(text: str, encoding: str) -> int:
    """Returns how well a text fits the language of an encoding that it fits best."""
    words = set(_WORD.findall(text))
    return max(_score(words, language) for language in _LANGUAGES if language.encoding == encoding)


def _score(words: Set[str], language: _Language) -> int:
    """
    Returns how well the different words of a text fit a language: how many are frequent words of
    the language, less how many have letters that it does not use.
    """
    # spaCy's frequent words are in small letters. The text's words are compared as written, because
    # the tag O of many files would otherwise count as "o", a frequent word of some languages.
    known = len(words & _frequent_words(language.code))
    foreign = sum(_has_other_letters(word, language.letters) for word in words)
    return known - foreign


@cache
def _frequent_words(language_code: str) -> Set[str]:
    """
    Returns spaCy's frequent words of a language. Their file is run by itself: to import the
    languages would also build their tokenizers, and take seconds.
    """
    file = Path(lang.__path__[0]) / language_code / "stop_words.py"
    frequent: Set[str] = run_path(str(file))["STOP_WORDS"]
    return frequent


def _has_other_letters(word: str, letters: str) -> bool:
    """
    Returns whether a word has a letter that is neither in ASCII nor one of the `letters`. A word
    with many letters outside of ASCII in succession also counts: it is of another alphabet.
    """
    in_succession = 0
    for letter in word:
        if letter.isascii():
            in_succession = 0
            continue
        in_succession += 1
        if letter.lower() not in letters or in_succession > _MOST_IN_SUCCESSION:
            return True
    return False
