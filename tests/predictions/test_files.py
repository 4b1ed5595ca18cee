"""Predictions to files."""

import csv
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import visible
from elmo_plugin.predictions import FORMATS, files
from elmo_plugin.predictions.files import check_format, write_predictions
from elmo_plugin.predictions.prediction import TASKS, Prediction
from tests.predictions.stubs import PASSAGE, SNLI, SQUAD, SRL, coref_output, ner_output


def test_keys_of_the_input_are_not_mistaken_for_the_prediction(tmp_path: Path) -> None:
    given = {"sentence1": "A", "sentence2": "B", "label": "entailment", "pairID": "7"}
    prediction = Prediction(SNLI, TASKS["snli"], given)
    assert prediction.texts_beside(prediction.parts()) == {"premise": "A", "hypothesis": "B"}
    write_predictions([prediction], tmp_path / "out.csv")
    write_predictions([prediction], tmp_path / "out.jsonl")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        header, row = csv.reader(file)
    assert header[:4] == ["line", "premise", "hypothesis", "label"] and len({*header}) == len(
        header
    )
    assert row[1:4] == ["A", "B", "neutral"]
    written = json.loads((tmp_path / "out.jsonl").read_text())
    assert (written["label"], written["input_label"], written["pairID"]) == (
        "neutral",
        "entailment",
        "7",
    )


def test_no_key_of_the_input_replaces_another(tmp_path: Path) -> None:
    given = {"premise": "A", "label": "x", "input_label": 5, "line": 7, "input_line": 8}
    write_predictions([Prediction(SNLI, TASKS["snli"], given)], tmp_path / "out.jsonl")
    written = json.loads((tmp_path / "out.jsonl").read_text())
    assert (
        written.items()
        >= {
            "line": 1,
            "label": "neutral",
            "input_label": 5,
            "input_input_label": "x",
            "input_line": 8,
            "input_input_line": 7,
        }.items()
    )


def predictions(task: str, *outputs: Any, **inputs: Any) -> list[Prediction]:
    return [Prediction(output, TASKS[task], inputs) for output in outputs]


ENTITIES = ner_output("Ada lives", (0, 1, 'P"<E>,R'))
ENTITIES["entities"][0] |= {"start_char": 0, "end_char": 3, "probability": 0.5}


