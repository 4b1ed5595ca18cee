"""Small archives of every task, trained for a moment. Their sources are deleted afterwards."""

import shutil
from pathlib import Path

from tests.experiments.configs import BILM, DATA, elmo_at, evaluate, small_config
from tests.trained_tagger import train

TASKS = ("ner", "srl", "coref", "squad", "snli", "sst")
INPUTS = {
    "ner": {"sentence": "Ada lives in Rome ."},
    "srl": {"sentence": "She wants to leave .", "predicates": [1]},
    "srl_predicates": {"sentence": "She wants to leave ."},
    "coref": {"document": "Anna waved. She laughed."},
    "squad": {"passage": "Ansel was founded in 1887.", "question": "When was it founded?"},
    "snli": {"premise": "A man sleeps.", "hypothesis": "A man is awake."},
    "sst": {"sentence": "It isn't bad."},
}


def train_all(folder: Path) -> dict[str, Path]:
    """Trains a model with ELMo of each task, a tagger of predicates, and one of entities without ELMo."""
    bilm = shutil.copytree(Path(BILM["options"]).parent, folder / "bilm")
    own = {name: str(bilm / Path(file).name) for name, file in BILM.items()}
    with_elmo = elmo_at(["input"])
    for name, file in BILM.items():
        with_elmo = with_elmo.replace(file, own[name])
    configs = {f"{task}_elmo": small_config(task, with_elmo) for task in TASKS}
    configs["ner_baseline"] = small_config("ner", "{}")
    data = DATA["srl"]
    configs["srl_predicates"] = evaluate(
        f"srl_predicates(data='{data.parent}', train='{data.name}', dev='{data.name}') + {with_elmo}"
    )
    archives = {}
    for name, config in configs.items():
        config["trainer"] |= {"num_epochs": 1, "enable_default_callbacks": False}
        train(config, folder / name)
        archives[name] = folder / name / "model.tar.gz"
    shutil.rmtree(bilm)
    return archives
