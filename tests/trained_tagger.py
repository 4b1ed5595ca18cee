"""Small taggers with ELMo, trained by AllenNLP for a moment."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import Model

from elmo_plugin import plugin  # noqa: F401 (registers all)

SENTENCES = Path(__file__).parent / "fixtures" / "ner" / "sentences.txt"


def tagger_config(
    bilm: str | dict[str, str], placements: Sequence[str] = ("input", "output"), **options: Any
) -> dict[str, Any]:
    """A configuration of `ner_bilstm_crf` with ELMo and small sizes."""
    of_a_mix = {"layers", "layer_norm", "dropout", "mixing_weights"}
    mix = {name: options[name] for name in options if name in of_a_mix}
    mixes = {placement: dict(mix) for placement in placements}
    shared = {name: options[name] for name in options if name not in of_a_mix}
    return {
        "dataset_reader": {
            "type": "ner_conll2003",
            "token_indexers": {"tokens": {"type": "single_id"}, "elmo": {"type": "elmo"}},
        },
        "train_data_path": str(SENTENCES),
        "validation_data_path": str(SENTENCES),
        "model": {
            "type": "ner_bilstm_crf",
            "contextual_encoder": {
                "text_field_embedder": {
                    "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 3}}
                },
                "encoder": {"type": "variational_bilstm", "hidden_sizes": [4]},
                **({"elmo": {"bilm": bilm, **shared, **mixes}} if placements else {}),
            },
        },
        "data_loader": {"batch_size": 2},
        "trainer": {
            "optimizer": {"type": "adam", "lr": 0.1},
            "num_epochs": 2,
            "enable_default_callbacks": False,
        },
    }


def train(config: dict[str, Any], folder: Path, recover: bool = False) -> Model:
    """
    Trains into `folder`, where `model.tar.gz` is then. Gives the model as the training leaves it.
    """
    params = Params(json.loads(json.dumps(config)))
    return train_model(params, str(folder), recover=recover, return_model=True)
