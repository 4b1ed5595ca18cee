"""Archives with predictors that return what the test says, in the JSON of each task."""

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

from elmo_plugin.demo.tabs import LoadedArchive
from elmo_plugin.predictions.prediction import TASKS


def ner_output(sentence: str, *entities: tuple[int, int, str]) -> dict[str, Any]:
    words = sentence.split()
    return {
        "words": words,
        "tags": ["O"] * len(words),
        "entities": [
            {"type": kind, "start": start, "end": end, "text": " ".join(words[start:end])}
            for start, end, kind in entities
        ],
    }


def first_word_is(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Returns a tagger that calls the first word an entity."""
    return lambda inputs: ner_output(inputs["sentence"], (0, 1, kind))


def stub(task: str, predict: Callable[[dict[str, Any]], dict[str, Any]], name: str = "stub") -> LoadedArchive:
    predictor: Any = Future()
    predictor.set_result(SimpleNamespace(predict_json=predict))
    return LoadedArchive(f"runs/{name}/model.tar.gz", TASKS[task], predictor)


def coref_output(text: str, *clusters: list[str]) -> dict[str, Any]:
    """Returns clusters of words, each of which stands once in the text."""

    def mention(word: str) -> dict[str, Any]:
        start = text.index(word)
        return {"text": word, "start": 0, "end": 1, "characters": [start, start + len(word)]}

    return {
        "sentences": [text.split()],
        "clusters": [[mention(word) for word in cluster] for cluster in clusters],
    }


SRL = {
    "words": ["She", "wants", "to", "leave"],
    "frames": [
        {
            "predicate": "wants",
            "index": 1,
            "roles": [
                {"role": "ARG0", "start": 0, "end": 1, "text": "She"},
                {"role": "V", "start": 1, "end": 2, "text": "wants"},
                {"role": "ARG1", "start": 2, "end": 4, "text": "to leave"},
            ],
        },
        {
            "predicate": "leave",
            "index": 3,
            "roles": [
                {"role": "ARG0", "start": 0, "end": 1, "text": "She"},
                {"role": "V", "start": 3, "end": 4, "text": "leave"},
            ],
        },
    ],
}
SQUAD = {
    "id": "",
    "answer": "1887",
    "characters": [21, 25],
    "probability": 0.75,
    "others": [{"text": "in 1887", "characters": [18, 25], "probability": 0.125}],
}
PASSAGE = "Ansel was founded in 1887."
SNLI = {"label": "neutral", "probabilities": {"neutral": 0.5, "contradiction": 0.375, "entailment": 0.125}}
