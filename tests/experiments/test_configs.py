"""The Jsonnet library: the results of `elmo.at`, `words` and the functions of the tasks, and all
variants.
"""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_plugin.tasks.sst import SstPredictor
from tests.conftest import REPOSITORY
from tests.experiments.configs import (
    DATA,
    ELMO,
    EMBEDDERS,
    INPUT,
    INPUT_WEIGHTS,
    OUTPUT,
    OUTPUT_WEIGHTS,
    SIZES,
    TASKS,
    elmo_at,
    evaluate,
    evaluate_for_each_task,
    flat,
    model_and_batch,
    parameters,
    read_config,
    small_config,
)


def added_by(mixin: str) -> dict[str, Any]:
    """Returns the values by which a configuration with `mixin` differs from that without it."""
    baseline, config = (
        flat(evaluate("ner(data='data')")),
        flat(evaluate(f"ner(data='data') + {mixin}")),
    )
    assert baseline.keys() <= config.keys()
    return {path: value for path, value in config.items() if baseline.get(path, "") != value}


def placed(path: str, **changes: Any) -> dict[str, Any]:
    values = {"layers": "all", "layer_norm": False, "dropout": 0.5}
    return {f"{path}.{key}": value for key, value in (values | changes).items()}


def shared(**changes: Any) -> dict[str, Any]:
    values = {"bilm": "tiny", "requires_grad": False, "precision": "float32", "cache": None}
    return INDEXER | {f"{ELMO}.{key}": value for key, value in (values | changes).items()}


INDEXER = {"dataset_reader.token_indexers.elmo.type": "elmo"}


@pytest.mark.parametrize(
    ("placements", "paths"),
    [
        ("['input']", [INPUT]),
        ("['output']", [OUTPUT]),
        ("['input', 'output']", [INPUT, OUTPUT]),
        ("[]", []),
    ],
)
def test_a_placement_adds_only_the_indexer_the_bilm_and_its_mix(
    placements: str, paths: list[str]
) -> None:
    expected = shared() if paths else {}
    for path in paths:
        expected = expected | placed(path)
    assert added_by(f"elmo.at({placements}, bilm='tiny')") == expected


def test_lambda_is_added_to_the_penalties_of_the_task() -> None:
    penalty = [INPUT_WEIGHTS, {"type": "l2", "alpha": 0.1}]
    alone = evaluate("ner(data='data') + elmo.at(['input'], bilm='tiny', lambda=0.1)")
    assert alone["model"]["regularizer"] == {"regexes": [penalty]}
    own = "{ model+: { regularizer: { regexes: [['.*crf.*', { type: 'l2', alpha: 1 }]] } } }"
    both = evaluate(f"ner(data='data') + {own} + elmo.at(['input'], bilm='tiny', lambda=0.1)")
    assert both["model"]["regularizer"] == {
        "regexes": [[".*crf.*", {"type": "l2", "alpha": 1}], penalty]
    }


def test_each_placement_may_have_separate_options() -> None:
    added = added_by(
        "elmo.at(['input'], bilm='tiny', lambda=0.1) + elmo.at(['output'], bilm='tiny', "
        "layers='top', lambda=0.001)"
    )
    penalties = [
        [INPUT_WEIGHTS, {"type": "l2", "alpha": 0.1}],
        [OUTPUT_WEIGHTS, {"type": "l2", "alpha": 0.001}],
    ]
    mixes = placed(INPUT) | placed(OUTPUT, layers="top")
    assert added == shared() | mixes | {"model.regularizer.regexes": penalties}


@pytest.mark.parametrize("strength", [0.5, 0])
def test_a_placement_that_is_added_again_replaces_the_earlier_one(strength: float) -> None:
    first = (
        "elmo.at(['input'], bilm='base', lambda=0.1, mixing_weights=null, cache={ type: 'memory' })"
    )
    own = "{ model+: { regularizer+: { regexes+: [['.*crf.*', { type: 'l2', alpha: 1 }]] } } }"
    added = added_by(
        f"{first} + {own} + elmo.at(['input'], bilm='tiny', layers='top', lambda={strength})"
    )
    penalties = [[".*crf.*", {"type": "l2", "alpha": 1}]]
    penalties += [[INPUT_WEIGHTS, {"type": "l2", "alpha": strength}]] if strength else []
    expected = shared() | placed(INPUT, layers="top")
    assert sorted(added.pop("model.regularizer.regexes")) == sorted(penalties)
    assert added == expected


