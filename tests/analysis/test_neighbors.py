"""The nearest words are those that comparing with every word gives."""

import numpy as np
import pytest

from elmo_plugin.analysis import neighbors
from elmo_plugin.analysis.neighbors import Occurrence, nearest_words
from elmo_plugin.bilm import BiLm

TEXT = [
    "so it is .",
    "They saw a play .",
    "naïve",
    "so it is .",
    "was it so ?",
    "He made a good play",
]
SENTENCES = [line.split() for line in TEXT]


@pytest.mark.parametrize("layer", [0, 2])
@pytest.mark.parametrize("k", [3, 100])
def test_a_word_is_compared_with_the_words_of_all_other_sentences(
    k: int, layer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbors, "WORDS_AT_ONCE", 6)
    bilm = BiLm.from_pretrained("tiny")
    queries = [Occurrence(SENTENCES[0], 1), Occurrence(["A", "play", "ended"], 1)]
    for query, found in zip(
        queries, nearest_words(bilm, queries, SENTENCES, k, layer), strict=True
    ):
        (own,) = bilm.embed([query.words])
        cosines = {}
        for number, words in enumerate(SENTENCES):
            vectors = bilm.embed([words])[0][layer].double().numpy()
            for position, vector in enumerate(vectors):
                if words != query.words:
                    other = own[layer, query.position].double().numpy()
                    norms = np.linalg.norm(vector) * np.linalg.norm(other)
                    cosines[number, position] = vector @ other / norms
        expected = sorted(cosines.values(), reverse=True)[:k]
        np.testing.assert_allclose([each.cosine for each in found], expected, atol=1e-5)
        for each in found:
            number = SENTENCES.index(each.occurrence.words)
            assert cosines[number, each.occurrence.position] == pytest.approx(each.cosine, abs=1e-5)
