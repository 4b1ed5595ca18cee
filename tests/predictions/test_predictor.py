"""Texts, words and lists of either to predictions."""

import copy
import json
import logging
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.predictions.inputs import Input
from elmo_plugin.predictions.prediction import TASKS, Prediction
from elmo_plugin.predictions.predictor import TextPredictor, load_predictor, task_of
from tests.predictions.stubs import PASSAGE, SNLI, SQUAD, SRL, coref_output, ner_output

QUESTION = "When was it founded?"


class Echo:
    """Stands for AllenNLP's predictor; its output is its input."""

    extra = "of AllenNLP"

    def __init__(self, model: nn.Module | None = None) -> None:
        self._model = model or nn.Identity()
        self.batches: list[list[str]] = []  # the sentences that were computed together

    def predict_json(self, inputs: dict[str, Any]) -> dict[str, Any]:
        if "bad" in str(inputs):
            raise BiLmError("bad text")
        return dict(inputs)

    def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self.batches.append([given.get("sentence", "") for given in inputs])
        return [self.predict_json(given) for given in inputs]


def predictor(task: str) -> TextPredictor:
    return TextPredictor(Echo(), TASKS[task])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "arguments", "expected"),
    [
        ("ner", ["Ada moved."], {"sentence": "Ada moved."}),
        ("ner", [["Ada", "moved", "."]], {"words": ["Ada", "moved", "."]}),
        ("ner", [("Ada", "moved")], {"words": ["Ada", "moved"]}),
        ("ner", [["Ada moved.", "Bob"]], [{"sentence": "Ada moved."}, {"sentence": "Bob"}]),
        (
            "ner",
            [[["Ada", "moved"], "Bob left."]],
            [{"words": ["Ada", "moved"]}, {"sentence": "Bob left."}],
        ),
        ("ner", [iter(["Ada", "Bob"])], [{"sentence": "Ada"}, {"sentence": "Bob"}]),
        ("ner", [[]], []),
        ("ner", [{"words": ["Ada"]}], {"words": ["Ada"]}),
        ("coref", [["Ada", "moved"]], {"sentences": [["Ada", "moved"]]}),
        ("squad", [PASSAGE, QUESTION], {"passage": PASSAGE, "question": QUESTION}),
        ("squad", [QUESTION, PASSAGE], {"passage": PASSAGE, "question": QUESTION}),
        ("squad", ["Why?", "When?"], {"passage": "Why?", "question": "When?"}),
        (
            "squad",
            ["Bob left. Why?", "who left"],
            {"passage": "Bob left. Why?", "question": "who left"},
        ),
        ("snli", [[("A?", "B")]], [{"premise": "A?", "hypothesis": "B"}]),
    ],
)
def test_predict_accepts_a_text_words_or_a_list_of_either(
    task: str, arguments: list[Any], expected: Any
) -> None:
    assert predictor(task).predict(*arguments) == expected


def test_texts_of_about_the_same_length_share_a_batch_and_keep_their_order() -> None:
    sentences = ["a" * 30, "b", "c" * 29, "d" * 2]
    echo = Echo()
    ner = TextPredictor(echo, TASKS["ner"])  # type: ignore[arg-type]
    inputs = [Input("here", {"sentence": sentence}) for sentence in sentences]
    predictions = list(ner.predict_each(inputs, batch_size=2))
    assert [prediction["sentence"] for prediction in predictions] == sentences
    assert echo.batches == [["b", "d" * 2], ["a" * 30, "c" * 29]]


def test_a_model_with_a_state_reads_texts_in_their_order() -> None:
    model = nn.Sequential(nn.Identity())
    model[0].stateful = True
    echo = Echo(model)
    ner = TextPredictor(echo, TASKS["ner"])  # type: ignore[arg-type]
    inputs = [Input("here", {"sentence": sentence}) for sentence in ("long one", "a", "longer one")]
    list(ner.predict_each(inputs, batch_size=2))
    assert echo.batches == [["long one", "a"], ["longer one"]]


