"""Small taggers with AllenNLP's ELMo, trained for a moment, and the drop-in for as long as it is
wanted.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from allennlp import commands
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import TokenIndexer
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.models import Model, load_archive
from allennlp.modules import TokenEmbedder, token_embedders
from allennlp.nn import Initializer
from allennlp.nn.initializers import PretrainedModelInitializer

SENTENCES = [
    "The###D play###N ended###V .###.",
    "Play###V !###.",
    "A###D child###N ended###V the###D long###A play###N",
]


@contextmanager
def dropin() -> Iterator[None]:
    """What a project has that lists `elmo_plugin.dropin`. AllenNLP's own ELMo is back after it."""
    with allennlps_own_afterwards():
        importlib.import_module("elmo_plugin.dropin")
        yield


@contextmanager
def allennlps_own_afterwards() -> Iterator[None]:
    """The drop-in may be imported here, as if for the first time."""
    sys.modules.pop("elmo_plugin.dropin", None)
    try:
        yield
    finally:
        if "elmo_plugin.dropin" in sys.modules:
            _restore(sys.modules["elmo_plugin.dropin"])


def _restore(dropin: Any) -> None:
    """Puts AllenNLP's own ELMo back; the shims stay."""
    TokenEmbedder.register("elmo_token_embedder", exist_ok=True)(token_embedders.ElmoTokenEmbedder)
    TokenIndexer.register("elmo_characters", exist_ok=True)(ELMoTokenCharactersIndexer)
    Initializer.register("pretrained", exist_ok=True)(PretrainedModelInitializer)
    for theirs in dropin.REPLACED:
        theirs.__new__ = _make_own  # Python does not forget a `__new__` that is deleted
        if "from_params" in vars(theirs):
            del theirs.from_params
    if "__call__" in vars(Model):
        del Model.__call__
    if sys.modules.pop(dropin.COMMANDS_ELMO, None) is not None:
        del vars(commands)["elmo"]


def _make_own(cls: type, *args: Any, **options: Any) -> Any:
    return object.__new__(cls)


def tagger_config(folder: Path, files: tuple[str, str], **options: Any) -> dict[str, Any]:
    """
    A configuration that AllenNLP alone trains, one epoch of one batch, with these options of its
    ELMo.
    """
    data = folder / "sentences.txt"
    data.write_text("\n".join(SENTENCES) + "\n")
    elmo = {
        "type": "elmo_token_embedder",
        "options_file": files[0],
        "weight_file": files[1],
        **options,
    }
    return {
        "dataset_reader": {
            "type": "sequence_tagging",
            "token_indexers": {"elmo": {"type": "elmo_characters"}},
        },
        "train_data_path": str(data),
        "model": {
            "type": "simple_tagger",
            "text_field_embedder": {"token_embedders": {"elmo": elmo}},
            "encoder": {
                "type": "lstm",
                "input_size": options.get("projection_dim", 12),
                "hidden_size": 4,
            },
            "regularizer": {"regexes": [[r".*scalar_parameters.*", {"type": "l2", "alpha": 0.5}]]},
        },
        "data_loader": {"batch_size": 3, "shuffle": False},
        "trainer": {
            "optimizer": {"type": "adam", "lr": 0.01},
            "num_epochs": 1,
            "enable_default_callbacks": False,
        },
    }


def train(config: dict[str, Any], folder: Path, recover: bool = False) -> Path:
    """Trains into `folder`; gives the archive."""
    train_model(Params(json.loads(json.dumps(config))), str(folder), recover=recover)
    return folder / "model.tar.gz"


def predictions(archive: Path, **elmo: Any) -> np.ndarray:
    """
    The probabilities of the tags of all words of the training data, with these changes of the
    embedder.
    """
    embedder = "model.text_field_embedder.token_embedders.elmo"
    loaded = load_archive(
        archive, overrides={f"{embedder}.{name}": value for name, value in elmo.items()}
    )
    instances = list(loaded.dataset_reader.read(loaded.config["train_data_path"]))
    outputs = loaded.model.eval().forward_on_instances(instances)
    return np.concatenate([output["class_probabilities"] for output in outputs])
