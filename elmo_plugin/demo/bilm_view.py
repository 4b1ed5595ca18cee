"""What a biLM makes of the words of a few sentences: similarities, a map, neighbours, surprisal."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from elmo_plugin.analysis.neighbors import Neighbor, by_cosine
from elmo_plugin.bilm import BiLm, BiLmError, VocabularySoftmax, sentences_to_character_ids
from elmo_plugin.bilm.io import read_checkpoint
from elmo_plugin.embedding import layer_name

MOST_OCCURRENCES = 12
NUM_NEIGHBORS = 8
_WORD = re.compile(r"\w+(?:[-'\u2019.]\w+)*|[^\w\s]")


class Place(NamedTuple):
    """
    sentence: its number, from 0
    word: its number in the sentence, from 0
    """

    sentence: int
    word: int


class WordScore(NamedTuple):
    """
    forward, backward: the surprisal of a word in bits, `-log2 p`, to each language model
    is_known: whether the softmax has the word; the scores of others are those of the unknown word
    """

    forward: float
    backward: float
    is_known: bool


class LayerView(NamedTuple):
    """
    name: of the layer
    cosines: of each pair of occurrences. Shape (occurrences, occurrences)
    points: the occurrences on a plane, from 0 to 1. Shape (occurrences, 2)
    explained: how much of their variance the plane shows, from 0 to 1
    """

    name: str
    cosines: list[list[float]]
    points: list[tuple[float, float]]
    explained: float


class BiLmView(NamedTuple):
    """
    sentences: their words
    chosen: the word that is looked at
    occurrences: all places of this word, whatever its capitals
    layers: of the biLM, the token layer first; empty if there is only one occurrence
    neighbors: of the chosen word in its sentence, among the other words of the text
    scores: of each word of each sentence; empty if the biLM has no softmax
    """

    sentences: list[list[str]]
    chosen: Place | None
    occurrences: list[Place]
    layers: list[LayerView]
    neighbors: list[Neighbor]
    scores: list[list[WordScore]]


def split_words(text: str) -> list[list[str]]:
    """Returns the words of each line that has any. Punctuation is apart from words; emoji are words."""
    return [words for line in text.splitlines() if (words := _WORD.findall(line))]


class LoadedBiLm:
    """
    A biLM that computes in a thread of its own.

    # Parameters

    source : `str`
        See `read_checkpoint`.

    Raises `BiLmError` if it cannot be loaded.
    """

    def __init__(self, source: str) -> None:
        checkpoint = read_checkpoint(source)
        self.source = source
        self.bilm = BiLm.from_checkpoint(checkpoint)
        self.softmax: VocabularySoftmax | None = None
        if checkpoint.softmax is not None and (vocabulary := checkpoint.softmax.vocabulary()) is not None:
            weight, bias, _ = checkpoint.softmax
            self.softmax, self._vocabulary = VocabularySoftmax(*weight.shape), vocabulary
            self.softmax.load_state_dict({"weight": weight, "bias": bias})
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bilm")

    @torch.no_grad()
    def view(self, text: str, chosen: str = "") -> BiLmView:
        """
        Looks at a text.

        # Parameters

        text : `str`
            A sentence a line.
        chosen : `str`, optional (default = `""`)
            The numbers of a sentence and of a word of it, such as "0.3"; by default the longest of the words
            that stand there most often.

        Raises `BiLmError` where there is no word, or no such one.
        """
        sentences = split_words(text)
        if not sentences:
            raise BiLmError("there is no word in this text")
        place = _place(chosen, sentences) if chosen else _most_frequent(sentences)
        layers = self.bilm.embed(sentences)
        scores = self._surprisal(sentences)
        if place is None:
            return BiLmView(sentences, chosen=None, occurrences=[], layers=[], neighbors=[], scores=scores)
        occurrences = _occurrences(sentences, place)
        # Shape: (num_layers, occurrences, dim)
        vectors = torch.stack([layers[each.sentence][:, each.word] for each in occurrences], dim=1)
        of_layers = [
            LayerView(layer_name(number), *_similarities(of_layer)) for number, of_layer in enumerate(vectors)
        ]
        return BiLmView(
            sentences,
            place,
            occurrences,
            of_layers if len(occurrences) > 1 else [],
            _neighbors_in_text(sentences, [each[-1] for each in layers], place),
            scores,
        )

    def python(self, view: BiLmView) -> str:
        """Returns the three lines of Python that give the vectors."""
        return (
            "from elmo_plugin.bilm import BiLm\n"
            f"bilm = BiLm.from_pretrained({self.source!r})\n"
            f"vectors = bilm.embed({view.sentences!r})  # per sentence: (layers, words, dim)"
        )

    def _surprisal(self, sentences: list[list[str]]) -> list[list[WordScore]]:
        """Scores each sentence by itself, between its boundaries, if the biLM has a softmax for text."""
        if self.softmax is None:
            return []
        numbers, unknown = self._vocabulary
        slots = self.bilm.options.char_cnn.max_characters_per_token
        scores = []
        for words in sentences:
            ids = torch.from_numpy(sentences_to_character_ids([words], slots))
            # Shape: (words + 2, directions, projection_dim)
            top = self.bilm(ids, keep_state=False, boundaries=True).layers[-1, 0].unflatten(-1, (2, -1))
            targets = torch.tensor([numbers.get(word, unknown) for word in words])
            _, forward = self.softmax(top[:-2, 0], targets)
            _, backward = self.softmax(top[2:, 1], targets)
            bits = [(nats / math.log(2)).tolist() for nats in (forward, backward)]
            scores.append(list(map(WordScore, *bits, [word in numbers for word in words])))
        return scores


def _place(chosen: str, sentences: list[list[str]]) -> Place:
    match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})", chosen)
    place = Place(int(match[1]), int(match[2])) if match else None
    if place is None or place.sentence >= len(sentences) or place.word >= len(sentences[place.sentence]):
        raise BiLmError(f"there is no word {chosen!r} in this text")
    return place


def _most_frequent(sentences: list[list[str]]) -> Place | None:
    """Returns the first place of the longest of the most frequent words; nothing where none comes twice."""
    counts = Counter(word.casefold() for words in sentences for word in words if word[0].isalnum())
    content = {word: count for word, count in counts.items() if count > 1}
    if not content:
        return None
    best = max(content, key=lambda word: (content[word] if len(word) > 3 else 0, len(word)))
    return next(
        Place(number, index)
        for number, words in enumerate(sentences)
        for index, word in enumerate(words)
        if word.casefold() == best
    )


def _occurrences(sentences: list[list[str]], place: Place) -> list[Place]:
    """Returns where a word stands, the chosen place among them, in the order of the text."""
    wanted = sentences[place.sentence][place.word].casefold()
    found = [
        Place(number, index)
        for number, words in enumerate(sentences)
        for index, word in enumerate(words)
        if word.casefold() == wanted
    ]
    kept = [each for each in found if each != place][: MOST_OCCURRENCES - 1]
    return sorted([place, *kept])


def _similarities(vectors: Tensor) -> tuple[list[list[float]], list[tuple[float, float]], float]:
    """
    Returns the cosines of vectors, and their principal components, scaled to 0 to 1 in both by one
    factor, and the share of the variance of these. The shape of `vectors` is (words, dim).
    """
    unit = normalize(vectors, dim=-1)
    centered = (vectors - vectors.mean(dim=0)).double()
    left, singular, _ = torch.linalg.svd(centered, full_matrices=False)
    plane: Any = left[:, :2] * singular[:2]
    plane = torch.nn.functional.pad(plane, (0, 2 - plane.size(1)))
    largest = plane.gather(0, plane.abs().argmax(dim=0, keepdim=True))
    plane = plane * torch.where(largest < 0, -1.0, 1.0)  # a component's sign means nothing
    low = plane.amin(dim=0)
    extent = float((plane.amax(dim=0) - low).max())
    cosines = (unit @ unit.t()).tolist()
    if extent < 1e-4 * float(vectors.norm(dim=-1).max()):  # rounding apart, it is one vector
        return cosines, [(0.5, 0.5)] * len(vectors), 1.0
    points = ((plane - low) / extent).tolist()
    explained = float(singular[:2].square().sum() / singular.square().sum())
    return cosines, [(x, y) for x, y in points], explained


def _neighbors_in_text(sentences: list[list[str]], vectors: Sequence[Tensor], place: Place) -> list[Neighbor]:
    """Returns the words of the text whose top vectors are the most similar, except the word itself."""
    unit = normalize(torch.cat(list(vectors)), dim=-1)
    chosen = sum(map(len, sentences[: place.sentence])) + place.word
    cosines = unit @ unit[chosen]
    cosines[chosen] = math.inf
    return list(islice(by_cosine(sentences, cosines), 1, 1 + NUM_NEIGHBORS))
