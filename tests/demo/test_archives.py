"""Which task an archive is of, what it is called, and that trained models of all tasks can be read."""

import json
from io import StringIO
from pathlib import Path

import pytest
from allennlp.predictors import Predictor

from elmo_plugin.commands.main import main
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo import TaskTab, load_archives, make_tabs
from elmo_plugin.demo.archives import names, task_of
from elmo_plugin.demo.page import make_report
from elmo_plugin.demo.tasks import TASKS, examples
from elmo_plugin.language_model import BiLmLanguageModel
from tests.demo.archives import INPUTS
from tests.demo.test_pages import Reader


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["runs/ner/model.tar.gz"], ["ner"]),
        (["runs/ner"], ["ner"]),
        (["runs/ner/1/model.tar.gz", "runs/sst/1/model.tar.gz"], ["ner/1", "sst/1"]),
        (["a/ner/model.tar.gz", "b/ner/model.tar.gz"], ["a/ner", "b/ner"]),
        (["runs/best.tar.gz", "runs/ner/model.tar.gz"], ["best.tar.gz", "ner"]),
        (["ner/model.tar.gz", "ner/model.tar.gz"], ["ner", "ner"]),
        (["/model.tar.gz"], ["model.tar.gz"]),
        ([], []),
    ],
)
def test_archives_are_called_by_what_tells_them_apart(paths: list[str], expected: list[str]) -> None:
    assert names(paths) == expected


@pytest.mark.parametrize("task", [*TASKS, "bilm"])
def test_each_tab_has_examples_with_all_fields_and_a_source(task: str) -> None:
    fields = {field.name for field in TASKS[task].fields} if task in TASKS else {"text"}
    assert len(examples(task)) >= 2
    for example in examples(task):
        assert fields | {"source"} <= set(example) <= fields | {"source", "predicates"}


def test_an_archive_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^elmo predict: .*nothing\.tar\.gz"):
        main(["predict", str(tmp_path / "nothing.tar.gz"), "text"])


def test_a_bilm_is_shown_otherwise() -> None:
    bilm = BiLmLanguageModel.__new__(BiLmLanguageModel)
    with pytest.raises(BiLmError, match=r"archive a\.tar\.gz: .* has no predictor; show a biLM by --bilm"):
        task_of(bilm, "a.tar.gz")


@pytest.mark.slow
def test_every_task_is_found_and_predicts_what_allennlp_predicts(archives: dict[str, Path]) -> None:
    """The sources of these archives are deleted."""
    for name, path in archives.items():
        (loaded,) = load_archives([str(path)])
        task = name.removesuffix("_elmo").removesuffix("_baseline")
        inputs = INPUTS[task]
        assert loaded.task is TASKS[task]
        expected = Predictor.from_path(str(path)).predict_json(inputs)
        output = loaded.predict(inputs)
        assert json.dumps(output) == json.dumps(expected)
        assert loaded.view(output, inputs)
        assert bool(loaded.mixes) == (not name.endswith("baseline"))