def test_placements_with_different_bilms_are_an_error() -> None:
    with pytest.raises(RuntimeError, match="all placements of a model have the same bilm"):
        evaluate(
            "ner(data='d') + elmo.at(['input'], bilm='tiny') + elmo.at(['output'], bilm='base')"
        )


def test_the_indexer_gets_max_characters_from_either_placement() -> None:
    slots = {f"{next(iter(INDEXER)).rpartition('.')[0]}.max_characters_per_token": 194}
    both = "elmo.at(['input'], bilm='ja'%s) + elmo.at(['output'], bilm='ja'%s)"
    expected = shared(bilm="ja") | slots | placed(INPUT) | placed(OUTPUT)
    for placements in (
        (", max_characters_per_token=194", ""),
        ("", ", max_characters_per_token=194"),
    ):
        assert added_by(both % placements) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "['middle'], 'tiny'",
            "placements are a list of 'input' and 'output', not \\[\"middle\"\\]",
        ),
        ("'input', 'tiny'", "placements are a list of 'input' and 'output', not \"input\""),
        ("['input', 'input'], 'tiny'", "each placement is named once"),
        ("['input'], 'tiny', layers='last'", "'token', the number of a layer, .*, not \"last\""),
        ("['input'], 'tiny', layers=[]", r"layers are .*, not \[ *\]"),
        ("['input'], 'tiny', layers=[0.5]", "layers are"),
        ("['input'], 'tiny', layers=-1", "layers are"),
        ("['input'], 'tiny', dropout=1", "dropout is a rate from 0 to 1, not 1"),
        ("['input'], 'tiny', lambda=-1", "lambda is a number, 0 or more, not -1"),
        ("['input'], 'tiny', lambda='0.1'", 'lambda is a number, 0 or more, not "0.1"'),
        (
            "['input'], 'tiny', lambda=0.1, mixing_weights=[1]",
            "mixing_weights that are given need no lambda",
        ),
        ("['input'], 'tiny', mixing_weights=0.5", "mixing_weights are a list of numbers, not 0.5"),
        (
            "['input'], 'tiny', mixing_weights=['0.5', '0.5']",
            "mixing_weights are a list of numbers, not",
        ),
        (
            "['input'], 'tiny', cache={type: 'memory'}, requires_grad=true",
            "is trained .* can have no cache",
        ),
    ],
)
def test_a_wrong_argument_of_elmo_at_is_an_error_that_names_it(
    arguments: str, message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        evaluate(f"elmo.at({arguments})")


ADDITIONS = ["elmo.at(['input'], bilm='tiny')", "words.none()", "words.bundled()"]


@pytest.mark.parametrize(
    "sum_of_parts",
    [
        *(f"{ADDITIONS[0]} + {task}(data='d')" for task in TASKS),
        *(f"{added} + ner(data='d')" for added in ADDITIONS[1:]),
        f"({ADDITIONS[0]}) + (ner(data='d') + words.none())",
    ],
)
def test_additions_before_the_task_are_an_error(sum_of_parts: str) -> None:
    with pytest.raises(RuntimeError, match="a task comes first in a sum"):
        evaluate(sum_of_parts)


@pytest.mark.parametrize("added", ADDITIONS)
def test_what_is_no_addition_may_stand_before_the_task(added: str) -> None:
    configs = evaluate_for_each_task(f"{{ random_seed: 3 }} + TASK(data='d') + {added}")
    assert [config["random_seed"] for config in configs.values()] == [3] * len(TASKS)


def test_absolute_paths_are_not_joined_to_the_data_folder() -> None:
    config = evaluate("ner(data='d', train='/a/train.txt', dev='b/dev.txt')")
    assert (config["train_data_path"], config["validation_data_path"]) == (
        "/a/train.txt",
        "d/b/dev.txt",
    )


WORDS = f"{EMBEDDERS}.tokens"
WORD_INDEXER = "dataset_reader.token_indexers.tokens"


def test_words_none_removes_every_trace_of_word_vectors() -> None:
    config = flat(evaluate("ner(data='data') + words.none() + elmo.at(['input'], bilm='tiny')"))
    assert not [path for path in config if path.startswith((WORDS, WORD_INDEXER))]
    assert [path for path in config if path.startswith("vocabulary.")] == ["vocabulary.type"]
    assert config[f"{ELMO}.bilm"] == "tiny"


@pytest.mark.parametrize("last", ["words.learned(30)", "words.glove('glove.txt')", "words.none()"])
def test_the_word_vectors_added_last_count(last: str) -> None:
    others = "words.learned(20) + words.none() + words.glove('other.txt', dim=10) + words.none()"
    assert evaluate(f"ner(data='data') + {others} + {last}") == evaluate(
        f"ner(data='data') + {last}"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [("learned('x')", "dim is a positive number"), ("glove(5)", "file is a path")],
)
def test_wrong_arguments_of_word_vectors_are_an_error(words: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        evaluate(f"words.{words}")


@pytest.mark.parametrize("length", ["null", "1", "4"])
def test_only_training_on_sst_reads_phrases_and_validation_is_otherwise_equal(
    length: str,
) -> None:
    mixins = "words.none() + words.learned(dim=7) + elmo.at(['input'], bilm='tiny')"
    config = evaluate(f"sst(data='d', binary=true, min_phrase_length={length}) + {mixins}")
    assert config["dataset_reader"].pop("min_phrase_length") == json.loads(length)
    assert config["validation_dataset_reader"].pop("min_phrase_length") is None
    assert config["validation_dataset_reader"] == config["dataset_reader"]
    assert config["dataset_reader"]["token_indexers"].keys() == {"tokens", "elmo"}
    assert config["dataset_reader"]["binary"]


@pytest.mark.parametrize("task", TASKS)
def test_another_reader_replaces_the_tasks_own_and_its_options(task: str) -> None:
    config = evaluate_for_each_task(
        "TASK(data='d', reader={ type: 'mine', depth: 3 }) + elmo.at(['input'], bilm='tiny')"
    )[task]
    assert config["dataset_reader"].pop("token_indexers").keys() >= {"tokens", "elmo"}
    assert config["dataset_reader"] == {"type": "mine", "depth": 3}
    assert "validation_dataset_reader" not in config


@pytest.mark.parametrize("task", TASKS)
def test_reader_options_are_added_to_the_tasks_own(task: str) -> None:
    plain = evaluate_for_each_task("TASK(data='d')")[task]
    config = evaluate_for_each_task(
        "TASK(data='d', reader={ max_instances: 8 }, validation_reader={ max_instances: 4 })"
    )[task]
    reader = plain["dataset_reader"]
    assert config["dataset_reader"] == reader | {"max_instances": 8}
    validating = plain.get("validation_dataset_reader", reader) | {"max_instances": 4}
    assert config["validation_dataset_reader"] == validating


PAPER: dict[str, dict[str, Any]] = {
    "ner_conll2003": {
        "encoder.hidden_sizes": [200, 100],
        "data_loader.batch_sampler.batch_size": 64,
    },
    "snli": {"encoder.hidden_sizes": [300], "optimizer.lr": 0.0004, "elmo.output.layer_norm": True},
    "sst": {
        "min_phrase_length": 4,
        "model.integrator.hidden_sizes": [300],
        "elmo.output.dropout": 0.5,
    },
    "coref_conll2012": {
        "spans_per_word": 0.4,
        "max_antecedents": 250,
        "encoder.recurrent_dropout": 0.2,
    },
    "squad": {
        "self_attention_encoder.hidden_size": 90,
        "moving_average.decay": 0.999,
        "batch_size": 45,
    },
    "srl_conll2012": {"encoder.num_layers": 8, "encoder.hidden_size": 300, "optimizer.rho": 0.95},
}
PENALTIES = {"ner_conll2003": [0.1], "srl_conll2012": [0.001], "sst": [0.001, 0.001]}
PENALTIES["snli"] = [0.0001, 0.001, 0.001]


@pytest.mark.parametrize("name", PAPER)
def test_paper_configurations_use_the_papers_sizes(name: str) -> None:
    config = flat(read_config(f"training_config/{name}.jsonnet"))
    for end, expected in PAPER[name].items():
        found = [
            value
            for path, value in config.items()
            if path.endswith(end) and "validation" not in path
        ]
        assert found and all(value == expected for value in found), end
    strengths = [penalty["alpha"] for _, penalty in config.get("model.regularizer.regexes", [])]
    assert strengths == PENALTIES.get(name, [])


@pytest.mark.parametrize(
    "inputs", [{"sentence": "A fine play."}, {"words": ["A", "fine", "play", "."]}]
)
def test_a_classifier_with_allennlps_reader_learns_and_predicts(
    tmp_path: Path, inputs: dict[str, Any]
) -> None:
    lines = [
        {"text": "A fine play.", "label": "praise"},
        {"text": "Where is it?", "label": "question"},
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, lines)))
    option = "reader={ type: 'text_classification_json', tokenizer: 'penn_treebank' }"
    options = f"words=words.learned(dim=4, min_count=1), {SIZES['sst']}{option}"
    config = evaluate(
        f"sst(data='{tmp_path}', train='data.jsonl', dev='data.jsonl', {options}) + elmo.none"
    )
    reader = DatasetReader.from_params(Params(copy.deepcopy(config["dataset_reader"])))
    model, batch = model_and_batch(config, tmp_path / "data.jsonl")
    assert model(**batch)["loss"] > 0
    predictor = SstPredictor(model.eval(), reader)
    assert predictor.predict_json(inputs)["probabilities"].keys() == {"praise", "question"}


