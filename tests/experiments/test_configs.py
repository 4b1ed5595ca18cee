"""The Jsonnet library, and the configurations that are composed with it."""

import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.models import Model

from elmo_plugin.embedding import indexer, token_embedder  # noqa: F401 (registers `elmo`)
from elmo_plugin.tasks import ner  # noqa: F401 (registers the tagger)

REPOSITORY = Path(__file__).parents[2]
FIXTURES = REPOSITORY / "tests" / "fixtures"
BILM = {
    "options": str(FIXTURES / "bilm" / "options.json"),
    "weights": str(FIXTURES / "bilm" / "weights.hdf5"),
}
EMBEDDERS = "model.contextual_encoder.text_field_embedder.token_embedders"
INPUT = f"{EMBEDDERS}.elmo"
OUTPUT = "model.contextual_encoder.output_elmo"


def evaluate(expression: str) -> dict[str, Any]:
    """What a configuration in `experiments/` would be that consists of `expression`."""
    libraries = "".join(
        f"local {name} = import '../training_config/lib/{name}.libsonnet';"
        for name in ("elmo", "ner", "words")
    )
    return json.loads(
        _jsonnet.evaluate_snippet(str(REPOSITORY / "experiments" / "test.jsonnet"), libraries + expression)
    )


def flat(config: Any, path: str = "") -> dict[str, Any]:
    """The values of a configuration by their paths."""
    if not isinstance(config, dict):
        return {path: config}
    return {
        name: value
        for key in config
        for name, value in flat(config[key], f"{path}.{key}".lstrip(".")).items()
    }


def added_by(mixin: str) -> dict[str, Any]:
    """The values by which a configuration with `mixin` differs from that without it."""
    baseline, config = flat(evaluate("ner(data='data')")), flat(evaluate(f"ner(data='data') + {mixin}"))
    assert baseline.keys() <= config.keys()
    return {path: value for path, value in config.items() if baseline.get(path) != value}


def embedder_at(path: str, **changes: Any) -> dict[str, Any]:
    values = {
        "type": "elmo",
        "bilm": "tiny",
        "layers": "all",
        "layer_norm": False,
        "dropout": 0.5,
        "requires_grad": False,
        "precision": "float32",
    }
    return {f"{path}.{key}": value for key, value in (values | changes).items()}


INDEXER = {"dataset_reader.token_indexers.elmo.type": "elmo"}


@pytest.mark.parametrize(
    ("placements", "paths"),
    [("['input']", [INPUT]), ("['output']", [OUTPUT]), ("['input', 'output']", [INPUT, OUTPUT]), ("[]", [])],
)
def test_a_placement_adds_the_indexer_and_its_embedder_and_nothing_else(
    placements: str, paths: list[str]
) -> None:
    expected = INDEXER if paths else {}
    for path in paths:
        expected = expected | embedder_at(path)
    assert added_by(f"elmo.at({placements}, bilm='tiny')") == expected


def test_options_of_a_placement_reach_its_embedder() -> None:
    options = "bilm='original', dropout=0.1, layers=[0, 1], layer_norm=true"
    for option, changes in (
        ("requires_grad=true", {"requires_grad": True}),
        ("precision='int8'", {"precision": "int8"}),
    ):
        assert added_by(f"elmo.at(['output'], {options}, {option})") == INDEXER | embedder_at(
            OUTPUT, bilm="original", dropout=0.1, layers=[0, 1], layer_norm=True, **changes
        )


INPUT_WEIGHTS = "contextual_encoder\\.text_field_embedder\\.token_embedder_elmo\\..*scalar_mix\\.weights"
OUTPUT_WEIGHTS = "contextual_encoder\\.output_elmo\\..*scalar_mix\\.weights"


def test_lambda_is_a_penalty_beside_those_of_the_task() -> None:
    penalty = [INPUT_WEIGHTS, {"type": "l2", "alpha": 0.1}]
    alone = evaluate("ner(data='data') + elmo.at(['input'], bilm='tiny', lambda=0.1)")
    assert alone["model"]["regularizer"] == {"regexes": [penalty]}
    own = "{ model+: { regularizer: { regexes: [['.*crf.*', { type: 'l2', alpha: 1 }]] } } }"
    both = evaluate(f"ner(data='data') + {own} + elmo.at(['input'], bilm='tiny', lambda=0.1)")
    assert both["model"]["regularizer"] == {
        "regexes": [[".*crf.*", {"type": "l2", "alpha": 1}], penalty],
    }


def test_each_placement_may_have_options_of_its_own() -> None:
    added = added_by(
        "elmo.at(['input'], bilm='tiny', lambda=0.1) + "
        "elmo.at(['output'], bilm='tiny', layers='top', lambda=0.001)"
    )
    penalties = [
        [INPUT_WEIGHTS, {"type": "l2", "alpha": 0.1}],
        [OUTPUT_WEIGHTS, {"type": "l2", "alpha": 0.001}],
    ]
    embedders = embedder_at(INPUT) | embedder_at(OUTPUT, layers="top")
    assert added == INDEXER | embedders | {"model.regularizer.regexes": penalties}


