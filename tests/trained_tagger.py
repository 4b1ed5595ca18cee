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
    elmo = {"type": "elmo", "bilm": bilm, **options}
    embedders: dict[str, Any] = {"tokens": {"type": "embedding", "embedding_dim": 3}}
    if "input" in placements:
        embedders["elmo"] = elmo
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
                "text_field_embedder": {"token_embedders": embedders},
                "encoder": {"type": "variational_bilstm", "hidden_sizes": [4]},
                **({"output_elmo": elmo} if "output" in placements else {}),
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
    """Trains into `folder`, where `model.tar.gz` is then. Gives the model as the training leaves it."""
    params = Params(json.loads(json.dumps(config)))
    return train_model(params, str(folder), recover=recover, return_model=True)
