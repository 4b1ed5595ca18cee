"""Inputs of the predictors of all tasks that cannot be: a prediction of the right form, or a clear error."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from tests.hostile.outcomes import Outcomes
from tests.tasks.contract import TaskContract
from tests.tasks.coref.test_contract import TestCoref as Coref
from tests.tasks.ner.test_contract import TestNer as Ner
from tests.tasks.snli.test_contract import TestSnli as Snli
from tests.tasks.squad.test_contract import TestSquad as Squad
from tests.tasks.srl.test_contract import TestSrl as Srl
from tests.tasks.srl.test_contract import TestSrlPredicates as SrlPredicates
from tests.tasks.sst.test_contract import TestSst as Sst

pytestmark = pytest.mark.slow
CONTRACTS = {each.__name__: each for each in (Ner, Srl, SrlPredicates, Coref, Squad, Snli, Sst)}
WRONG = (None, True, False, -1, 0, 1, 2.5, 10**30, float("nan"), {}, {"x": 1})
WRONG += ([], [[]], [None], [1], ["a", ""], [["a"], []])
WRONG += ("", " ", "\n\t", "\u3000", "\x00", "\ufeff", "\u200b", "\ud800", "a" * 60_000, "a\x85b")
RIGHT = ("é", "a" * 2_000, "\U0001f642 \U0001f469\u200d\U0001f467", "e\u0301" * 30, "\u202eabc", "\ufdfa")
RIGHT += (". . .", "(" * 50, "-LRB-", "*", "_", "__root__")


def inputs(contract: type[TaskContract]) -> Iterator[tuple[str, Any]]:
    """Yields inputs with another value in each place, a key less and a key more, and no objects at all."""
    for number, right in enumerate(contract.inputs):
        for key, value in right.items():
            for instead in (*WRONG, *RIGHT):
                yield f"{number}: {key}={instead!r:.40}", {**right, key: instead}
                if isinstance(value, list):
                    changed = [instead, *deepcopy(value)[1:]]
                    yield f"{number}: {key}[0]={instead!r:.40}", {**right, key: changed}
            yield f"{number}: no {key}", {name: each for name, each in right.items() if name != key}
        yield f"{number}: one more", {**right, "more": [1]}
    for value in WRONG:
        yield f"no object: {value!r:.40}", value


@pytest.mark.parametrize("task", CONTRACTS)
def test_inputs(task: str, outcomes: Outcomes) -> None:
    contract = CONTRACTS[task]
    config = contract.config()
    model, _ = contract.model_and_batch(config)
    reader = DatasetReader.from_params(Params(deepcopy(config["dataset_reader"])))
    predictor = Predictor.by_name(model.default_predictor)(model.eval(), reader)
    whole = predictor.predict_json(deepcopy(contract.inputs[0]))

    def look(value: Any) -> None:
        alone = predictor.predict_json(deepcopy(value))
        assert alone.keys() == whole.keys(), "a prediction of another form"
        json.loads(predictor.dump_line(alone), parse_constant=refuse)

    for case, value in inputs(contract):
        outcomes.call(f"{task}, {case}", partial(look, value), ["elmo_", '"', "characters", "an input"])


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in a prediction")
