"""The first sense of each lemma, in WordNet's order by frequency."""

import os
from collections.abc import Callable

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import read_text_lines

LemmaKey = tuple[str, str]  # a lemma and its part of speech (n, v, a or r)


def read_first_senses(path: str | os.PathLike[str]) -> dict[LemmaKey, str]:
    """
    Reads first senses from lines of lemma, part of speech, rank and key, with tabs between them. The file may
    be compressed. Raises `ConfigurationError`, naming file and line, if a column is missing.
    """
    senses = {}
    for line in read_text_lines(str(path)):
        columns = line.text.rstrip("\r\n").split("\t")
        if len(columns) < 4:
            raise ConfigurationError(
                f"{line.location}: expected lemma, part of speech, rank and key, with tabs between them"
            )
        lemma, part_of_speech, rank, key = columns[:4]
        if rank == "1":
            senses[lemma.lower(), part_of_speech] = key
    return senses


def wordnet_first_senses() -> Callable[[LemmaKey], str | None]:
    """
    Returns a function from a lemma and part of speech to its first sense in nltk's WordNet, or `None` for an
    unknown lemma. Raises `ConfigurationError` if nltk's WordNet is not installed.
    """
    from nltk.corpus import wordnet  # here: it looks for its data

    try:
        wordnet.ensure_loaded()
    except LookupError:
        raise ConfigurationError(
            "WordNet not found: download it by `python -m nltk.downloader wordnet`, or name a file of "
            "first senses"
        ) from None

    def first_sense(entry: LemmaKey) -> str | None:
        lemma, part_of_speech = entry
        for synset in wordnet.synsets(lemma, part_of_speech)[:1]:
            for each in synset.lemmas():
                if each.name().lower() == lemma:
                    return str(each.key())
        return None

    return first_sense
