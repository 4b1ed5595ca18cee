"""Words and their relations, from the files of WordNet 3.0 (Debian's package `wordnet-base`)."""

from pathlib import Path

FILES = {"n": "noun", "v": "verb", "a": "adj"}


class WordNet:
    """
    The first senses of words, with the words of the same synset, antonyms, and what lies above and
    below it.

    folder: of `data.noun` and its like
    words: the words that may be returned, all in lower case
    """

    def __init__(self, folder: Path, words: set[str]) -> None:
        self._words = words
        self._lines: dict[str, list[str]] = {}  # pos and offset: the columns of a synset
        self._first: dict[str, str] = {}  # pos and lemma: pos and offset
        for pos, name in FILES.items():
            for line in (folder / f"data.{name}").read_text(encoding="latin-1").splitlines():
                if not line.startswith(" "):
                    columns = line.split(" | ")[0].split()
                    self._lines[pos + columns[0]] = columns
            for line in (folder / f"index.{name}").read_text(encoding="latin-1").splitlines():
                if not line.startswith(" "):
                    columns = line.split()
                    self._first[pos + columns[0]] = pos + columns[-int(columns[2])]

    def is_only_adjective(self, word: str) -> bool:
        """Returns whether a word is an adjective, and never a noun."""
        return "a" + word in self._first and "n" + word not in self._first

    def synonyms(self, word: str, pos: str) -> list[str]:
        synset = self._first.get(pos + word)
        return [other for other in self._lemmas(synset) if other != word] if synset else []

    def antonyms(self, word: str, pos: str) -> list[str]:
        """Returns the words that WordNet has as opposites of this word, in its first sense."""
        synset = self._first.get(pos + word)
        if synset is None:
            return []
        own = [lemma.lower() for lemma in self._all_lemmas(synset)]
        found = []
        for symbol, target, places in self._pointers(synset):
            source, other = int(places[:2], 16), int(places[2:], 16)
            if symbol == "!" and (source == 0 or own[source - 1] == word):
                found.append(self._all_lemmas(target)[max(other - 1, 0)].lower())
        return [each for each in found if each in self._words]

    def hypernyms(self, word: str) -> list[str]:
        """Returns the words above the first sense of a noun, the nearest first."""
        synset, found = self._first.get("n" + word), []
        while synset:
            above = [
                target for symbol, target, _ in self._pointers(synset) if symbol in ("@", "@i")
            ]
            synset = above[0] if above else None
            found += self._lemmas(synset) if synset else []
        return found

    def _all_lemmas(self, synset: str) -> list[str]:
        columns = self._lines[synset]
        return [word.split("(")[0] for word in columns[4 : 4 + 2 * int(columns[3], 16) : 2]]

    def _lemmas(self, synset: str) -> list[str]:
        return [lemma for lemma in self._all_lemmas(synset) if lemma in self._words]

    def _pointers(self, synset: str) -> list[tuple[str, str, str]]:
        columns = self._lines[synset]
        start = 4 + 2 * int(columns[3], 16)
        fields = columns[start + 1 : start + 1 + 4 * int(columns[start])]
        return [
            (symbol, pos.replace("s", "a") + offset, places)
            for symbol, offset, pos, places in zip(
                fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=True
            )
        ]
