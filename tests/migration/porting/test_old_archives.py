"""Archives in the form of AllenNLP 0.x, with old layers and old names of weights."""

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.models import Model

import elmo_plugin.register  # noqa: F401
from elmo_plugin.archives import load_archive
from elmo_plugin.migration.porting.archive import port_archive
from elmo_plugin.migration.porting.computations import keep_state, port_computations
from elmo_plugin.migration.porting.config import Config, Porting
from elmo_plugin.migration.porting.rules import port_config
from tests.allennlp_elmo import dropin
from tests.conftest import REPOSITORY
from tests.migration.porting.public_configs import write_data

BILM = REPOSITORY / "tests" / "fixtures" / "bilm"
ELMO_DIM, CHARACTERS_DIM = 12, 2
SIZE = ELMO_DIM + CHARACTERS_DIM
ENCODERS: dict[str, Config] = {
    "augmented_lstm": {"hidden_size": 3},
    "alternating_lstm": {"hidden_size": 3, "num_layers": 2},
    "stacked_bidirectional_lstm": {"hidden_size": 3, "num_layers": 2},
    "gru": {"hidden_size": 3, "batch_first": True},
}


def old_config(encoder: str, is_cached: bool) -> Config:
    """A tagger with characters; a cached ELMo shares the vector of words that are unknown."""
    elmo = {"type": "elmo_token_embedder", "dropout": 0.0}
    elmo |= {"options_file": str(BILM / "options.json"), "weight_file": str(BILM / "weights.hdf5")}
    cnn = {"type": "cnn", "embedding_dim": 3, "num_filters": 2, "ngram_filter_sizes": [3]}
    characters = {"type": "character_encoding", "embedding": {"embedding_dim": 3}, "encoder": cnn}
    embedders: Config = {"elmo": elmo, "token_characters": characters}
    embedder: Config = {"token_embedders": embedders}
    indexers: Config = {
        "elmo": {"type": "elmo_characters"},
        "token_characters": {"type": "characters", "min_padding_length": 5},
    }
    if is_cached:
        elmo["namespace_to_cache"] = "words"
        indexers["words"] = {"type": "single_id", "namespace": "words", "lowercase_tokens": True}
        embedder["allow_unmatched_keys"] = True
        embedder["embedder_to_indexer_map"] = {
            "elmo": ["elmo", "words"],
            "token_characters": ["token_characters"],
        }
    return {
        "dataset_reader": {"type": "conll2003", "tag_label": "pos", "token_indexers": indexers},
        "train_data_path": "data/train",
        "model": {
            "type": "simple_tagger",
            "text_field_embedder": embedder,
            "encoder": {"type": encoder, "input_size": SIZE, **ENCODERS[encoder]},
        },
        "iterator": {"type": "basic", "batch_size": 2},
        "trainer": {"optimizer": "adam", "num_epochs": 1},
    }


def as_ported(old: Config) -> Config:
    porting = Porting(old)
    porting.config, porting.notes = port_config(old)
    port_computations(porting)
    keep_state(porting)
    return porting.config


def old_name(name: str) -> str:
    return re.sub(r"(_module\..*)cell\.", r"\1", name)


def write_old_archive(folder: Path, old: Config, model: Model, is_cached: bool) -> Path:
    weights = {old_name(name): values for name, values in model.state_dict().items()}
    if is_cached:
        prefix = "text_field_embedder.token_embedder_elmo._elmo._elmo_lstm"
        weights[f"{prefix}._word_embedding.weight"] = torch.ones(4, 6)
    (folder / "config.json").write_text(json.dumps(old))
    torch.save(weights, folder / "weights.th")
    model.vocab.save_to_files(str(folder / "vocabulary"))
    archive = folder / "old.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("config.json", "weights.th", "vocabulary"):
            tar.add(folder / name, arcname=name)
    return archive


def predict(model: Any, instances: list[Instance]) -> list[Any]:
    model.eval()
    return [output["logits"] for output in model.forward_on_instances(instances)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "is_cached"), [*((name, False) for name in ENCODERS), ("gru", True)]
)
def test_a_tagger_of_version_0_predicts_as_before(
    encoder: str, is_cached: bool, tmp_path: Path
) -> None:
    write_data(tmp_path / "data")
    old = old_config(encoder, is_cached)
    with dropin():
        config = as_ported(old)
        reader = DatasetReader.from_params(Params(config["dataset_reader"]))
        instances = list(reader.read(tmp_path / "data" / "train"))
        rare = {"words": 2} if is_cached else None
        vocabulary = Vocabulary.from_instances(instances, min_count=rare)
        model = Model.from_params(Params(config["model"]), vocab=vocabulary)
        expected = predict(model, instances)
        archive = write_old_archive(tmp_path, old, model, is_cached)
        notes: list[str] = []
        port_archive(str(archive), str(tmp_path / "new.tar.gz"), notes.append, trust=True)
        loaded = load_archive(tmp_path / "new.tar.gz")
        found = predict(loaded.model, list(loaded.dataset_reader.read(tmp_path / "data" / "train")))
    for logits, before in zip(found, expected, strict=True):
        torch.testing.assert_close(torch.tensor(logits), torch.tensor(before), atol=1e-6, rtol=0)
    assert notes[-1].endswith("elmo_plugin.dropin and elmo_plugin.plugin in .allennlp_plugins")