@pytest.mark.parametrize("placements", [[], ["input"]], ids=str)
def test_l2_of_snli_penalises_lstms_and_layers_in_addition_to_lambda(placements: list[str]) -> None:
    config = small_config("snli", elmo_at(placements), "l2=0.01")
    model, _ = model_and_batch(config, DATA["snli"])
    mixes = parameters(model, "scalar_mix.weights").values()
    lstms = [
        weight
        for name, weight in model.named_parameters()
        if "weight_ih" in name or "weight_hh" in name
    ]
    layers = [model.projection, model.classifier]
    matrices = [
        *lstms,
        model.output_logits.weight,
        *(layer._linear_layers[0].weight for layer in layers),
    ]
    assert len(mixes) == len(placements) and len(lstms) == 2 * 4
    with torch.no_grad():
        for weight in mixes:
            weight.uniform_(-1, 1)
        expected = 0.1 * sum(map(squared_norm, mixes)) + 0.01 * sum(map(squared_norm, matrices))
        assert float(model.get_regularization_penalty()) == pytest.approx(float(expected))


def squared_norm(weight: torch.Tensor) -> torch.Tensor:
    return weight.double().square().sum()


EXPERIMENTS = REPOSITORY / "experiments"
FILES = sorted(
    [*EXPERIMENTS.glob("*.jsonnet"), *(REPOSITORY / "training_config").glob("[!b]*.jsonnet")]
)
OF_EVERY_TASK = (
    "baseline elmo base top lambda_1 token_layer base_no_words static_base "
    "static_base_elmo bfloat16"
)
OF_ONE_TASK = {
    "coref": "output both no_speakers no_genre may_cross",
    "ner": "output both lambda_0.001",
    "snli": "input output",
    "squad": "input output no_self_attention no_moving_average any_length",
    "srl": "output both",
    "sst": "input output",
}


