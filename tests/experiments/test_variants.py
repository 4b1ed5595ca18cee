"""Each variant is what its name says, and each configuration has a complete head."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.experiments.configs import evaluate, read_config

EXPERIMENTS = REPOSITORY / "experiments"
FILES = sorted([*EXPERIMENTS.glob("*.jsonnet"), *(REPOSITORY / "training_config").glob("[!b]*.jsonnet")])
BASELINES = {
    "coref": "coref(data='experiments/data/coref', genre_pattern='gum/([^_]+)', words=words.learned(dim=50), "
    "hidden=100, max_span_width=8, spans_per_word=0.3, max_antecedents=50, feedforward=64, "
    "max_training_sentences=20, epochs=30, patience=null)",
    "ner": "ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40, patience=10)",
    "snli": "snli(data='experiments/data/snli', hidden=100, dropout=0.2, learning_rate=0.001, epochs=30, "
    "patience=10, rate_patience=3)",
    "squad": "squad(data='experiments/data/squad', max_paragraph_words=400, words=words.learned(dim=50), "
    "characters={ dim: 16, num_filters: 32, widths: [5] }, hidden=40, moving_average=0.99, "
    "optimizer={ optimizer: { type: 'adam', lr: 0.002 }, grad_norm: 5 }, batch_size=32, epochs=12, "
    "patience=5)",
    "srl": "srl(data='experiments/data/srl', words=words.learned(dim=50), num_layers=4, hidden=100, "
    "predicate_dim=50, optimizer={ optimizer: { type: 'adam', lr: 0.003 }, grad_norm: 5 }, epochs=30, "
    "patience=5)",
    "sst": "sst(data='experiments/data/sst', hidden=64, learning_rate=0.002, batch_size=32, epochs=12)",
}
COREF, NER, SNLI, SQUAD, SRL, SST = (
    f"local baseline = {baseline}; baseline" for baseline in BASELINES.values()
)
BOTH = "elmo.at(['input', 'output'], bilm='base', dropout=0.5, cache={ type: 'memory' }, "
INPUT = "elmo.at(['input'], bilm='base', dropout=0.5, cache={ type: 'memory' }, "
OUTPUT = "elmo.at(['output'], bilm='base', dropout=0.5, cache={ type: 'memory' }, "
NORM = "layer_norm=true, "
STATIC = "words.glove('runs/static_vectors_base.txt', dim=512)"
VARIANTS = {
    "coref_baseline": COREF,
    "coref_base": f"{COREF} + {INPUT})",
    "coref_output": f"{COREF} + {OUTPUT})",
    "coref_both": f"{COREF} + {BOTH})",
    "coref_top": f"{COREF} + {INPUT} layers='top')",
    "coref_lambda_1": f"{COREF} + {INPUT} lambda=1)",
    "coref_token_layer": f"{COREF} + words.none() + {INPUT} layers='token')",
    "coref_base_no_words": f"{COREF} + words.none() + {INPUT})",
    "coref_static_base": f"{COREF} + {STATIC}",
    "coref_no_speakers": f"{COREF} + {INPUT}) + {{ model+: {{ use_speakers: false }} }}",
    "coref_no_genre": f"{COREF} + {INPUT}) + {{ model+: {{ use_genre: false }} }}",
    "coref_may_cross": f"{COREF} + {INPUT}) + {{ model+: {{ may_cross: true }} }}",
    "ner_baseline": NER,
    "ner_base": f"{NER} + {INPUT} lambda=0.1)",
    "ner_top": f"{NER} + {INPUT} lambda=0.1, layers='top')",
    "ner_lambda_1": f"{NER} + {INPUT} lambda=1)",
    "ner_lambda_0.001": f"{NER} + {INPUT} lambda=0.001)",
    "ner_output": f"{NER} + {OUTPUT} lambda=0.1)",
    "ner_both": f"{NER} + {BOTH} lambda=0.1)",
    "ner_token_layer": f"{NER} + words.none() + {INPUT} lambda=0.1, layers='token')",
    "ner_base_no_words": f"{NER} + words.none() + {INPUT} lambda=0.1)",
    "ner_static_base": f"{NER} + {STATIC}",
    "snli_baseline": SNLI,
    "snli_base": f"{SNLI} + {BOTH} {NORM} lambda=0.001)",
    "snli_input": f"{SNLI} + {INPUT} {NORM} lambda=0.001)",
    "snli_output": f"{SNLI} + {OUTPUT} {NORM} lambda=0.001)",
    "snli_top": f"{SNLI} + {BOTH} {NORM} lambda=0.001, layers='top')",
    "snli_lambda_1": f"{SNLI} + {BOTH} {NORM} lambda=1)",
    "snli_token_layer": f"{SNLI} + words.none() + {INPUT} {NORM} lambda=0.001, layers='token')",
    "snli_base_no_words": f"{SNLI} + words.none() + {BOTH} {NORM} lambda=0.001)",
    "snli_static_base": f"{SNLI} + {STATIC}",
    "squad_baseline": SQUAD,
    "squad_base": f"{SQUAD} + {BOTH} lambda=0.001)",
    "squad_input": f"{SQUAD} + {INPUT} lambda=0.001)",
    "squad_output": f"{SQUAD} + {OUTPUT} lambda=0.001)",
    "squad_top": f"{SQUAD} + {BOTH} lambda=0.001, layers='top')",
    "squad_lambda_1": f"{SQUAD} + {BOTH} lambda=1)",
    "squad_token_layer": f"{SQUAD} + words.none() + {INPUT} lambda=0.001, layers='token')",
    "squad_base_no_words": f"{SQUAD} + words.none() + {BOTH} lambda=0.001)",
    "squad_static_base": f"{SQUAD} + {STATIC}",
    "squad_no_self_attention": f"{SQUAD} + {BOTH} lambda=0.001) + {{ model+: "
    "{ self_attention_encoder:: null, self_attention_projection:: null } }",
    "squad_no_moving_average": f"{SQUAD} + {BOTH} lambda=0.001) + "
    "{ trainer+: { moving_average:: null } }",
    "squad_any_length": f"{SQUAD} + {BOTH} lambda=0.001) + {{ model+: {{ max_answer_words: null }} }}",
    "squad_by_paragraph": f"{SQUAD} + {BOTH} lambda=0.001) + "
    "{ data_loader+: { batch_sampler+: { type: 'bucket_by_paragraph' } } }",
    "srl_baseline": SRL,
    "srl_base": f"{SRL} + {INPUT} lambda=0.001)",
    "srl_output": f"{SRL} + {OUTPUT} lambda=0.001)",
    "srl_both": f"{SRL} + {BOTH} lambda=0.001)",
    "srl_top": f"{SRL} + {INPUT} lambda=0.001, layers='top')",
    "srl_lambda_1": f"{SRL} + {INPUT} lambda=1)",
    "srl_token_layer": f"{SRL} + words.none() + {INPUT} lambda=0.001, layers='token')",
    "srl_base_no_words": f"{SRL} + words.none() + {INPUT} lambda=0.001)",
    "srl_static_base": f"{SRL} + {STATIC}",
    "sst_baseline": SST,
    "sst_base": f"{SST} + {BOTH} lambda=0.001)",
    "sst_input": f"{SST} + {INPUT} lambda=0.001)",
    "sst_output": f"{SST} + {OUTPUT} lambda=0.001)",
    "sst_top": f"{SST} + {BOTH} lambda=0.001, layers='top')",
    "sst_lambda_1": f"{SST} + {BOTH} lambda=1)",
    "sst_token_layer": f"{SST} + words.none() + {INPUT} lambda=0.001, layers='token')",
    "sst_base_no_words": f"{SST} + words.none() + {BOTH} lambda=0.001)",
    "sst_static_base": f"{SST} + {STATIC}",
}
for task in BASELINES:
    base = VARIANTS[f"{task}_base"]
    tiny = base.replace("bilm='base'", "bilm='tiny'")
    VARIANTS |= {
        f"{task}_elmo": tiny,
        f"{task}_bfloat16": tiny + " + { trainer+: { callbacks+: [{ type: 'bfloat16' }] } }",
        f"{task}_static_base_elmo": base.replace("; baseline", f"; baseline + {STATIC}"),
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """The values of all expressions, evaluated at once because starting Jsonnet takes a while."""
    fields = (f"'{name}': ({expression})" for name, expression in VARIANTS.items())
    return evaluate(f"{{ {', '.join(fields)} }}")


@pytest.fixture(scope="module")
def variants() -> dict[str, Any]:
    return read_config("experiments/variants.jsonnet")


def test_there_is_every_variant_and_no_two_are_the_same(variants: dict[str, Any]) -> None:
    assert variants.keys() == VARIANTS.keys()
    assert all(variants[a] != variants[b] for a in variants for b in variants if a < b)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_what_its_name_says(
    name: str, variants: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert variants[name] == expected[name]


@pytest.mark.parametrize("name", [f"{task}_{model}" for task in BASELINES for model in ("baseline", "elmo")])
def test_a_variant_with_a_file_of_its_own_is_that_file(name: str, variants: dict[str, Any]) -> None:
    assert variants[name] == read_config(f"experiments/{name}.jsonnet")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_head_has_paper_deviation_scores_and_hardware_and_retypes_no_score(file: Path) -> None:
    head = re.split(r"\n(?!//)", file.read_text(encoding="utf-8"))[0]
    entries = dict(re.findall(r"^// ([A-Z][a-z]+): +(.*(?:\n//  +.*)*)", head, re.MULTILINE))
    assert list(entries)[:4] == ["Paper", "Here", "Expected", "Hardware"]
    if file.parent == EXPERIMENTS:
        (results,) = re.findall(r"docs/results/\w+\.json", entries["Expected"])
        assert file.stem == "variants" or f'"{file.stem}"' in (REPOSITORY / results).read_text()
        assert not re.search(
            r"\d %|\d F1|\d\.\d", entries["Expected"] + entries["Here"].split("a rate of")[0]
        )
