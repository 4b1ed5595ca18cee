"""Trained models of all tasks predict what they do in AllenNLP, in a terminal and in files."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance
from allennlp.data.tokenizers import Token
from allennlp.predictors import Predictor

from elmo_plugin.commands.main import main
from elmo_plugin.common.bundled import trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tabs import task_tabs
from elmo_plugin.predictions.kinds import parts_to_show
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.predictor import load_predictor

INPUTS = {
    "ner": {"sentence": "Ada lives in Rome ."},
    "srl": {"sentence": "She wants to leave .", "predicates": [1]},
    "srl_predicates": {"sentence": "She wants to leave ."},
    "coref": {"document": "Anna waved. She laughed."},
    "squad": {"passage": "Ansel was founded in 1887.", "question": "When was it founded?"},
    "snli": {"premise": "A man sleeps.", "hypothesis": "A man is awake."},
    "sst": {"sentence": "It isn't bad."},
}
pytestmark = pytest.mark.slow


@Predictor.register("test_own_key")
class OwnKey(Predictor):
    """Reads another key than `sentence`."""

    def predict(self, text: str, shout: bool = False) -> Any:
        return self.predict_json({"text": text})

    def _json_to_instance(self, json_dict: dict[str, Any]) -> Instance:
        return self._dataset_reader.text_to_instance(
            [Token(word) for word in json_dict["text"].split()]
        )


def test_a_users_own_predictor_names_its_text() -> None:
    predictor = load_predictor("ner", "test_own_key")
    expected = predictor.predict_json({"text": "Ada left ."})
    assert repr(predictor).endswith(": text>")
    assert predictor.predict("Ada left .") == predictor.predict(text="Ada left .") == expected
    assert predictor.predict(["Ada left .", "Bob ."])[0]["words"] == ["Ada", "left", "."]


@pytest.mark.parametrize("name", trained_models())
def test_a_model_predicts_and_shows_what_allennlp_predicts(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = INPUTS[name]
    predictor = Predictor.from_path(str(trained_models()[name].file))
    expected = predictor.predict_json(inputs)
    loaded = load_predictor(name)
    output = loaded.predict_json(dict(inputs))
    assert loaded.task is TASKS[name] and json.dumps(output) == json.dumps(expected)
    assert parts_to_show(TASKS[name], output, inputs)
    texts = [json.dumps(inputs)] if name == "srl" else [str(text) for text in inputs.values()]
    main(["predict", name, *texts])
    shown = capsys.readouterr().out
    assert shown.strip() and "\x1b" not in shown and not shown.startswith("{")
    main(["predict", name, "--json", "-", *texts])
    shown = json.loads(capsys.readouterr().out)
    assert {key: shown[key] for key in expected} == json.loads(predictor.dump_line(expected))


def test_a_predicate_tagger_serves_semantic_roles_and_has_no_tab() -> None:
    paths = [str(trained_models()[name].file) for name in ("srl_predicates", "srl")]
    (tab,) = task_tabs(paths, 100, trust=False)
    assert tab.slug == "srl" and [each.tagger for each in tab.archives] == paths[:1]
    sentence = {"sentence": "She wants to leave ."}
    predicates = Predictor.from_path(paths[0]).predict_json(sentence)["predicates"]
    assert [frame["index"] for frame in tab.archives[0].predict(sentence)["frames"]] == predicates
    assert load_predictor("srl").predict(sentence) == tab.archives[0].predict(sentence)
    variables: dict[str, dict[str, object]] = {}
    exec(tab.archives[0].python_code(sentence), variables)
    assert variables["prediction"] == tab.archives[0].predict(sentence)


@pytest.mark.parametrize(
    ("path", "predicates", "message"),
    [
        ("srl", "ner", "predicates: ner does not tag predicates"),
        ("ner", "srl_predicates", "predicates: ner does not need predicates"),
    ],
)
def test_an_unsuitable_predicate_tagger_is_refused(
    path: str, predicates: str, message: str
) -> None:
    with pytest.raises(BiLmError, match=f"^{message}$"):
        load_predictor(path, predicates=predicates)


def test_a_tagger_may_be_a_predictor_and_counts_as_a_part_of_the_model() -> None:
    tagger = load_predictor("srl_predicates")
    srl = load_predictor("srl", predicates=tagger)
    sentence = "She wants to leave ."
    assert srl.predict(sentence) == load_predictor("srl").predict(sentence)
    assert srl.models[1:] == tagger.models


def test_predicted_spans_are_read_by_the_scorers(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("Ada said she saw her dog.\nShe wants to leave Rome.\n")
    suffixes = {"ner": ".conll", "srl": ".jsonl", "coref": ".jsonl"}
    for name, suffix in suffixes.items():
        load_predictor(name).predict_file(
            tmp_path / "texts.txt", tmp_path / f"{name}{suffix}", batch_size=1
        )
    tagged = (tmp_path / "ner.conll").read_text().splitlines()
    gold = [f"{line} {line.split(' ')[1]}" if line else "" for line in tagged]
    (tmp_path / "ner.conll").write_text("\n".join(gold))
    for name, suffix in suffixes.items():
        files = [str(tmp_path / f"{name}{suffix}")] * (1 if name == "ner" else 2)
        main(["score", name, *files, "--json", str(tmp_path / "scores.json")])
        assert "100.0" in (tmp_path / "scores.json").read_text()
