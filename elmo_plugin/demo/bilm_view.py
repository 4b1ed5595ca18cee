"""The tab of the biLM: similarities of a word's occurrences, a map and neighbors."""

import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from elmo_plugin.analysis.neighbors import Occurrence, by_cosine
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.task_cards import task_cards
from elmo_plugin.demo.tabs import BACKGROUND, MAX_CHARACTERS, Tab
from elmo_plugin.embedding import layer_name

MAX_OCCURRENCES = 12
NUM_NEIGHBORS = 8


class BiLmTab(Tab):
    """
    The tab of the biLM that `BiLm.from_pretrained` loads from `source`. Raises `BiLmError` if it
    cannot be loaded.
    """

    template = "bilm.html"

    def __init__(self, source: str, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(task_cards()["bilm"], max_characters, models=[source])
        # Loaded while the biLM is, because it takes seconds to import spaCy.
        self._rules = BACKGROUND.submit(SpacyRules, "en")
        self.source = source
        self.bilm = BiLm.from_pretrained(source)
        # Held while the biLM embeds, so that one request at a time computes.
        self._lock = threading.Lock()

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the `sentences` of the text and the number of the `chosen` word: the one in the
        query, or else the longest, preferably one that occurs twice. With a chosen word come the
        numbers of its `occurrences`, their similarities in each of the `layers`, and its nearest
        `neighbors` among the other words. Words are numbered from 0 in the whole text. All of this
        is also the `json` for programs; `words` and the lines of `python` are for the page alone.
        """
        sentences, normalized = self._split(self.texts(query)["text"])
        words = []
        for sentence in sentences:
            for position in range(len(sentence)):
                words.append(Occurrence(sentence, position))
        # All words of the text, in which occurrences of the same word are equal.
        folded = [word.casefold() for sentence in normalized for word in sentence]
        chosen: int | None
        if query.get("word"):
            chosen = _read_number(query["word"], num_words=len(folded))
        else:
            chosen = _number_of_longest(folded)
        with self._lock, torch.no_grad():
            embedded = self.bilm.embed(normalized)
        layers = torch.cat(embedded, dim=1)  # Shape: (num_layers, words, dim)
        view: dict[str, Any] = {"sentences": sentences, "chosen": chosen}
        if chosen is not None:
            view |= _similar_words(sentences, folded, layers, chosen)
        return view | {"words": words, "json": view, "python": self._python(normalized)}

    def _split(self, text: str) -> tuple[list[list[str]], list[list[str]]]:
        """
        Returns the words of each line, except lines without words, twice: as typed, and normalized
        as the biLM reads them.
        """
        rules = self._rules.result()
        typed = []
        normalized = []
        for line in text.splitlines():
            words = rules.words(line)
            if words:
                typed.append([line[word.start : word.end] for word in words])
                normalized.append([word.text for word in words])
        return typed, normalized

    def _python(self, sentences: list[list[str]]) -> str:
        """Returns the lines of Python that compute the same vectors."""
        return (
            "from elmo_plugin import BiLm\n"
            f"bilm = BiLm.from_pretrained({self.source!r})\n"
            f"vectors = bilm.embed({sentences!r})  # per sentence: (layers, words, dim)"
        )


def _read_number(chosen: str, num_words: int) -> int:
    """
    Returns the number of the chosen word from the query. Raises `BiLmError` if the text has fewer
    words, or if it is no number.
    """
    # Without this form, `int` would also read signs, spaces, other digits and endless numbers.
    if not re.fullmatch(r"[0-9]{1,6}", chosen) or int(chosen) >= num_words:
        raise BiLmError(f"The word {chosen!r} is not in this text.")
    return int(chosen)


def _number_of_longest(words: Sequence[str]) -> int | None:
    """
    Returns the number of the longest word that occurs twice, or if none does, of the longest word.
    Of equally long words the most frequent is taken. Punctuation does not count: returns `None` if
    no word begins with a letter or a digit.
    """
    counts = Counter(word for word in words if word[0].isalnum())
    if not counts:
        return None
    repeated = [word for word in counts if counts[word] > 1]

    def length_and_count(word: str) -> tuple[int, int]:
        return len(word), counts[word]

    longest = max(repeated or counts, key=length_and_count)
    return words.index(longest)


def _similar_words(
    sentences: list[list[str]], folded: Sequence[str], layers: Tensor, chosen: int
) -> dict[str, Any]:
    """
    Compares the occurrences of the chosen word in each layer, and finds its nearest neighbors by
    the last layer. `folded` has all words of the text, and `layers` has their vectors; its shape is
    (num_layers, words, dim).
    """
    occurrences = [number for number, word in enumerate(folded) if word == folded[chosen]]
    # At most MAX_OCCURRENCES are shown: the first ones, or those that end with the chosen one.
    end = max(occurrences.index(chosen) + 1, MAX_OCCURRENCES)
    occurrences = occurrences[end - MAX_OCCURRENCES : end]
    by_layer = []
    if len(occurrences) > 1:
        for number, vectors in enumerate(layers[:, occurrences]):
            by_layer.append({"name": layer_name(number), **_similarities(vectors)})
    unit = normalize(layers[-1], dim=-1)
    cosines = unit @ unit[chosen]  # Shape: (words,)
    cosines[chosen] = math.inf  # so that the word itself comes first
    most_similar = by_cosine(sentences, cosines)
    next(most_similar)  # the word itself
    neighbors = []
    for neighbor in islice(most_similar, NUM_NEIGHBORS):
        neighbors.append({**neighbor.occurrence._asdict(), "cosine": neighbor.cosine})
    return {"occurrences": occurrences, "layers": by_layer, "neighbors": neighbors}


def _similarities(vectors: Tensor) -> dict[str, Any]:
    """
    Compares vectors; their shape is (words, dim). Returns their `cosines` with one another, whether
    they are all equal (`is_constant`), and a map of them: `points` are their two principal
    components, scaled by one factor to the range from 0 to 1, and `explained` is the share of the
    variance that these hold.
    """
    unit = normalize(vectors, dim=-1)
    centered = (vectors - vectors.mean(dim=0)).double()
    left, singular, _ = torch.linalg.svd(centered, full_matrices=False)
    # Padded by zeros, because vectors of one dimension have only one component.
    # Shape: (words, 2)
    plane = pad(left * singular, (0, 2))[:, :2]
    plane = plane - plane.amin(dim=0)
    extent = float(plane.max())
    # Vectors that differ by no more than rounding count as equal.
    is_constant = extent < 1e-4 * float(vectors.norm(dim=-1).max())
    if is_constant:
        points = [[0.5, 0.5] for _ in vectors]
        explained = 1.0
    else:
        points = (plane / extent).tolist()
        explained = float(singular[:2].square().sum() / singular.square().sum())
    return {
        "cosines": (unit @ unit.t()).tolist(),
        "is_constant": is_constant,
        "points": points,
        "explained": explained,
    }
