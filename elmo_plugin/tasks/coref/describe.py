"""What a person reads of the clusters of a document."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from elmo_plugin.tasks.coref.clusters import Mention
from elmo_plugin.tasks.coref.conll import CorefDocument
from elmo_plugin.tasks.coref.span_ranking import Link


def describe(
    document: CorefDocument, clusters: Sequence[Sequence[Mention]], links: Sequence[Link]
) -> dict[str, Any]:
    """
    Returns `clusters` and `antecedents`, whose mentions have their text and places, and the document `marked`
    with its clusters.
    """
    words = [word for sentence in document.sentences for word in sentence]
    text, places = document.text, document.places
    if text is None or places is None:
        text, places = " ".join(words), _places_of_joined(words)

    def describe_mention(mention: Mention) -> dict[str, Any]:
        start, end = mention
        characters = [places[start][0], places[end - 1][1]]
        return {"text": text[slice(*characters)], "start": start, "end": end, "characters": characters}

    return {
        "clusters": [[describe_mention(mention) for mention in cluster] for cluster in clusters],
        "antecedents": [
            {
                "mention": describe_mention(mention),
                "antecedent": describe_mention(antecedent),
                "probability": probability,
            }
            for mention, antecedent, probability in links
        ],
        "marked": mark(words, clusters),
    }


def _places_of_joined(words: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the places of words that single spaces join."""
    ends = accumulate(words, lambda end, word: end + 1 + len(word), initial=-1)
    return [(end + 1, end + 1 + len(word)) for end, word in zip(ends, words, strict=False)]


def mark(words: Sequence[str], clusters: Sequence[Sequence[Sequence[int]]]) -> str:
    """Returns the words with their mentions in brackets, and the number of the cluster, such as `[She]0`."""
    marked = list(words)
    mentions = [(*mention, number) for number, cluster in enumerate(clusters) for mention in cluster]
    for start, end, number in sorted(mentions, key=lambda mention: mention[1] - mention[0]):
        marked[start] = f"[{marked[start]}"
        marked[end - 1] = f"{marked[end - 1]}]{number}"
    return " ".join(marked)
