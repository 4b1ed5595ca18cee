"""The tab of the biLM: similarities of a word's occurrences, a map and neighbors."""

import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from elmo_plugin.analysis.neighbors import Occurrence, words_by_cosine
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.task_cards import task_cards
from elmo_plugin.demo.tabs import BACKGROUND, Tab
from elmo_plugin.embedding import layer_name

MAX_OCCURRENCES = 12
NUM_NEIGHBORS = 8
# Vectors count as equal if they differ by less than this share of their norm.
_ROUNDING = 1e-4


class _SplitText(NamedTuple):
    """
    The words of each line, in two forms.

    typed: parts of the line
    normalized: the words in the form that the biLM reads
    """

    typed: list[list[str]]
    normalized: list[list[str]]


class BiLmTab(Tab):
    """
    The tab of the biLM that `BiLm.from_pretrained` loads from `source`. Raises `BiLmError` if it
    cannot be loaded.
    """

    template = "bilm.html"

    def __init__(self, source: str, max_characters: int) -> None:
        super().__init__(task_cards()["bilm"], max_characters, models=[source])
        # Importing spaCy takes seconds, so it is done in the background while the biLM is loaded.
        self._loading_rules: Future[SpacyRules] = BACKGROUND.submit(SpacyRules, "en")
        self.source = source
        self.bilm = BiLm.from_pretrained(source)
        # Held while the biLM embeds, so that only one request at a time computes.
        self._lock = threading.Lock()

    def answer(self, query: Mapping[str, str]) -> dict[str, Any]:
        """
        Returns the variables of the page. Words are numbered from 0 in the whole text.

        sentences: the words of each line
        chosen: the number of the chosen word; without one in the query, a long word is chosen
        occurrences: the numbers of the words that are equal to it, at most `MAX_OCCURRENCES`
        layers: for each layer, how similar the occurrences are
        neighbors: the words that are most similar to the chosen one
        json: all of these in one dictionary, for programs
        words: each word with its sentence, only for the page
        python: lines of Python that compute the vectors, only for the page
        """
        text = self._split(self.texts(query)["text"])
        # All words of the text in one list. They are folded, so that "Bank" is the word "bank".
        folded = [word.casefold() for sentence in text.normalized for word in sentence]
        chosen: int | None
        if query.get("word"):
            chosen = _read_number(query["word"], num_words=len(folded))
        else:
            chosen = _number_of_longest(folded)
        with self._lock, torch.no_grad():
            embedded = self.bilm.embed(text.normalized)
        layers = torch.cat(embedded, dim=1)  # Shape: (num_layers, words, dim)
        for_programs: dict[str, Any] = {"sentences": text.typed, "chosen": chosen}
        if chosen is not None:
            occurrences = _shown_occurrences(folded, chosen)
            for_programs["occurrences"] = occurrences
            for_programs["layers"] = _compare_in_layers(layers[:, occurrences])
            for_programs["neighbors"] = _nearest_neighbors(text.typed, layers[-1], chosen)
        variables = dict(for_programs)
        variables["json"] = for_programs
        variables["words"] = _words_in_sentences(text.typed)
        variables["python"] = self._python_code(text.normalized)
        return variables

    def _split(self, text: str) -> _SplitText:
        """Splits each line of a text into words. Lines without words are left out."""
        rules = self._loading_rules.result()
        typed = []
        normalized = []
        for line in text.splitlines():
            words = rules.words(line)
            if words:
                typed.append([line[word.start : word.end] for word in words])
                normalized.append([word.text for word in words])
        return _SplitText(typed, normalized)

    def _python_code(self, sentences: list[list[str]]) -> str:
        """Returns the lines of Python that compute the same vectors."""
        return (
            "from elmo_plugin import BiLm\n"
            f"bilm = BiLm.from_pretrained({self.source!r})\n"
            f"vectors = bilm.embed({sentences!r})  # per sentence: (layers, words, dim)"
        )


def _words_in_sentences(sentences: list[list[str]]) -> list[Occurrence]:
    """Returns all words of a text, each with its sentence and its position there."""
    words = []
    for sentence in sentences:
        for position in range(len(sentence)):
            words.append(Occurrence(sentence, position))
    return words