@pytest.fixture(scope="module")
def variants() -> dict[str, Any]:
    return read_config("experiments/variants.jsonnet")


@pytest.mark.slow
def test_all_variants_exist_and_differ(variants: dict[str, Any]) -> None:
    names = {
        f"{task}_{name}"
        for task, others in OF_ONE_TASK.items()
        for name in (OF_EVERY_TASK + " " + others).split()
    }
    assert variants.keys() == names
    assert all(variants[a] != variants[b] for a in variants for b in variants if a < b)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant", [f"{task}_{one}" for task in OF_ONE_TASK for one in ("baseline", "base")]
)
def test_a_variant_differs_from_its_task_only_in_learned_words(
    variant: str, variants: dict[str, Any]
) -> None:
    learned = flat(variants[variant])
    name = variant.removesuffix("base") + "elmo" if variant.endswith("base") else variant
    file = flat(read_config(f"experiments/{name}.jsonnet"))
    different = {key for key in learned.keys() | file.keys() if learned.get(key) != file.get(key)}
    length = {"trainer.num_epochs", "trainer.patience"} if variant.startswith("ner") else set()
    assert {key for key in different if ".tokens" not in key} == length
    assert (learned[f"{WORDS}.type"], file[f"{WORDS}.vectors"]) == ("embedding", "english")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_header_comments_state_paper_deviation_scores_and_hardware_without_copying_scores(
    file: Path,
) -> None:
    head = re.split(r"\n(?!//)", file.read_text(encoding="utf-8"))[0]
    entries = dict(re.findall(r"^// ([A-Z][a-z]+): +(.*(?:\n//  +.*)*)", head, re.MULTILINE))
    assert list(entries)[:4] == ["Paper", "Here", "Expected", "Hardware"]
    if file.parent == EXPERIMENTS:
        assert len(re.findall(r"docs/results/\w+\.json", entries["Expected"])) == 1
        assert not re.search(
            r"\d %|\d F1|\d\.\d", entries["Expected"] + entries["Here"].split("a rate of")[0]
        )