def test_mixing_weights_may_be_given() -> None:
    mixing_weights = "elmo.at(['input'], bilm='tiny', mixing_weights=[0.2, 0.8, 0])"
    assert added_by(mixing_weights) == INDEXER | embedder_at(INPUT, mixing_weights=[0.2, 0.8, 0])


def test_a_cache_is_that_of_every_placement() -> None:
    at = "elmo.at(['input', 'output'], bilm='tiny', cache={type: 'lmdb', path: 'here', max_gb: 5})"
    cache = {"cache.type": "lmdb", "cache.path": "here", "cache.max_gb": 5}
    assert added_by(at) == INDEXER | embedder_at(INPUT, **cache) | embedder_at(OUTPUT, **cache)


def test_the_slots_of_a_word_reach_the_indexer_whichever_placement_names_them() -> None:
    slots = {f"{next(iter(INDEXER)).rpartition('.')[0]}.max_characters_per_token": 194}
    both = "elmo.at(['input'], bilm='ja'%s) + elmo.at(['output'], bilm='ja'%s)"
    expected = INDEXER | slots | embedder_at(INPUT, bilm="ja") | embedder_at(OUTPUT, bilm="ja")
    for placements in ((", max_characters_per_token=194", ""), ("", ", max_characters_per_token=194")):
        assert added_by(both % placements) == expected


