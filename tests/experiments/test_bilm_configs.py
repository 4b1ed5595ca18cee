"""The configurations that train biLMs have the right values, and AllenNLP builds them."""

import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.language_model.own_text import RECIPES

LIBRARY = "(import '../elmo_plugin/jsonnet/bilm.libsonnet')"
CONFIGS = Path(__file__).parents[2] / "training_config"
NAMES = sorted(path.stem for path in CONFIGS.glob("bilm_*.jsonnet"))
VARIABLES = {
    "BILM_TRAIN_DATA_PATH": "train.txt",
    "BILM_VALIDATION_DATA_PATH": "dev.txt",
    "BILM_VOCABULARY": "vocabulary",
    "BILM_INITIAL": "tiny",
}


def evaluate(name: str, **variables: str) -> dict[str, Any]:
    return Params.from_file(
        CONFIGS / f"{name}.jsonnet", ext_vars={**VARIABLES, **variables}
    ).as_dict()


@pytest.mark.parametrize("name", NAMES)
def test_header_comments_state_paper_deviation_expectation_and_hardware(name: str) -> None:
    head = (CONFIGS / f"{name}.jsonnet").read_text(encoding="utf-8").split("\n\n")[0]
    for entry in ("Paper:", "Here:", "Expected:", "Hardware:"):
        assert f"// {entry}" in head


@pytest.mark.parametrize("name", ["bilm_tiny", "bilm_finetune", "bilm_continued"])
def test_allennlp_constructs_a_model_from_each_configuration(name: str) -> None:
    vocab = Vocabulary()
    for number in range(9000):  # more than there are negatives
        vocab.add_token_to_namespace(f"word{number}", "words")
    model = Model.from_params(params=Params(evaluate(name)["model"]), vocab=vocab)
    assert isinstance(model, BiLmLanguageModel)
    assert model.bilm.options == BiLm.from_pretrained("tiny").options


@pytest.mark.parametrize(
    ("name", "projection", "cells", "highway_layers"),
    [("bilm_small", 128, 1024, 1), ("bilm_original", 512, 4096, 2)],
)
def test_recipes_for_published_models_use_their_sizes(
    name: str, projection: int, cells: int, highway_layers: int
) -> None:
    options = BiLmOptions.from_dict(evaluate(name)["model"]["options"])
    assert (options.lstm.projection_dim, options.lstm.dim) == (projection, cells)
    assert (options.char_cnn.n_filters, options.char_cnn.n_highway) == (2048, highway_layers)


def test_fine_tuning_keeps_an_archives_vocabulary_and_warms_a_new_softmax_up() -> None:
    kept = evaluate("bilm_finetune", BILM_INITIAL="runs/bilm/model.tar.gz")
    assert kept["vocabulary"] == {"type": "from_files", "directory": "runs/bilm/model.tar.gz"}
    assert kept["model"]["warm_up_batches"] == 0
    new = evaluate("bilm_finetune", BILM_INITIAL="original")
    assert new["vocabulary"] == {}
    assert new["model"]["warm_up_batches"] > 0


def test_values_added_after_the_library_take_effect() -> None:
    code = (
        "local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';"
        "bilm.train(bilm.sizes.tiny, 'train', 'dev', {}, epochs=1, unroll_steps=7)"
        " + bilm.paper_adagrad + { data_loader+: { unroll_steps: 5 } }"
    )
    config = json.loads(_jsonnet.evaluate_snippet(str(CONFIGS / "snippet"), code))
    assert config["model"]["loss_scale"] == 5
    assert config["validation_data_loader"] == {**config["data_loader"], "shuffle": False}


def test_custom_sizes_give_a_valid_bilm() -> None:
    code = f"{LIBRARY}.size(24, filters=[[2, 30]], layers=3, max_characters=70)"
    options = BiLmOptions.from_dict(
        json.loads(_jsonnet.evaluate_snippet(str(CONFIGS / "snippet"), code))
    )
    assert (options.lstm.projection_dim, options.lstm.dim, options.lstm.n_layers) == (24, 96, 3)
    assert (options.char_cnn.n_filters, options.char_cnn.max_characters_per_token) == (30, 70)


def test_every_recipe_names_existing_sizes() -> None:
    code = (
        f"{{ [name]: {LIBRARY}.sizes[name] for name in {sorted({row.size for row in RECIPES})} }}"
    )
    sizes = json.loads(_jsonnet.evaluate_snippet(str(CONFIGS / "snippet"), code))
    for options in sizes.values():
        sizes_read = BiLmOptions.from_dict(options)
        assert sizes_read.char_cnn.n_filters >= sizes_read.lstm.projection_dim
    assert [row.max_words for row in RECIPES] == sorted(row.max_words for row in RECIPES)
