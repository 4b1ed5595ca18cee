# ruff: noqa: RUF001
"""Typographic characters and their ASCII twins: `isn’t` is read as `isn't`, wherever it is typed.

Raw text is normalized before it is split into words, and each word knows its place in the text as typed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from elmo_plugin.common.scripts import SEPARATE

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
_TWINS = {character: twin for twin, characters in _REPLACEMENTS.items() for character in characters}
# Zero-width joiners are spelling in many scripts and join emoji: they go from Latin text alone.
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
    A text with ASCII twins in place of typographic characters, and the origin of each character. With
    `separate`, Han and kana characters stand between spaces.
    """

    def __init__(self, typed: str, separate: bool = False) -> None:
        self.text = typed
        self._origins: Sequence[int] = range(len(typed))
        if not typed.isascii():
            pieces = list(typed)
            for match in _TYPOGRAPHIC.finditer(typed):
                pieces[match.start()] = _twin(match)
            for match in SEPARATE.finditer(typed) if separate else ():
                pieces[match.start()] = f" {pieces[match.start()]}"
                pieces[match.end() - 1] += " "
            self.text = "".join(pieces)
            self._origins = [origin for origin, piece in enumerate(pieces) for _ in piece]

    def word(self, start: int, end: int) -> Word:
        """Returns the word between two places of the normalized text."""
        return Word(self.text[start:end], self._origins[start], self._origins[end - 1] + 1)


def normalize_text(text: str) -> str:
    """
    Returns a text, or a word, with ASCII twins: `'` for `’`, `"` for `“`, `--` for an em dash, `...` for an
    ellipsis, plain spaces, ligatures in letters; soft hyphens and other invisible characters are dropped.
    """
    return text if text.isascii() else _TYPOGRAPHIC.sub(_twin, text)


def _twin(match: re.Match[str]) -> str:
    return _TWINS.get(match[0], "")
