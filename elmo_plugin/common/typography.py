# ruff: noqa: RUF001
"""Typographic characters and their ASCII twins: `isn’t` is read as `isn't`, wherever it is typed.

Raw text is normalized before it is split into words, and each word knows its place in the text as
typed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from elmo_plugin.common.errors import BiLmError

# Han, kana and their marks of repetition and length, each with the marks that follow: voicing and
# variants.
_HAN_OR_KANA = (
    "[\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
    "[\u3099\u309a\uff9e\uff9f\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
)
_PUNCTUATION = (
    r"[\u3001-\u3003\u3008-\u3020\u3030\u303d\u30a0\u30fb"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
SEPARATE = re.compile(f"{_HAN_OR_KANA}|{_PUNCTUATION}")
"""A Han or kana character, or a punctuation mark of East Asia: a word of its own, as for BERT's
tokenizer.
"""

SEGMENTED_LANGUAGES = ("ja", "th")
"""The languages that spaCy splits into words in its own way."""

# Scripts without spaces between words, with their characters.
_UNSPACED = {
    "Thai": "\u0e01-\u0e7f",
    "Lao": "\u0e81-\u0eff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff",
    "Tibetan": "\u0f00-\u0fff",
    "Javanese": "\ua980-\ua9df",
    "Tai Tham": "\u1a20-\u1aaf",
}
_LONGEST_NAME = 20  # characters of a foreign name; a longer run is taken for a sentence
_ANY_UNSPACED = re.compile(f"[{''.join(_UNSPACED.values())}]")


def check_script(text: str, option: str) -> None:
    """
    Raises `BiLmError`, naming the `option` that chooses a tokenizer, if the text is in a script
    without spaces between words. In a text of another script, a name in such a script is allowed,
    and taken for one word.
    """
    if text.isascii():  # for speed: this is most text
        return
    first = _ANY_UNSPACED.search(text)
    if first is None or _has_only_names_in_unspaced_script(text):
        return
    script = _name_of_unspaced_script(first[0])
    raise BiLmError(f"{script} is written without spaces between words: set {option}")


def _has_only_names_in_unspaced_script(text: str) -> bool:
    """
    Returns whether a text in another script may just have a few names in a script without spaces:
    they are short, and fewer than half of the words.
    """
    # For each word between spaces, how many of its characters are in a script without spaces.
    lengths = []
    for word in text.split():
        if any(character.isalpha() for character in word):
            lengths.append(len(_ANY_UNSPACED.findall(word)))
    names = [length for length in lengths if length > 0]
    are_few = 2 * len(names) < len(lengths)
    are_short = all(length <= _LONGEST_NAME for length in names)
    return are_few and are_short


def _name_of_unspaced_script(character: str) -> str:
    """Returns the name of the script in `_UNSPACED` that has a character."""
    return next(
        name for name, characters in _UNSPACED.items() if re.match(f"[{characters}]", character)
    )


BYTE_ORDER_MARK = "\ufeff"

_REPLACEMENTS = {
    "'": "’‘‚‛‹›ʼʻʽ´′＇❛❜",
    '"': "“”„‟«»″＂❝❞〝〞",
    "'''": "‴",
    "-": "‐‑‒–−﹣－",
    "--": "—―⸺⸻﹘",
    "..": "‥",
    "...": "…",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000",
    # soft hyphen, zero-width space, directions, joiner and order mark: they are invisible
    "": "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff",
    "ff": "\ufb00",
    "fi": "\ufb01",
    "fl": "\ufb02",
    "ffi": "\ufb03",
    "ffl": "\ufb04",
    "st": "\ufb05\ufb06",
}


def _twins() -> dict[str, str]:
    """Returns the ASCII twin of each typographic character."""
    twins = {}
    for twin, characters in _REPLACEMENTS.items():
        for character in characters:
            twins[character] = twin
    return twins


_TWINS = _twins()
# Zero-width joiners are part of the spelling in many scripts, and join emoji, so they are removed
# from Latin text only.
_ALL = re.escape("".join(_TWINS))
_OTHER_SCRIPT = rf"[^\x00-\u024f\u200c\u200d{_ALL}]"
_TYPOGRAPHIC = re.compile(rf"[{_ALL}]|(?<!{_OTHER_SCRIPT})[\u200c\u200d](?!{_OTHER_SCRIPT})")


class Word(NamedTuple):
    """
    A word of a text.

    text: as models read it
    start, end: its place in the text as typed
    """

    text: str
    start: int
    end: int


class NormalizedText:
    """
    A text with ASCII twins in place of typographic characters, and the origin of each character.
    With `separate`, Han and kana characters stand between spaces.
    """

    # For each character of `text`, the place of the typed character that it comes from.
    _origins: Sequence[int]

    def __init__(self, typed: str, separate: bool) -> None:
        if typed.isascii():
            self.text = typed
            self._origins = range(len(typed))
            return
        pieces = _normalized_pieces(typed, separate)
        self.text = "".join(pieces)
        origins: list[int] = []
        for origin, piece in enumerate(pieces):
            origins += [origin] * len(piece)
        self._origins = origins

    def word(self, start: int, end: int) -> Word:
        """Returns the word between two places of the normalized text."""
        return Word(self.text[start:end], self._origins[start], self._origins[end - 1] + 1)


def _normalized_pieces(typed: str, separate: bool) -> list[str]:
    """
    Returns the piece of the normalized text that each typed character becomes: itself, its ASCII
    twin, or nothing. With `separate`, pieces of Han and kana have spaces around them.
    """
    pieces = list(typed)
    for match in _TYPOGRAPHIC.finditer(typed):  # one character each
        pieces[match.start()] = _twin(match)
    if separate:
        for match in SEPARATE.finditer(typed):  # a character, or several: a letter and its marks
            first = match.start()
            last = match.end() - 1
            pieces[first] = f" {pieces[first]}"
            pieces[last] = f"{pieces[last]} "
    return pieces


def normalize_text(text: str) -> str:
    """
    Returns a text, or a word, with ASCII twins: `'` for `’`, `"` for `“`, `--` for an em dash,
    `...` for an ellipsis, plain spaces, ligatures in letters; soft hyphens and other invisible
    characters are dropped.
    """
    if text.isascii():
        return text
    return _TYPOGRAPHIC.sub(_twin, text)


def _twin(match: re.Match[str]) -> str:
    """Returns the ASCII twin of a character; a joiner is dropped."""
    return _TWINS.get(match[0], "")
