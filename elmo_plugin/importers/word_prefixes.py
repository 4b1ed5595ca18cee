"""Words with a prefix of their language or their file, as WikiANN's `en:Mira`."""

import re
from collections.abc import Sequence, Set

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tagged_sentence import TaggedSentence

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-\w+)?:")
_PREFIX = re.compile(r"[^\W\d_][^\W_]{0,11}(?:[-_][^\W_]{2,8})?(?:\[\w+\])?[:=|/#_]")


def without_prefixes(sentences: Sequence[TaggedSentence], report: Report) -> list[TaggedSentence]:
    """
    Returns the sentences without the prefixes of their words, if the prefix of each word is the
    name of a language, or if all words have the same prefix. Otherwise returns them unchanged.
    """
    words = {word for sentence in sentences for word in sentence.words}
    prefixes = set()
    for word in words:
        match = _PREFIX.match(word)
        if match is None:
            prefixes.add("")
        else:
            prefixes.add(match[0])
    if len(words) < 2 or not _are_prefixes(prefixes, words):
        return list(sentences)
    report.took(f"the words lose their prefix, {' or '.join(sorted(prefixes))}")
    stripped = []
    for sentence in sentences:
        bare = [_PREFIX.sub("", word, count=1) for word in sentence.words]
        stripped.append(sentence._replace(words=bare))
    return stripped


def _are_prefixes(prefixes: Set[str], words: Set[str]) -> bool:
    """
    Returns whether all words have a prefix that is no part of them: each is the name of a language,
    or it is the same at more than two words.
    """
    if "" in prefixes:
        return False  # some word is without a prefix
    if all(_LANGUAGE.fullmatch(prefix) for prefix in prefixes):
        return True
    return len(prefixes) == 1 and len(words) > 2
