"""Thousands of random calls in one process: memory stays constant, and so do the answers.

    python benchmarks/soak.py --calls 10000 --json soak.json

Calls are of the tagger of experiments/ner_elmo.jsonnet, with random weights over the biLM `tiny` (one
sentence or a batch), and of `BiLm.embed` (a few sentences or many), in random order, with sentences of one to
300 words, some of them new to the process.
"""

import argparse
import json
import random
import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _jsonnet
import numpy as np
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from figures import report
from material import EXAMPLE, REPOSITORY, read_sentences

from elmo_plugin import plugin  # noqa: F401 (registers all)
from elmo_plugin.bilm import BiLm, word_to_character_ids
from elmo_plugin.tasks.ner import NerPredictor

LONGEST = 300  # words of a sentence
MOST_EMBEDDED, MOST_PREDICTED = 48, 16  # sentences of a call
WEIGHTS = [6, 1, 6, 1]  # of one sentence to predict, several, few to embed, many
PROBES = read_sentences(EXAMPLE)[:10]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    report(soak(args.calls, args.seed), args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def soak(calls: int, seed: int) -> dict[str, Any]:
    """
    Makes the calls, after a fifth as many that do not count, and returns their figures.

    # Returns

    `dict[str, Any]`
        `memory_growth`: how much more memory the process held in the last tenth of the calls than in the
        second, in the median of both; `megabytes`, in each tenth. `same_tags`, and `max_difference` of
        vectors: the answers to the same sentences at the end and at the start.
    """
    chance = random.Random(seed)
    bilm, predictor = BiLm.from_pretrained("tiny"), make_predictor()
    words = sorted({word for sentence in read_sentences(EXAMPLE) for word in sentence})
    actions: list[Callable[[], object]] = [
        lambda: predictor.predict_json({"words": random_words(chance, words)}),
        lambda: predictor.predict_batch_json(
            [{"words": random_words(chance, words)} for _ in range(chance.randint(1, MOST_PREDICTED))]
        ),
        lambda: bilm.embed([random_words(chance, words) for _ in range(chance.randint(1, 4))]),
        lambda: bilm.embed([random_words(chance, words) for _ in range(chance.randint(1, MOST_EMBEDDED))]),
    ]
    fill_caches(chance, bilm, predictor)
    make_largest_calls(chance, bilm, predictor)
    for _ in range(calls // 5):  # the C library's heap also gets its size
        chance.choices(actions, weights=WEIGHTS)[0]()
    before = answers(bilm, predictor)
    started, memory = time.monotonic(), []
    for _ in range(calls):
        chance.choices(actions, weights=WEIGHTS)[0]()
        memory.append(resident_bytes())
    after = answers(bilm, predictor)
    tenths = [float(np.median(part)) for part in np.array_split(memory, 10)]
    return {
        "calls": calls,
        "seconds": time.monotonic() - started,
        "memory_growth": tenths[-1] / tenths[1] - 1,
        "megabytes": [round(each / 1e6, 1) for each in tenths],
        "same_tags": after[0] == before[0],
        "max_difference": max(float(np.abs(a - b).max()) for a, b in zip(after[1], before[1], strict=True)),
    }


def make_predictor() -> NerPredictor:
    text = _jsonnet.evaluate_file(str(REPOSITORY / "experiments" / "ner_elmo.jsonnet"))
    params = Params(json.loads(text))
    reader = DatasetReader.from_params(params["dataset_reader"])
    torch.manual_seed(0)
    vocab = Vocabulary.from_instances(reader.read(str(EXAMPLE)))
    return NerPredictor(Model.from_params(params["model"], vocab=vocab).eval(), reader)


def fill_caches(chance: random.Random, bilm: BiLm, predictor: NerPredictor) -> None:
    """Shows as many words as are remembered: from then on there is nothing more to be kept."""
    for _ in range(word_to_character_ids.cache_info().maxsize or 0):
        word_to_character_ids(new_word(chance))
    for each in [bilm, *(module for module in predictor._model.modules() if isinstance(module, BiLm))]:
        for _ in range(each.token_encoder.word_cache_size // 1000 + 1):
            each.embed([[new_word(chance) for _ in range(20)] for _ in range(50)])


def make_largest_calls(chance: random.Random, bilm: BiLm, predictor: NerPredictor) -> None:
    """Makes the largest possible calls: the C library keeps their memory for later ones."""
    sentences = [[new_word(chance) for _ in range(LONGEST)] for _ in range(MOST_EMBEDDED)]
    bilm.embed(sentences)
    predictor.predict_batch_json([{"words": words} for words in sentences[:MOST_PREDICTED]])


def new_word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters, k=chance.randint(6, 12)))


def random_words(chance: random.Random, known: list[str]) -> list[str]:
    """Returns a sentence, long ones more rarely; a twentieth of its words is new."""
    length = min(int(chance.expovariate(1 / 18)) + 1, LONGEST)
    return [new_word(chance) if chance.random() < 0.05 else chance.choice(known) for _ in range(length)]


def answers(bilm: BiLm, predictor: NerPredictor) -> tuple[list[Any], list[np.ndarray]]:
    tags = [predictor.predict_json({"words": words})["tags"] for words in PROBES]
    return tags, [vectors.numpy() for vectors in bilm.embed(PROBES)]


def resident_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


if __name__ == "__main__":
    main()
