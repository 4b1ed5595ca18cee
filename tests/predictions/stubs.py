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
            {"type": kind, "start_word": start, "end_word": end, "text": " ".join(words[start:end])}
            for start, end, kind in entities
        ],
    }


def first_word_is(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Returns a tagger that calls the first word an entity."""
    return lambda inputs: ner_output(inputs["sentence"], (0, 1, kind))


def stub(
    task: str, predict: Callable[[dict[str, Any]], dict[str, Any]], name: str = "stub"
) -> LoadedArchive:
    predictor: Any = Future()
    predictor.set_result(SimpleNamespace(predict_json=predict))
    return LoadedArchive(f"runs/{name}/model.tar.gz", TASKS[task], predictor)


def coref_output(text: str, *clusters: list[str]) -> dict[str, Any]:
    """Returns clusters of words, each of which stands once in the text."""

    def mention(word: str) -> dict[str, Any]:
        start = text.index(word)
        return {
            "text": word,
            "start_word": 0,
            "end_word": 1,
            "characters": [start, start + len(word)],
        }

    return {
        "sentences": [text.split()],
        "clusters": [[mention(word) for word in cluster] for cluster in clusters],
    }


SRL_WORDS = ["She", "wants", "to", "leave"]


def frame(index: int, *roles: tuple[str, int, int]) -> dict[str, Any]:
    found = [
        {"role": role, "start_word": start, "end_word": end, "text": " ".join(SRL_WORDS[start:end])}
        for role, start, end in roles
    ]
    return {"predicate": SRL_WORDS[index], "index": index, "roles": found}


SRL = {
    "words": SRL_WORDS,
    "frames": [
        frame(1, ("ARG0", 0, 1), ("V", 1, 2), ("ARG1", 2, 4)),
        frame(3, ("ARG0", 0, 1), ("V", 3, 4)),
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
SNLI = {
    "label": "neutral",
    "probabilities": {"neutral": 0.5, "contradiction": 0.375, "entailment": 0.125},
}
