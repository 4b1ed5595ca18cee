"""Configurations with a mistake: one sentence that names the key, or a model that can be made."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hostile.fork_server import allennlp
from tests.hostile.material import Material, bilm_training, random_of, times, write_config
from tests.hostile.outcomes import Outcomes
from tests.tasks.coref import test_contract as coref
from tests.tasks.ner import test_contract as ner
from tests.tasks.snli import test_contract as snli
from tests.tasks.squad import test_contract as squad
from tests.tasks.srl import test_contract as srl
from tests.tasks.sst import test_contract as sst

pytestmark = pytest.mark.slow
TASKS = {
    "coref": coref.TestCoref,
    "ner": ner.TestNer,
    "snli": snli.TestSnli,
    "squad": squad.TestSquad,
    "srl": srl.TestSrl,
    "srl_predicates": srl.TestSrlPredicates,
    "sst": sst.TestSst,
}
WRONG: list[Any] = [
    "yes", "", 3, -1, 0, 1.5, -0.5, True, False, None, [], {}, [1], ["x"], [[]], {"x": 1}, {"type": "nobody"},
    {"type": []}, {"type": None}, 1e30,
]  # fmt: skip
Path_ = tuple[str | int, ...]


def keys_of(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yields the paths of all values below one."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from keys_of(part, (*path, key))


def with_mistake(config: dict[str, Any], generator: np.random.Generator) -> tuple[dict[str, Any], Path_, str]:
    """Returns a configuration with a mistake, its path, and what it is."""
    changed = copy.deepcopy(config)
    paths = list(keys_of(changed))
    path = paths[int(generator.integers(len(paths)))]
    *parents, key = path
    holder: Any = changed
    for each in parents:
        holder = holder[each]
    wrong = WRONG[int(generator.integers(len(WRONG)))]
    kind = str(generator.choice(["wrong", "wrong", "wrong", "missing", "misspelled", "in a list", "added"]))
    if kind == "wrong" or isinstance(key, int):
        holder[key], kind = wrong, repr(wrong)
    elif kind == "missing":
        del holder[key]
    elif kind == "misspelled":
        holder[f"{key}s"] = holder.pop(key)
    elif kind == "in a list":
        holder[key] = [holder[key]]
    else:
        holder["unheard_of"], kind = wrong, f"added: {wrong!r}"
        path = (*parents, "unheard_of")
    return changed, path, kind


def test_mistakes(material: Material, tmp_path: Path, outcomes: Outcomes) -> None:
    configs = {"bilm": bilm_training(tmp_path), **{name: task.config() for name, task in TASKS.items()}}
    generator = random_of(41)
    for name, config in configs.items():
        data = Path(config["train_data_path"]).name
        for case in times(30):
            changed, path, kind = with_mistake(config, generator)
            file = write_config(changed, tmp_path / "config.json")
            work = allennlp("train", file, "-s", tmp_path / f"{name} {case}", "--dry-run")
            names = [key for key in path if isinstance(key, str)] + ["data path", data]
            outcomes.run(f"{name} {'.'.join(map(str, path))} {kind}", work, tmp_path, names, is_command=True)