def test_batches_of_one_are_read_one_at_a_time() -> None:
    inputs = iter([Input("here", {"sentence": sentence}) for sentence in ("first", "second")])
    predictions = predictor("ner").predict_each(inputs, batch_size=1)
    assert next(predictions)["sentence"] == "first"
    assert next(inputs).values == {"sentence": "second"}


def test_names_of_other_libraries_say_what_to_write() -> None:
    assert predictor("ner").extra == "of AllenNLP"
    with pytest.raises(AttributeError, match=r"'predict_proba'; write .*\"probabilities\""):
        predictor("ner").predict_proba(["Ada"])
    with pytest.raises(BiLmError, match="predict_file takes a batch_size"):
        predictor("ner").predict("Ada", batch_size=8)


def test_texts_may_be_given_by_name() -> None:
    expected = {"passage": PASSAGE, "question": QUESTION}
    squad = predictor("squad")
    assert squad.predict(question=QUESTION, passage=PASSAGE) == squad.predict(
        PASSAGE, question=QUESTION
    )
    assert squad.predict(context=PASSAGE, question=QUESTION) == expected
    with pytest.raises(BiLmError, match="expected passage and question, got title"):
        squad.predict(title=PASSAGE)


@pytest.mark.parametrize(
    ("task", "arguments", "message"),
    [
        (
            "ner",
            [None],
            "expected a text, a list of words, or a list or column of either, got None",
        ),
        ("ner", [["Ada moved.", 3]], r"texts\[1\]: expected a text or a list of words, got 3"),
        ("ner", [["good one", "bad one"]], r"^texts\[1\]: bad text"),
        ("ner", ["a", "b"], "Named entities: expected sentence, got 2 texts"),
        ("ner", [["a"], ["b"]], "expected sentence, or one list of inputs"),
        ("squad", [PASSAGE], "Question answering: expected passage and question, got 1 text$"),
        ("snli", [["a"], ["b", "c"]], "expected premise and hypothesis, or one list of inputs"),
        ("snli", [["a b", "c d"]], r"texts\[0\]: expected premise and hypothesis, got 1 text"),
    ],
)
def test_wrong_inputs_of_predict_are_named(task: str, arguments: list[Any], message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        predictor(task).predict(*arguments)


@pytest.mark.parametrize("batch_size", [0, -1, 2.5])
def test_an_invalid_batch_size_keeps_the_existing_file(batch_size: Any, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Ada moved.\n")
    (tmp_path / "out.jsonl").write_text("kept")
    with pytest.raises(BiLmError, match="batch_size: expected"):
        predictor("ner").predict_file(tmp_path / "in.txt", tmp_path / "out.jsonl", batch_size)
    assert (tmp_path / "out.jsonl").read_text() == "kept"


def test_exchanging_question_and_passage_is_reported_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "elmo_plugin"):
        predictor("squad").predict(PASSAGE, QUESTION)
        predictor("squad").predict(
            "Who moved? It was Anna, her sister?", "Give the name of the person who moved."
        )
        assert caplog.messages == []
        predictor("squad").predict(QUESTION, PASSAGE)
    assert caplog.messages == ["the first text is the question, so the two are exchanged"]


def test_a_bilm_has_no_predictor() -> None:
    bilm = BiLmLanguageModel.__new__(BiLmLanguageModel)
    with pytest.raises(
        BiLmError, match=r"archive a\.tar\.gz: .* has no predictor; show a biLM by --bilm"
    ):
        task_of(bilm, "a.tar.gz")


def test_other_attributes_are_passed_on_to_allennlps_predictor() -> None:
    assert predictor("ner").extra == "of AllenNLP"
    with pytest.raises(AttributeError):
        predictor("ner").nothing  # noqa: B018


@pytest.mark.parametrize(
    ("task", "output", "inputs", "shown"),
    [
        (
            "ner",
            ner_output("Ada lives", (0, 1, "PER")),
            {},
            "<ner: [Ada]PER lives; words, tags, entities>",
        ),
        (
            "srl",
            SRL,
            {},
            "<srl: wants [She]ARG0 [wants]V [to leave]ARG1 / leave [She]ARG0 wants to [leave]V",
        ),
        (
            "squad",
            SQUAD,
            {"passage": PASSAGE},
            "<squad: Ansel was founded in [1887]answer. / 1887 75.0 %",
        ),
        ("snli", SNLI, {}, "<snli: neutral 50.0 %; label, probabilities>"),
        ("sst", {"label": "good", "probabilities": {}}, {}, "<sst: good; label, probabilities>"),
        ("coref", coref_output("Ada saw", ["Ada"]), {}, "<coref: [Ada]1 saw; sentences, clusters>"),
        ("other", {"found": list(range(10_000))}, {}, "<other: found: [0, 1, 2"),
        ("ner", ner_output("Ada " * 5_000, (4_000, 4_001, "PER")), {}, "<ner: Ada Ada"),
    ],
)
def test_the_repr_of_a_prediction_is_short(task: str, output: Any, inputs: Any, shown: str) -> None:
    text = repr(Prediction(output, TASKS.get(task, replace(TASKS["ner"], name=task)), inputs))
    assert text.startswith(shown) and len(text) < 500 and "\n" not in text


def test_a_prediction_is_a_dictionary_that_names_its_keys() -> None:
    prediction = Prediction(SNLI, TASKS["snli"], {})
    assert (
        prediction
        == SNLI
        == json.loads(json.dumps(prediction))
        == pickle.loads(pickle.dumps(prediction))
    )
    with pytest.raises(KeyError, match="'entities': this prediction has label, probabilities"):
        prediction["entities"]


def test_the_old_names_of_places_are_refused_with_the_new_ones() -> None:
    entity = {"type": "PER", "text": "Ada", "start_word": 0, "end_word": 1, "start_char": 0}
    mention = {"text": "Ada", "start_word": 0, "end_word": 1, "characters": [0, 3]}
    output = {"entities": [entity], "clusters": [[mention]], "words": ["Ada"]}
    prediction = Prediction(output, TASKS["ner"], {"sentence": "Ada"})
    assert prediction == output
    with pytest.raises(KeyError, match="start_word and end_word, characters by start_char"):
        prediction["entities"][0]["start"]
    with pytest.raises(KeyError, match="start_word and end_word, characters by characters"):
        prediction["clusters"][0][0]["end"]
    with pytest.raises(KeyError, match="there are type, text, start_word"):
        prediction["entities"][0]["score"]
    assert json.loads(json.dumps(prediction)) == output


@pytest.mark.parametrize(
    ("name", "advice"),
    [("to_json", "write json.dumps(prediction)"), ("ents", 'write prediction["entities"]')],
)
def test_other_names_of_a_prediction_lead_to_ours(name: str, advice: str) -> None:
    prediction = Prediction({"entities": []}, TASKS["ner"], {"sentence": "Ada"})
    with pytest.raises(AttributeError) as raised:
        getattr(prediction, name)
    assert advice in str(raised.value)
    assert copy.deepcopy(prediction) == prediction


def test_a_text_in_the_place_of_a_predictors_name_is_recognized() -> None:
    with pytest.raises(BiLmError, match=r"write load_predictor\('ner'\)\.predict\(text\)"):
        load_predictor("ner", "Ada moved to Lisbon.")


class PredictorWithoutModel:
    """Predicts the number of an input in all inputs so far, as a predictor with a state does."""

    count = 0

    def predict_batch_json(self, inputs: list[dict[str, str]]) -> list[dict[str, str]]:
        outputs = []
        for _ in inputs:
            outputs.append({"label": str(self.count)})
            self.count += 1
        return outputs


def test_a_predictor_without_a_model_predicts_in_the_order_of_the_inputs() -> None:
    predictor = TextPredictor(PredictorWithoutModel(), TASKS["sst"])  # type: ignore[arg-type]
    texts = ["a longer text", "short"] * 20
    labels = [prediction["label"] for prediction in predictor.predict(texts)]
    assert labels == [str(number) for number in range(40)]
