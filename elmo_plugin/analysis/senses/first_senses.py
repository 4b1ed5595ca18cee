"""The first sense of each lemma, which WordNet has ordered by frequency."""

import os

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import read_text_lines

FirstSenses = dict[tuple[str, str], str]
"""The key of the first sense of each lemma and part of speech (n, v, a or r)."""


def read_first_senses(path: str | os.PathLike[str]) -> FirstSenses:
    """
    Reads first senses from a file with a sense a line: lemma, part of speech, rank, key, and anything else,
    with tabs between them. It may be compressed.

    Raises `ConfigurationError`, naming file and line, where there are fewer columns.
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


class WordNetFirstSenses:
    """The first senses of the WordNet that nltk has. Raises `ConfigurationError` where it has none."""

    def __init__(self) -> None:
        from nltk.corpus import wordnet  # here: it looks for its data

        try:
            wordnet.ensure_loaded()
        except LookupError:
            raise ConfigurationError(
                "nltk has no WordNet: download it by `python -m nltk.downloader wordnet`, or name a file of "
                "first senses"
            ) from None
        self._wordnet = wordnet

    def get(self, entry: tuple[str, str]) -> str | None:
        """Returns the key of the first sense of a lemma and part of speech, if WordNet has the lemma."""
        lemma, part_of_speech = entry
        for synset in self._wordnet.synsets(lemma, part_of_speech)[:1]:
            for each in synset.lemmas():
                if each.name().lower() == lemma:
                    return str(each.key())
        return None