def _read_number(chosen: str, num_words: int) -> int:
    """
    Returns the number of the chosen word from the query. Raises `BiLmError` if `chosen` is not a
    number, or if the text has fewer words.
    """
    # Checked before `int` reads it, because `int` also takes signs, spaces, digits of all scripts
    # and numbers of any length.
    is_number = re.fullmatch(r"[0-9]{1,6}", chosen) is not None
    if not is_number or int(chosen) >= num_words:
        raise BiLmError(f"The word {chosen!r} is not in this text.")
    return int(chosen)


def _number_of_longest(words: Sequence[str]) -> int | None:
    """
    Returns the number of the longest word that occurs at least twice. If all words occur once, it
    is the longest word. If several words are equally long, the most frequent one is taken.

    Punctuation does not count. Returns `None` if no word begins with a letter or a digit.
    """
    counts = Counter(word for word in words if word[0].isalnum())
    if not counts:
        return None
    candidates = [word for word in counts if counts[word] > 1]
    if not candidates:
        candidates = list(counts)

    def length_and_count(word: str) -> tuple[int, int]:
        return len(word), counts[word]

    longest = max(candidates, key=length_and_count)
    return words.index(longest)


def _shown_occurrences(words: Sequence[str], chosen: int) -> list[int]:
    """
    Returns the numbers of the words that are equal to the chosen one, at most `MAX_OCCURRENCES` of
    them. These are the first ones, or if the chosen word comes later, the last ones up to it.
    """
    occurrences = [number for number, word in enumerate(words) if word == words[chosen]]
    num_up_to_chosen = occurrences.index(chosen) + 1
    end = max(num_up_to_chosen, MAX_OCCURRENCES)
    return occurrences[end - MAX_OCCURRENCES : end]


def _compare_in_layers(layers: Tensor) -> list[dict[str, Any]]:
    """
    Compares the occurrences of a word in each layer. `layers` has their vectors, with the shape
    (num_layers, occurrences, dim). Returns an empty list for a single occurrence.
    """
    if layers.size(1) == 1:
        return []
    comparisons = []
    for number, vectors in enumerate(layers):
        comparisons.append({"name": layer_name(number), **_compare(vectors)})
    return comparisons


def _nearest_neighbors(
    sentences: list[list[str]], vectors: Tensor, chosen: int
) -> list[dict[str, Any]]:
    """
    Returns the words whose vectors have the largest cosines with the vector of the chosen word.
    `vectors` has one for each word of the sentences, with the shape (words, dim).
    """
    unit = normalize(vectors, dim=-1)
    cosines = unit @ unit[chosen]  # Shape: (words,)
    cosines[chosen] = math.inf  # so that the chosen word itself comes first, and can be left out
    most_similar = islice(words_by_cosine(sentences, cosines), 1, 1 + NUM_NEIGHBORS)
    neighbors = []
    for neighbor in most_similar:
        neighbors.append({**neighbor.occurrence._asdict(), "cosine": neighbor.cosine})
    return neighbors


def _compare(vectors: Tensor) -> dict[str, Any]:
    """
    Compares vectors, given with the shape (words, dim), and draws a map of them.

    cosines: the cosine of each vector with each other one
    is_constant: whether all vectors are equal
    points: the places on the map, from 0 to 1 in both directions; they are the first two principal
        components of the vectors, scaled by the same factor
    explained: the share of the variance in these two components
    """
    unit = normalize(vectors, dim=-1)
    centered = (vectors - vectors.mean(dim=0)).double()
    left, singular, _ = torch.linalg.svd(centered, full_matrices=False)
    # Padded with zeros, because vectors of dimension 1 have only one component.
    # Shape: (words, 2)
    plane = pad(left * singular, (0, 2))[:, :2]
    plane = plane - plane.amin(dim=0)
    extent = float(plane.max())  # in the direction in which the map is larger
    is_constant = extent < _ROUNDING * float(vectors.norm(dim=-1).max())
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
