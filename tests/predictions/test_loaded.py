"""Trained models of all tasks are loaded, predict as in AllenNLP, and are shown."""

import json
import re
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from allennlp.predictors import Predictor

from elmo_plugin.commands.main import main
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tab import TABS
from elmo_plugin.demo.task_tab import task_tabs
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.predictions.loaded import load_archives, load_one
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.predictor import load_predictor, task_of
from elmo_plugin.predictions.views import views

INPUTS = {
    "ner": {"sentence": "Ada lives in Rome ."},
    "srl": {"sentence": "She wants to leave .", "predicates": [1]},
    "srl_predicates": {"sentence": "She wants to leave ."},
    "coref": {"document": "Anna waved. She laughed."},
    "squad": {"passage": "Ansel was founded in 1887.", "question": "When was it founded?"},
    "snli": {"premise": "A man sleeps.", "hypothesis": "A man is awake."},
    "sst": {"sentence": "It isn't bad."},
}


@pytest.mark.parametrize("tab", [*TASKS, "bilm"])
def test_each_tab_has_one_sentence_and_three_examples_with_all_fields(tab: str) -> None:
    fields = set(TASKS[tab].fields) if tab in TASKS else {"text"}
    assert re.fullmatch(r"[^.?]+\? [^.?]+\.", TABS[tab]["about"])
    assert len(TABS[tab]["examples"]) == 3
    for example in TABS[tab]["examples"]:
        assert set(example) - {"predicates"} == fields
        assert not any(" ." in text or " ," in text for text in example.values())  # as people write


def test_a_bilm_has_no_predictor() -> None:
    bilm = BiLmLanguageModel.__new__(BiLmLanguageModel)
    with pytest.raises(BiLmError, match=r"archive a\.tar\.gz: .* lacks a predictor; show a biLM by --bilm"):
        task_of(bilm, "a.tar.gz")


@pytest.mark.slow
def test_every_task_is_recognized_and_predicts_what_allennlp_predicts(archives: dict[str, Path]) -> None:
    for name, path in archives.items():
        (loaded,) = load_archives([str(path)])
        inputs = INPUTS[name]
        assert loaded.task is TASKS[name] and loaded.name == name
        expected = Predictor.from_path(str(path)).predict_json(inputs)
        output = loaded.predict(inputs)
        assert json.dumps(output) == json.dumps(expected)
        assert views(name, [output], inputs)[0]


@pytest.mark.slow
def test_one_tagger_finds_the_predicates_for_semantic_roles_and_has_no_tab(archives: dict[str, Path]) -> None:
    if "srl" not in archives:
        pytest.skip("the package has no model of semantic roles")
    paths = [str(archives[name]) for name in ("srl_predicates", "srl")]
    (tab,) = task_tabs(paths, 100)
    assert tab.slug == "srl" and [each.tagger for each in tab.archives] == paths[:1]
    sentence = {"sentence": "She wants to leave ."}
    predicates = Predictor.from_path(paths[0]).predict_json(sentence)["predicates"]
    assert [frame["index"] for frame in tab.archives[0].predict(sentence)["frames"]] == predicates
    variables: dict[str, dict[str, object]] = {}
    exec(tab.archives[0].python(sentence), variables)
    assert variables["prediction"] == tab.archives[0].predict(sentence)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "predicates", "message"),
    [
        ("srl", "ner", "--predicates: ner does not tag predicates"),
        ("srl", "srl", "--predicates: srl does not tag predicates"),
        ("ner", "srl_predicates", "--predicates: ner does not need predicates"),
        ("ner", "sst", "--predicates: ner does not need predicates"),
    ],
)
def test_a_tagger_that_does_not_fit_is_refused(path: str, predicates: str, message: str) -> None:
    with pytest.raises(BiLmError, match=f"^{message}$"):
        load_one(path, predicates, trust=False)


@pytest.mark.slow
def test_a_terminal_shows_each_task_and_json_is_what_allennlp_writes(
    archives: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, path in archives.items():
        inputs = INPUTS[name]
        texts = [json.dumps(inputs)] if name == "srl" else [str(text) for text in inputs.values()]
        main(["predict", str(path), *texts])
        shown = capsys.readouterr().out
        assert shown.strip() and "\x1b" not in shown and not shown.startswith("{")
        main(["predict", str(path), "--json", *texts])
        predictor = Predictor.from_path(str(path))
        assert capsys.readouterr().out == predictor.dump_line(predictor.predict_json(inputs))
    lines = "It isn't bad.\n\n" + json.dumps({"words": ["It", "is", "bad"]}) + "\n"
    stdin = StringIO(lines)
    stdin.buffer = BytesIO(lines.encode())  # type: ignore[misc,assignment]
    monkeypatch.setattr("sys.stdin", stdin)
    main(["predict", str(archives["sst"]), "-"])
    assert capsys.readouterr().out.count("positive") >= 2


@pytest.mark.slow
def test_columns_of_spans_are_read_by_the_scorers(archives: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("Ada said she saw her dog.\nShe wants to leave Rome.\n")
    for name in ("ner", "srl", "coref"):
        load_predictor(name).predict_file(tmp_path / "texts.txt", tmp_path / f"{name}.conll", batch_size=1)
    tagged = (tmp_path / "ner.conll").read_text().splitlines()
    gold = [f"{line} {line.split(' ')[1]}" if line else "" for line in tagged]
    (tmp_path / "ner.conll").write_text("\n".join(gold))
    for name in ("ner", "srl", "coref"):
        files = [str(tmp_path / f"{name}.conll")] * (1 if name == "ner" else 2)
        main(["score", name, *files, "--json", str(tmp_path / "scores.json")])
        assert "100.0" in (tmp_path / "scores.json").read_text()
