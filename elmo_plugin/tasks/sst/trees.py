"""Trees of the Stanford Sentiment Treebank, such as `(3 (2 Not) (1 bad))`."""

import re
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import unescape_word

MAX_DEPTH = 500  # the number of phrases around a word; the treebank's trees have at most about 30
# Only ASCII spaces divide words: the treebank has words with a no-break space, such as "2 1/2".
_PIECE = re.compile(r"\(\s*(?P<label>[^\s()]*)|(?P<end>\))|(?P<word>[^\s()]+)", re.ASCII)


class Phrase(NamedTuple):
    """A word or several, and their label: from 0, very negative, to 4, very positive."""

    label: str
    words: list[str]


def read_phrases(tree: str, location: str) -> list[Phrase]:
    """
    Returns all subtrees of a tree, each before its own subtrees: the first is the sentence. The innermost
    brackets may have several words, such as all of `(1 A good film .)`. Raises `ConfigurationError`,
    beginning with `location`, if `tree` is malformed, too deep, or has an invalid label.
    """
    phrases: list[Phrase] = []
    unclosed: list[Phrase] = []
    for piece in _PIECE.finditer(tree):
        if not unclosed and (phrases or piece["label"] is None):
            raise ConfigurationError(f"{location}: brackets are not balanced at {piece[0]!r}")
        is_leaf = bool(unclosed) and phrases[-1] is unclosed[-1]
        if piece["label"] is not None:
            if is_leaf and unclosed[-1].words:
                raise ConfigurationError(f"{location}: the word {unclosed[-1].words[-1]!r} lacks brackets")
            phrases.append(Phrase(piece["label"], []))
            unclosed.append(phrases[-1])
            if len(unclosed) > MAX_DEPTH:
                raise ConfigurationError(f"{location}: the tree is more than {MAX_DEPTH} brackets deep")
        elif piece["end"]:
            if not unclosed.pop().words:
                raise ConfigurationError(f"{location}: brackets without a word in them")
        elif not is_leaf:
            raise ConfigurationError(f"{location}: the word {piece[0]!r} lacks brackets")
        else:
            for phrase in unclosed:
                phrase.words.append(unescape_word(piece["word"]))
    if unclosed:
        raise ConfigurationError(f"{location}: brackets are not balanced, {len(unclosed)} are never closed")
    for label, _ in phrases:
        if label not in ("0", "1", "2", "3", "4") and (len(phrases) > 1 or not label[:1].isalpha()):
            raise ConfigurationError(f"{location}: a label is a number from 0 to 4, not {label!r}")
    return phrases