def test_none_adds_nothing() -> None:
    assert added_by("elmo.none") == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("['middle'], 'tiny'", "placements are a list of 'input' and 'output', not \\[\"middle\"\\]"),
        ("'input', 'tiny'", "placements are a list of 'input' and 'output', not \"input\""),
        ("['input', 'input'], 'tiny'", "each placement is named once"),
        ("['input'], 'tiny', layers='last'", "'token', the number of a layer, .*, not \"last\""),
        ("['input'], 'tiny', layers=[]", r"layers are .*, not \[ *\]"),
        ("['input'], 'tiny', layers=[0.5]", "layers are"),
        ("['input'], 'tiny', layers=-1", "layers are"),
        ("['input'], 'tiny', dropout=1", "dropout is a rate from 0 to 1, not 1"),
        ("['input'], 'tiny', lambda=-1", "lambda is a number, 0 or more, not -1"),
        ("['input'], 'tiny', lambda='0.1'", 'lambda is a number, 0 or more, not "0.1"'),
        ("['input'], 'tiny', lambda=0.1, mixing_weights=[1]", "mixing_weights that are given need no lambda"),
        ("['input'], 'tiny', precision='half'", 'precision is .*, not "half"'),
        ("['input'], 'tiny', cache={type: 'redis'}", "type is 'memory' or 'lmdb', not .*redis"),
        ("['input'], 'tiny', cache={path: 'here'}", "type is 'memory' or 'lmdb', not .*here"),
        ("['input'], 'tiny', cache='lmdb'", "type is 'memory' or 'lmdb', not \"lmdb\""),
        ("['input'], 'tiny', cache={type: 'memory'}, requires_grad=true", "is trained .* can have no cache"),
    ],
)
def test_a_wrong_argument_of_elmo_at_is_an_error_that_names_it(arguments: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        evaluate(f"ner(data='data') + elmo.at({arguments})")


WORDS = f"{EMBEDDERS}.tokens"
WORD_INDEXER = "dataset_reader.token_indexers.tokens"


def test_learned_words_are_those_of_the_training_data() -> None:
    config = flat(evaluate("ner(data='data') + words.learned(30, min_count=3, lowercase=false)"))
    expected = {
        f"{WORDS}.embedding_dim": 30,
        f"{WORD_INDEXER}.lowercase_tokens": False,
        "vocabulary.min_count.tokens": 3,
        "datasets_for_vocab_creation": ["train"],
    }
    assert config.items() >= expected.items()
    assert f"{WORDS}.pretrained_file" not in config


def test_glove_vectors_are_for_the_words_of_all_data() -> None:
    config = flat(evaluate("ner(data='data') + words.glove('glove.txt', dim=100)"))
    expected = {
        f"{WORDS}.embedding_dim": 100,
        f"{WORDS}.pretrained_file": "glove.txt",
        f"{WORDS}.trainable": False,
        f"{WORD_INDEXER}.lowercase_tokens": False,
        "vocabulary.pretrained_files.tokens": "glove.txt",
    }
    assert config.items() >= expected.items()
    assert not {"datasets_for_vocab_creation", "vocabulary.min_count.tokens"} & config.keys()


def test_without_words_nothing_is_left_of_them() -> None:
    config = flat(evaluate("ner(data='data') + words.none() + elmo.at(['input'], bilm='tiny')"))
    assert not [path for path in config if path.startswith((WORDS, WORD_INDEXER, "vocabulary."))]
    assert config[f"{INPUT}.bilm"] == "tiny"


@pytest.mark.parametrize("last", ["words.learned(30)", "words.glove('glove.txt')", "words.none()"])
def test_the_last_words_count(last: str) -> None:
    others = "words.learned(20) + words.none() + words.glove('other.txt', dim=10) + words.none()"
    assert evaluate(f"ner(data='data') + {others} + {last}") == evaluate(f"ner(data='data') + {last}")


@pytest.mark.parametrize(
    ("words", "message"), [("learned('x')", "dim is a positive number"), ("glove(5)", "file is a path")]
)
def test_wrong_words_are_an_error(words: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        evaluate(f"ner(data='data') + words.{words}")


def test_the_elmo_experiment_is_the_baseline_with_elmo() -> None:
    baseline, with_elmo = (
        flat(Params.from_file(REPOSITORY / "experiments" / f"ner_{name}.jsonnet").as_dict(quiet=True))
        for name in ("baseline", "elmo")
    )
    added = {path: value for path, value in with_elmo.items() if baseline.get(path) != value}
    assert baseline.keys() <= with_elmo.keys()
    assert added.keys() == INDEXER.keys() | embedder_at(INPUT).keys() | {"model.regularizer.regexes"}


def test_an_experiment_may_be_overridden_from_the_command_line() -> None:
    overrides = {f"{INPUT}.dropout": 0.1, "train_data_path": "elsewhere", "trainer.num_epochs": 1}
    config = Params.from_file(REPOSITORY / "experiments" / "ner_elmo.jsonnet", json.dumps(overrides))
    assert flat(config.as_dict(quiet=True)).items() >= overrides.items()


@pytest.mark.parametrize("cache", [{"type": "memory"}, {"type": "lmdb", "path": "here"}], ids=str)
def test_an_experiment_may_be_given_a_cache_from_the_command_line(cache: dict[str, str]) -> None:
    overrides = {f"{INPUT}.cache": cache}
    config = Params.from_file(REPOSITORY / "experiments" / "ner_elmo.jsonnet", json.dumps(overrides))
    embedder = config.as_dict(quiet=True)["model"]["contextual_encoder"]["text_field_embedder"]
    assert embedder["token_embedders"]["elmo"]["cache"] == cache


def test_the_paper_configuration_has_the_papers_sizes() -> None:
    variables = {"CONLL2003": "conll", "WORD_VECTORS": "vectors.txt"}
    path = REPOSITORY / "training_config" / "ner_conll2003.jsonnet"
    config = flat(Params.from_file(path, ext_vars=variables).as_dict(quiet=True))
    expected = {
        "train_data_path": "conll/eng.train",
        "validation_data_path": "conll/eng.testa",
        "test_data_path": "conll/eng.testb",
        "dataset_reader.source_encoding": "IOB1",
        f"{EMBEDDERS}.tokens.embedding_dim": 50,
        f"{EMBEDDERS}.tokens.pretrained_file": "vectors.txt",
        f"{EMBEDDERS}.token_characters.embedding.embedding_dim": 16,
        f"{EMBEDDERS}.token_characters.encoder.num_filters": 128,
        f"{EMBEDDERS}.token_characters.encoder.ngram_filter_sizes": [3],
        "model.contextual_encoder.encoder.hidden_sizes": [200, 100],
        "model.regularizer.regexes": [[INPUT_WEIGHTS, {"type": "l2", "alpha": 0.1}]],
        "trainer.optimizer.lr": 0.001,
        "trainer.grad_norm": 5.0,
    }
    assert {path: config[path] for path in expected} == expected


@pytest.mark.parametrize(
    ("placements", "mixes"), [(["input"], 1), (["output"], 1), (["input", "output"], 2)], ids=str
)
def test_a_composed_configuration_builds_a_tagger_that_penalises_only_its_mixing_weights(
    placements: list[str], mixes: int
) -> None:
    at = f"elmo.at({json.dumps(placements)}, bilm={json.dumps(BILM)}, lambda=0.1)"
    config = Params(evaluate(f"ner(data='data') + {at}"))
    reader = DatasetReader.from_params(config["dataset_reader"])
    batch = Batch(reader.read(FIXTURES / "ner" / "sentences.txt"))
    vocab = Vocabulary.from_instances(batch.instances)
    batch.index_instances(vocab)
    model = Model.from_params(config["model"], vocab=vocab)
    weights = {
        name: weight for name, weight in model.named_parameters() if name.endswith("scalar_mix.weights")
    }
    assert len(weights) == mixes
    with torch.no_grad():
        for weight in weights.values():
            weight.fill_(2.0)
    penalty = 0.1 * sum(4.0 * weight.numel() for weight in weights.values())
    assert model.get_regularization_penalty().item() == pytest.approx(penalty)
    model(**batch.as_tensor_dict())["loss"].backward()
    assert all(weight.grad is not None for weight in weights.values())
