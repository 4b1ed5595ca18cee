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
    Returns the encoding that fits a text best, or several if they fit equally well and decode it
    to different letters; none if the text fits no language.

    A language fits a text well if many of its frequent words are there, and few words with letters
    that it does not have: the difference of their numbers is its score. Each word counts once.
    """
    texts = dict(_decoded(content))  # by encoding
    words = {encoding: set(_WORD.findall(text)) for encoding, text in texts.items()}
    scores: dict[str, int] = {}
    for language in _LANGUAGES:
        if language.encoding in texts:
            score = _score(words[language.encoding], language)
            scores[language.encoding] = max(score, scores.get(language.encoding, score))
    best = max(scores.values(), default=-1)
    if best < 0:
        return []
    likely: list[str] = []
    for encoding, score in scores.items():
        is_new = all(texts[encoding] != texts[other] for other in likely)
        if score == best and is_new:
            likely.append(encoding)
    return likely


def _decoded(content: bytes) -> Iterator[tuple[str, str]]:
    """Yields each encoding in which the content is legal, and the text that it then is."""
    for encoding in (_WESTERN, _CENTRAL, _TURKISH, _BALTIC):
        try:
            yield encoding, content.decode(encoding)
        except UnicodeDecodeError:
            continue


def _score(words: Set[str], language: _Language) -> int:
    """Returns how well the different words of a text fit a language."""
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
    Returns whether a word has a letter that is neither of ASCII nor one of the `letters`, or more
    of these in succession than words of the Latin alphabet have.
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
