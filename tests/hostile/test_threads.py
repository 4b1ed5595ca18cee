"""Predictors of all tasks in eight threads at once, for a long time."""

import gc
import json
import random
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from elmo_plugin.common.process import trim_heap
from tests.hostile.material import times
from tests.hostile.test_predictors import CONTRACTS
from tests.tasks.contract import assert_same

pytestmark = pytest.mark.slow
PREDICTIONS = len(times(2_000))  # 10,000 with ELMO_HOSTILE_TIMES=5
THREADS = 8
INPUTS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "TestNer": lambda words: {"words": words},
    "TestSrl": lambda words: {"words": words, "predicates": [0, len(words) - 1]},
    "TestCoref": lambda words: {"sentences": [words, words[:3]]},
    "TestSquad": lambda words: {"passage": " ".join(words), "question": f"{words[0]} ?"},
    "TestSnli": lambda words: {"premise": " ".join(words), "hypothesis": " ".join(words[:2])},
    "TestSst": lambda words: {"sentence": " ".join(words)},
}


def predictor_of(task: str) -> Predictor:
    config = CONTRACTS[task].config()
    model, _ = CONTRACTS[task].model_and_batch(config)
    reader = DatasetReader.from_params(Params(deepcopy(config["dataset_reader"])))
    return Predictor.by_name(model.default_predictor)(model.eval(), reader)


def words_of(generator: random.Random) -> list[str]:
    """New words, such as no text has had before."""
    return [f"w{generator.randrange(10**9)}" for _ in range(generator.randint(2, 9))]


def resident_bytes() -> int:
    gc.collect()
    trim_heap()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_answers_are_those_of_one_thread_and_memory_stays() -> None:
    predictors = {task: predictor_of(task) for task in INPUTS}
    generator = random.Random(0)
    known = [(task, INPUTS[task](words_of(generator))) for _ in range(20) for task in INPUTS]
    expected = [predictors[task].predict_json(deepcopy(inputs)) for task, inputs in known]

    def predict(seed: int) -> None:
        generator = random.Random(seed)
        for _ in range(PREDICTIONS // 10 // THREADS // 2):
            number = generator.randrange(len(known))
            task, inputs = known[number]
            assert_same(predictors[task].predict_json(deepcopy(inputs)), expected[number])
            task = generator.choice(list(INPUTS))
            json.dumps(predictors[task].predict_json(INPUTS[task](words_of(generator))))

    memory = []
    with ThreadPoolExecutor(THREADS) as pool:
        for part in range(1, 11):
            list(pool.map(predict, range(part * THREADS, (part + 1) * THREADS)))
            memory.append(resident_bytes())
    assert memory[-1] < 1.03 * memory[1], f"it grows: {[round(each / 1e6) for each in memory]} MB"