@pytest.mark.parametrize(
    ("task", "output", "inputs", "rows"),
    [
        (
            "ner",
            ENTITIES,
            {},
            [("text", "Ada"), ("type", 'P"<E>,R'), ("start_char", "0"), ("end_char", "3")],
        ),
        (
            "srl",
            SRL,
            {},
            [("predicate", "wants"), ("role", "ARG0"), ("text", "She"), ("start_word", "0")],
        ),
        (
            "coref",
            coref_output("Ada saw", ["Ada"]),
            {},
            [("cluster", "1"), ("text", "Ada"), ("end_char", "3")],
        ),
        (
            "squad",
            SQUAD,
            {"passage": PASSAGE},
            [("passage", PASSAGE), ("answer", "1887"), ("start_char", "21")],
        ),
        (
            "snli",
            SNLI,
            {"premise": "a\n,b"},
            [("premise", "a\n,b"), ("label", "neutral"), ("neutral", "0.5")],
        ),
        (
            "srl_predicates",
            {"words": ["a", "b"], "predicates": [1]},
            {},
            [("predicate", "b"), ("index", "1")],
        ),
        ("ner", {"words": ["a"], "tags": ["DT"]}, {}, [("word", "a"), ("tag", "DT")]),
    ],
)
def test_a_table_contains_a_row_for_each_finding(
    task: str, output: Any, inputs: Any, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert write_predictions(predictions(task, output, **inputs), tmp_path / "out.csv") == 1
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert {**dict(rows), "line": "1"}.items() <= first.items()


def test_every_row_of_a_table_contains_its_texts_whatever_their_keys(tmp_path: Path) -> None:
    inputs = [
        {"context": PASSAGE, "question": "When?"},
        {"passage": "Bob left.", "question": "Who?"},
    ]
    found = [Prediction(SQUAD, TASKS["squad"], each) for each in inputs]
    write_predictions(found, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        assert [row["passage"] for row in csv.DictReader(file)] == [PASSAGE, "Bob left."]
    inputs = [{"words": ["Good", "film"]}, {"sentence": "Bad film"}]  # type: ignore[dict-item]
    write_predictions(
        [Prediction(SNLI, TASKS["sst"], each) for each in inputs], tmp_path / "out.csv"
    )
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        assert [row["sentence"] for row in csv.DictReader(file)] == ["Good film", "Bad film"]


def test_labels_that_are_called_like_columns_hide_none_of_them(tmp_path: Path) -> None:
    shares = {"line": 0.4, "sentence": 0.3, "label": 0.2, "probability": 0.06, "good": 0.04}
    output = {"label": "line", "probabilities": shares}
    found = predictions("sst", output, sentence="Draw here.")
    write_predictions(found, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row == {
        "line": "1",
        "sentence": "Draw here.",
        "label": "line",
        "probability": "0.4",
        "label_line": "0.4",
        "label_sentence": "0.3",
        "label_label": "0.2",
        "label_probability": "0.06",
        "good": "0.04",
    }


def test_the_warning_of_formulas_names_the_table(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_predictions(predictions("sst", SNLI, sentence="=1+1"), tmp_path / "OUT.CSV")
    assert caplog.messages[0].startswith("OUT.CSV: ")


def test_inputs_are_numbered_by_their_line_in_the_file(tmp_path: Path) -> None:
    (prediction,) = predictions("sst", SNLI, sentence="a", line="77")
    prediction.line = 3
    write_predictions([prediction], tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text())["line"] == 3


@pytest.mark.parametrize(("given", "kept"), [("77", {"input_line": "77"}), (3, {})])
def test_a_line_number_in_the_input_is_kept_beside_the_number_of_its_line(
    tmp_path: Path, given: object, kept: dict[str, object]
) -> None:
    (prediction,) = predictions("sst", SNLI, sentence="a", line=given)
    prediction.line = 3
    write_predictions([prediction], tmp_path / "out.jsonl")
    written = json.loads((tmp_path / "out.jsonl").read_text())
    assert next(iter(written.items())) == ("line", 3)
    assert {key: written[key] for key in written if key.startswith("input_")} == kept


def read_page(page: str) -> tuple[set[str], str]:
    """Returns the tags and the text of a page."""
    reader, tags, texts = HTMLParser(), set[str](), list[str]()
    reader.handle_starttag = lambda tag, _: tags.add(tag)  # type: ignore[method-assign]
    reader.handle_data = texts.append  # type: ignore[method-assign]
    reader.feed(page)
    return tags, "".join(texts)


HOSTILE = "<script>x</script> & \"'><img>"


@pytest.mark.parametrize(
    ("task", "output", "inputs"),
    [
        ("ner", ner_output(f"{HOSTILE} lives", (0, 1, HOSTILE)), {}),
        (
            "squad",
            SQUAD | {"characters": [0, 8], "answer": HOSTILE},
            {"passage": HOSTILE, "question": HOSTILE},
        ),
        ("snli", {"label": HOSTILE, "probabilities": {HOSTILE: 1.0}}, {"premise": HOSTILE}),
        ("sst", {HOSTILE: HOSTILE}, {"sentence": HOSTILE}),
    ],
)
def test_texts_and_labels_on_a_page_are_escaped(
    task: str, output: Any, inputs: Any, tmp_path: Path
) -> None:
    write_predictions(predictions(task, output, **inputs), tmp_path / f"{task}.html")
    tags, text = read_page((tmp_path / f"{task}.html").read_text(encoding="utf-8"))
    assert not tags & {"script", "img"} and "<script>x" in text


CONTROLLING = "a\x1b[2J\x9b1mb\u202ec"
SHOWN = r"a\x1b[2J\x9b1mb\u202ec"


def test_a_page_and_columns_cannot_control_a_terminal(tmp_path: Path) -> None:
    class Lines:
        def format_lines(self, output: Any) -> list[str]:
            return [f"{output['words'][0]}\u2028B-PER O\tO"]

    found = predictions("ner", ner_output(CONTROLLING, (0, 1, CONTROLLING)))
    for suffix in (".html", ".conll"):
        path = tmp_path / f"out{suffix}"
        write_predictions(found, path, Lines())  # type: ignore[arg-type]
        text = path.read_text(encoding="utf-8")
        assert SHOWN in text and text == visible(text)
    assert (tmp_path / "out.conll").read_text() == f"{SHOWN}\\u2028B-PER O\tO\n"


def test_nested_mentions_become_nested_marks() -> None:
    (prediction,) = predictions(
        "coref", coref_output("her old dog, slept", ["her old dog"], ["her"])
    )
    assert read_page(prediction._repr_html_())[1].split() == [
        "her",
        "2",
        "old",
        "dog",
        "1,",
        "slept",
    ]


def test_every_output_format_can_be_written() -> None:
    assert tuple(files._WRITERS) == FORMATS


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_is_written_completely_or_not_at_all(suffix: str, tmp_path: Path) -> None:
    def failing() -> Any:
        yield from predictions("ner", ENTITIES)
        raise BiLmError("the second text")

    class Lines:
        def format_lines(self, output: Any) -> list[str]:
            return ["Ada B-PER"]

    with pytest.raises(BiLmError, match="the second text"):
        write_predictions(failing(), tmp_path / f"out{suffix}", Lines())  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_only_entities_have_columns() -> None:
    with pytest.raises(
        BiLmError,
        match=r"a\.conll: sentiment has no \.conll; expected \.jsonl, \.json, \.csv or \.html",
    ):
        check_format("a.conll", TASKS["sst"])
    with pytest.raises(BiLmError, match=r"expected \.jsonl, .*, got a\.txt"):
        check_format("a.txt", TASKS["ner"])


def test_a_suffix_may_be_in_capitals() -> None:
    check_format("A.CSV", TASKS["sst"])


def test_no_predictions_are_an_empty_list_of_json(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    assert write_predictions([], path) == 0
    assert json.loads(path.read_text()) == []
