"""Counts the first sentences that a model of the package, or an archive, has right."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elmo_plugin.predictions.predictor import TextPredictor, load_predictor

AUXILIARIES = {"be", "is", "are", "was", "were", "been", "do", "does", "did", "has", "have", "had"}
Output = dict[str, Any]


def squeezed(text: str) -> str:
    """Returns a text without spaces and final punctuation, in which tokenizers may differ."""
    return "".join(text.split()).rstrip(".,!?")


def names_are_right(output: Output, names: list[list[str]]) -> bool:
    """
    Returns whether all names of persons, places and organizations were found; other kinds do not
    count.
    """
    found = [
        (each["type"], squeezed(each["text"]))
        for each in output["entities"]
        if each["type"] != "MISC"
    ]
    return sorted(found) == sorted((kind, squeezed(text)) for kind, text in names)


def sentiment_is_right(output: Output, sentiment: str) -> bool:
    """Returns whether the side is right, however strong."""
    return output["label"].split()[-1] == sentiment


def chains_are_right(output: Output, chains: list[list[str]]) -> bool:
    """Returns whether there are these chains and no others."""
    found = sorted(
        [squeezed(mention["text"]) for mention in cluster] for cluster in output["clusters"]
    )
    return found == sorted([squeezed(text) for text in chain] for chain in chains)


def frames_are_right(output: Output, frames: dict[str, dict[str, str]]) -> bool:
    """
    Returns whether numbered roles are right, and all other predicates are auxiliaries.
    """
    found = {
        frame["predicate"]: {
            role["role"]: squeezed(role["text"])
            for role in frame["roles"]
            if role["role"] in ("ARG0", "ARG1")
        }
        for frame in output["frames"]
        if frame["predicate"] in frames or frame["predicate"].lower() not in AUXILIARIES
    }
    return found == {
        predicate: {
            role: squeezed(text) for role, text in roles.items() if role in ("ARG0", "ARG1")
        }
        for predicate, roles in frames.items()
    }


CHECKS: dict[str, tuple[str, Callable[[Output, Any], bool]]] = {
    "ner": ("names", names_are_right),
    "sst": ("sentiment", sentiment_is_right),
    "snli": ("label", lambda output, label: output["label"] == label),
    "coref": ("chains", chains_are_right),
    "srl": ("frames", frames_are_right),
    "squad": (
        "answers",
        lambda output, answers: squeezed(output["answer"]) in map(squeezed, answers),
    ),
}


def read(name: str, kept: bool = False) -> list[dict[str, Any]]:
    """Returns the sentences of a task, or those that were kept back."""
    file = Path(__file__).parent / ("kept" if kept else "") / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def load(name: str, archive: str | Path | None = None) -> TextPredictor:
    """Returns the predictor of a task's model in the package, or of an archive."""
    options = {"predicates": "srl_predicates"} if name == "srl" else {}
    return load_predictor(str(archive or name), **options)


def wrong(name: str, predictor: TextPredictor, kept: bool = False) -> list[dict[str, Any]]:
    """Returns the sentences of a task that a model has wrong."""
    key, is_right = CHECKS[name]
    return [
        example
        for example in read(name, kept)
        if not is_right(predictor.predict_json(example), example[key])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=CHECKS)
    parser.add_argument("archive", nargs="?", help="default: the model of the package")
    parser.add_argument("--kept", action="store_true", help="the sentences that were kept back")
    args = parser.parse_args()
    mistakes = wrong(args.name, load(args.name, args.archive), args.kept)
    for example in mistakes:
        print(json.dumps(example, ensure_ascii=False))
    total = len(read(args.name, args.kept))
    print(f"{total - len(mistakes)} of {total} are right")


if __name__ == "__main__":
    main()