@pytest.mark.slow
def test_an_ensemble_is_shown_as_its_task(archives: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    main(["ensemble", *[str(archives["sst_elmo"])] * 2, "-o", str(tmp_path / "two" / "model.tar.gz")])
    (loaded,) = load_archives([str(tmp_path / "two" / "model.tar.gz")])
    assert loaded.task.name == "sst" and len(loaded.mixes) == 2
    assert loaded.view(loaded.predict(INPUTS["sst"]), INPUTS["sst"])


@pytest.mark.slow
def test_a_tagger_finds_the_predicates_and_has_no_tab(archives: dict[str, Path]) -> None:
    loaded = load_archives([str(archives[name]) for name in ("srl_predicates", "srl_elmo")])
    (tab,) = make_tabs(loaded)
    assert tab.slug == "srl" and loaded[0].tagger == str(archives["srl_predicates"])
    tagger = Predictor.from_path(str(archives["srl_predicates"]))
    found = tagger.predict_json({"sentence": "She wants to leave ."})["predicates"]
    frames = loaded[0].predict({"sentence": "She wants to leave ."})["frames"]
    assert [frame["index"] for frame in frames] == found


@pytest.mark.slow
def test_models_of_semantic_roles_share_one_tagger(
    archives: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the tagger is loaded again")

    monkeypatch.setattr(Predictor, "from_path", refuse)
    roles = str(archives["srl_elmo"])
    loaded = load_archives([roles, str(archives["srl_predicates"]), roles])
    sentence = {"sentence": "She wants to leave ."}
    assert [each.task.name for each in loaded] == ["srl", "srl"]
    assert loaded[0].predict(sentence) == loaded[1].predict(sentence)


@pytest.mark.slow
def test_the_lines_of_python_give_the_same(archives: dict[str, Path]) -> None:
    (loaded,) = load_archives([str(archives["snli_elmo"])])
    variables: dict[str, dict[str, object]] = {}
    exec(loaded.python(INPUTS["snli"]), variables)
    assert variables["prediction"] == loaded.predict(INPUTS["snli"])


@pytest.mark.slow
def test_a_terminal_shows_each_task_and_json_is_what_allennlp_writes(
    archives: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, path in archives.items():
        inputs = INPUTS[name.removesuffix("_elmo").removesuffix("_baseline")]
        texts = [json.dumps(inputs)] if name == "srl_elmo" else [str(text) for text in inputs.values()]
        main(["predict", str(path), *texts])
        shown = capsys.readouterr().out
        assert shown.strip() and "\x1b" not in shown and not shown.startswith("{")
        main(["predict", str(path), "--json", *texts])
        predictor = Predictor.from_path(str(path))
        assert capsys.readouterr().out == predictor.dump_line(predictor.predict_json(inputs))
    lines = "It isn't bad.\n\n" + json.dumps({"words": ["It", "is", "bad"]}) + "\n"
    stdin = StringIO(lines)
    stdin.buffer = lines.encode().splitlines(keepends=True)  # type: ignore[misc,assignment]
    monkeypatch.setattr("sys.stdin", stdin)
    main(["predict", str(archives["sst_elmo"]), "-"])
    assert capsys.readouterr().out.count("very positive") >= 2


@pytest.mark.slow
def test_predictions_that_cannot_be_made_are_one_sentence(archives: dict[str, Path]) -> None:
    cases = {
        ("srl_elmo", "She wants to leave ."): "say which words are predicates",
        ("squad_elmo", "only a passage"): "takes passage and question: expected 2, not 1 texts",
        ("ner_elmo", "{not json"): "TEXT: begins with a brace, but is not JSON",
        ("ner_elmo", " "): "there are no words",
        ("sst_elmo", '{"text": "x"}'): 'expected "words" or "tokens" or "sentence"',
    }
    for (name, text), message in cases.items():
        with pytest.raises(SystemExit, match=rf"^elmo predict: .*{message}"):
            main(["predict", str(archives[name]), text])


@pytest.mark.slow
def test_a_report_has_every_input_for_the_archives_that_read_it_and_loads_nothing(
    archives: dict[str, Path], tmp_path: Path
) -> None:
    lines = [{"sentence": "Ada <b>lives</b> ."}, INPUTS["snli"], "It rains"]
    source, output = tmp_path / "inputs.jsonl", tmp_path / "report.html"
    source.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines))
    chosen = [str(archives[name]) for name in ("ner_baseline", "ner_elmo", "sst_elmo", "snli_elmo")]
    main(["demo", *chosen, "--export", str(output), "--input", str(source)])
    page = output.read_text()
    assert page.count("<article") == 2 * 2 + 2 + 1
    tags = Reader(page).tags
    assert "b" not in tags and "link" not in tags and "http" not in page.replace("http-equiv", "")
    source.write_text('\n{"question": "Who?"}\n')
    with pytest.raises(SystemExit, match=r"inputs\.jsonl, line 2: no archive reads this input"):
        main(["demo", *chosen[:1], "--export", str(output), "--input", str(source)])
    assert output.read_text() == page


def test_a_report_without_inputs_is_an_error() -> None:
    with pytest.raises(BiLmError, match="there is no input in this file"):
        make_report([tab for tab in make_tabs([]) if isinstance(tab, TaskTab)], [])
