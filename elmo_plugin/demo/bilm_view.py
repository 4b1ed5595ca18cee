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
from elmo_plugin.demo.tabs import BACKGROUND, MAX_CHARACTERS, Tab, Task
from elmo_plugin.embedding import layer_name

MAX_OCCURRENCES = 12
NUM_NEIGHBORS = 8


class BiLmTab(Tab):
    """
    A biLM, loaded from a `source` of `BiLm.from_pretrained`. Raises `BiLmError` if it cannot be
    loaded.
    """

    template = "bilm.html"

    def __init__(self, source: str, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(Task("bilm", "Words in context", {"text": 6}), max_characters, [source])
        self._rules = BACKGROUND.submit(SpacyRules, "en")  # it takes seconds to import spaCy
        self.source, self.bilm = source, BiLm.from_pretrained(source)
        self._lock = threading.Lock()

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the `sentences` of the text; the number of the word that is `chosen`, or of the
        longest word, preferably one that occurs twice; the numbers of its `occurrences`, their
        similarities by each of the `layers`, and its `neighbors` among the other words. Words are
        numbered from 0 in the whole text.
        """
        text = self.texts(query)["text"]
        rules = self._rules.result()
        split = [(line, in_line) for line in text.splitlines() if (in_line := rules.words(line))]
        sentences = [[line[word.start : word.end] for word in in_line] for line, in_line in split]
        normalized = [[word.text for word in in_line] for _, in_line in split]
        words = [Occurrence(each, position) for each in sentences for position in range(len(each))]
        folded = [word.casefold() for each in normalized for word in each]
        chosen = _number(query["word"], len(words)) if query.get("word") else _longest(folded)
        with self._lock, torch.no_grad():
            layers = torch.cat(
                self.bilm.embed(normalized), dim=1
            )  # Shape: (num_layers, words, dim)
        view = {"sentences": sentences, "chosen": chosen}
        if chosen is not None:
            view |= _similar_words(sentences, folded, layers, chosen)
        return {
            **view,
            "words": words,
            "json": view,
            "python": "from elmo_plugin import BiLm\nbilm = "
            f"BiLm.from_pretrained({self.source!r})\n"
            f"vectors = bilm.embed({normalized!r})  # per sentence: (layers, words, dim)",
        }


def _number(chosen: str, num_words: int) -> int:
    number = int(chosen) if re.fullmatch(r"[0-9]{1,6}", chosen) else num_words
    if number >= num_words:
        raise BiLmError(f"The word {chosen!r} is not in this text.")
    return number


def _longest(words: Sequence[str]) -> int | None:
    """Returns the number of the longest word that occurs twice, or else of the longest word."""
    counts = Counter(word for word in words if word[0].isalnum())
    longest = max(
        counts, key=lambda word: (counts[word] > 1, len(word), counts[word]), default=None
    )
    return None if longest is None else words.index(longest)


def _similar_words(
    sentences: list[list[str]], folded: Sequence[str], layers: Tensor, chosen: int
) -> dict[str, Any]:
    """Compares the occurrences of a word by their layers, shape (num_layers, words, dim)."""
    occurrences = [number for number, word in enumerate(folded) if word == folded[chosen]]
    first = max(0, occurrences.index(chosen) + 1 - MAX_OCCURRENCES)
    occurrences = occurrences[first : first + MAX_OCCURRENCES]
    vectors = list(layers[:, occurrences]) if len(occurrences) > 1 else []
    unit = normalize(layers[-1], dim=-1)
    cosines = unit @ unit[chosen]
    cosines[chosen] = math.inf  # comes first, and is skipped
    neighbors = islice(by_cosine(sentences, cosines), 1, 1 + NUM_NEIGHBORS)
    return {
        "occurrences": occurrences,
        "layers": [
            {"name": layer_name(n), **_similarities(layer)} for n, layer in enumerate(vectors)
        ],
        "neighbors": [{**each.occurrence._asdict(), "cosine": each.cosine} for each in neighbors],
    }


def _similarities(vectors: Tensor) -> dict[str, Any]:
    """
    Returns the cosines of vectors, shape (words, dim), with one another; whether they are equal;
    their two principal components, scaled to 0 to 1 by one factor, as `points`; and the share of
    the variance that is `explained` by these.
    """
    unit = normalize(vectors, dim=-1)
    cosines = (unit @ unit.t()).tolist()
    left, singular, _ = torch.linalg.svd(
        (vectors - vectors.mean(dim=0)).double(), full_matrices=False
    )
    plane = pad(left * singular, (0, 2))[:, :2]
    plane = plane - plane.amin(dim=0)
    extent = float(plane.max())
    is_constant = extent < 1e-4 * float(vectors.norm(dim=-1).max())  # one vector, but for rounding
    points = [[0.5, 0.5]] * len(vectors) if is_constant else (plane / extent).tolist()
    explained = 1.0 if is_constant else float(singular[:2].square().sum() / singular.square().sum())
    return {
        "cosines": cosines,
        "is_constant": is_constant,
        "points": points,
        "explained": explained,
    }
