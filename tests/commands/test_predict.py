"""`elmo predict --squad`: the answers to a file of SQuAD, as the official script reads them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.commands.score import score_squad_files
from elmo_plugin.predictions import input_files, resumable
from elmo_plugin.predictions.files import write_predictions
from elmo_plugin.predictions.prediction import TASKS, Prediction
from elmo_plugin.predictions.predictor import TextPredictor
from tests.commands.run import run
from tests.tasks import test_contract
from tests.trained_tagger import train

DATA = test_contract.TestSquad.data


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    train(test_contract.TestSquad.config([]), folder / "run")
    return folder / "run" / "model.tar.gz"


@pytest.mark.slow
def test_every_question_gets_an_answer_that_can_be_scored(archive: Path, tmp_path: Path) -> None:
    output = tmp_path / "answers.json"
    run("predict", archive, "--squad", DATA, "-o", output, "--batch-size", 3)
    assert list(json.loads(output.read_text())) == ["a1", "a2", "a3", "b1"]
    figures = score_squad_files(str(DATA), str(output))
    assert (figures["total"], figures["missing"]) == (4, 0)


def change(folder: Path, change_question: Any) -> Path:
    content = json.loads(DATA.read_text())
    paragraphs = [paragraph for article in content["data"] for paragraph in article["paragraphs"]]
    for paragraph in paragraphs:
        for question in paragraph["qas"]:
            change_question(paragraph, question)
    path = folder / "data.json"
    path.write_text(json.dumps(content))
    return path


def test_unreadable_lines_are_reported_and_skipped(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change_question(paragraph: Any, question: Any) -> None:
        if question["id"] == "a2":
            question["question"] = "why " * 6000
        if question["id"] == "a3":
            question["question"] = " "
        if question["id"] == "b1":
            paragraph["context"] = "(" * 6000 + paragraph["context"]
            del question["answers"]

    data, output = change(tmp_path, change_question), tmp_path / "answers.json"
    run("predict", archive, "--squad", data, "-o", output)
    assert list(json.loads(output.read_text())) == ["a1"]
    said = capsys.readouterr()
    assert f"{output}: 1 answer\n" in said.err
    blank = "left out 1 questions that are blank: item 1 (Ansel), paragraph 2, question a3"
    assert f"{data}: {blank}" in said.err
    assert (
        f"skipped: {data}, item 1 (Ansel), paragraph 1, question a2: a text of 6,000 words"
        in said.err
    )
    assert "question b1: spaCy's rules read" in said.err


def test_no_question_is_skipped_because_of_its_gold_answers(archive: Path, tmp_path: Path) -> None:
    def change_question(paragraph: Any, question: Any) -> None:
        question["answers"] = [{"text": "the", "answer_start": 10_000}, {"text": 7}]

    data, output = change(tmp_path, change_question), tmp_path / "answers.json"
    run("predict", archive, "--squad", data, "-o", output)
    assert len(json.loads(output.read_text())) == 4


def test_an_archive_of_another_task_is_refused(tagger_archives: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected a model of SQuAD"):
        run("predict", tagger_archives[0], "--squad", DATA, "-o", tmp_path / "answers.json")


@pytest.mark.parametrize("command", ["predict", "ensemble"])
def test_only_trusted_archives_run_code(
    command: str, tagger_archives: list[Path], tmp_path: Path
) -> None:
    shutil.copytree(tagger_archives[0].parent, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["dataset_reader"]["type"] = "elmo_plugin.tasks.ner.dataset_reader.Conll2003Reader"
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    arguments = (
        ["a b"] if command == "predict" else [tmp_path / "run", "-o", tmp_path / "both.tar.gz"]
    )
    with pytest.raises(ConfigurationError, match="use --trust"):
        run(command, tmp_path / "run", *arguments)
    run(command, tmp_path / "run", *arguments, "--trust")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["a text", "--squad", "texts.txt"],
            "expected TEXT or --squad FILE, got both",
        ),
        ([], r"expected TEXT \(- for standard input\), or --squad FILE"),
        (
            ["--squad", "texts.txt", "-o", "out.json", "--json", "-"],
            "expected --output or --json, got both",
        ),
        (["--squad", "texts.txt", "--predicates", "srl_predicates"], "--predicates is for TEXT"),
        (["README.md"], "TEXT: file not found: README.md"),
        (["missing.txt"], "TEXT: file not found: missing.txt"),
        (["folder"], "TEXT: folder is a directory"),
        (
            ["texts.txt", "-o", "out.xlsx"],
            r"expected \.jsonl, \.json, \.csv, \.conll, \.html, got out\.xlsx",
        ),
        (["texts.txt", "-o", "out.csv", "--json", "-"], "expected --output or --json, got both"),
        (["--squad", "texts.txt", "-o", "out.csv"], r"expected \.json, got out\.csv"),
        (["--squad", "texts.txt", "-o", "out.HTML"], r"expected \.json, got out\.HTML"),
        (["./missing"], "TEXT: file not found: ./missing"),
        (["missing.pdf"], "TEXT: file not found: missing.pdf"),
        (["texts.txt", "-o", "texts.txt"], "the output texts.txt is also an input"),
    ],
)
def test_unreadable_inputs_and_outputs_are_reported_before_a_model_is_loaded(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("Ada moved.\n")
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("elmo_plugin.predictions.predictor.load_predictor", None)
    with pytest.raises(ConfigurationError, match=message):
        run("predict", "ner", *arguments)
    assert {each.name for each in tmp_path.iterdir()} == {"texts.txt", "folder"}


def test_the_lines_of_a_file_are_predicted_and_written_or_shown(
    tagger_archives: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_bytes("\ufeffAda moved to Lisbon.\r\n\r\n\u200b\r\n  Bob left.\r\n".encode())
    run("predict", tagger_archives[0], texts, "-o", tmp_path / "out.jsonl")
    first, second = map(
        json.loads, (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    )
    assert (first["line"], first["sentence"]) == (1, "Ada moved to Lisbon.")
    assert (second["line"], second["sentence"]) == (4, "  Bob left.")
    assert f"{tmp_path / 'out.jsonl'}: 2 predictions" in capsys.readouterr().err
    run("predict", tagger_archives[0], texts, "-o", "-")
    assert capsys.readouterr().out == (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    run("predict", tagger_archives[0], texts, "--json", "-")
    assert list(map(json.loads, capsys.readouterr().out.splitlines())) == [first, second]
    run("predict", tagger_archives[0], texts)
    lines = capsys.readouterr().out.replace("[", "").splitlines()
    assert any("moved" in line for line in lines) and any("left" in line for line in lines)


def test_a_long_file_is_never_in_memory_as_a_whole(
    tagger_archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each batch, the lines that were read are those of the batch and of earlier ones."""
    texts = tmp_path / "texts.txt"
    texts.write_text("Ada moved to Lisbon.\n" * 20)
    num_read = 0
    num_predicted = 0
    ahead: list[int] = []
    input_of_texts = input_files.input_of_texts
    predict_batch = TextPredictor.predict_batch_json

    def read(*arguments: Any) -> Any:
        nonlocal num_read
        num_read += 1
        return input_of_texts(*arguments)

    def predict(self: TextPredictor, inputs: list[Any]) -> Any:
        nonlocal num_predicted
        ahead.append(num_read - num_predicted)
        num_predicted += len(inputs)
        return predict_batch(self, inputs)

    monkeypatch.setattr(input_files, "input_of_texts", read)
    monkeypatch.setattr(TextPredictor, "predict_batch_json", predict)
    monkeypatch.setattr(resumable, "_CHUNK_INPUTS", 3)
    output = tmp_path / "out.jsonl"
    run("predict", tagger_archives[0], texts, "-o", output, "--batch-size", 3)
    num_counted = 20  # the file is read once before, so that a mistake in it is found at once
    assert ahead == [num_counted + 3] * 6 + [num_counted + 2]
    assert len(output.read_text().splitlines()) == 20


def test_a_mistake_in_a_file_is_found_before_the_first_prediction(
    tagger_archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"sentence": "Ada moved."}\n' * 3 + "{\n")
    monkeypatch.setattr(TextPredictor, "predict_batch_json", None)
    for output in ("out.jsonl", "out.json"):
        with pytest.raises(ConfigurationError, match=r"texts\.jsonl, line 4: not JSON"):
            run("predict", tagger_archives[0], texts, "-o", tmp_path / output, "--batch-size", 1)
        assert not (tmp_path / output).exists()


@pytest.mark.slow
def test_a_file_of_json_is_a_list_of_the_lines_of_jsonl(
    tagger_archives: list[Path], tmp_path: Path
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("Ada moved to Lisbon.\nBob left.\n")
    run("predict", tagger_archives[0], texts, "-o", tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    for option in ("--json", "-o"):
        run("predict", tagger_archives[0], texts, option, tmp_path / "out.json")
        assert json.loads((tmp_path / "out.json").read_text()) == lines


def test_texts_that_a_spreadsheet_would_compute_are_reported_and_kept(
    tagger_archives: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    predictions = [
        Prediction({"words": ["x"], "entities": [entity]}, TASKS["ner"], {"sentence": "x"})
        for entity in (
            {"type": "=cmd|' /C calc'!A0", "start": 0, "end": 1, "text": "@SUM(A1)"},
            {"type": "PER", "start": 0, "end": 1, "text": "-1.5"},
        )
    ]
    write_predictions(predictions, tmp_path / "out.csv")
    assert "@SUM(A1)" in (tmp_path / "out.csv").read_text()
    assert "out.csv: texts that begin with =, +, - or @ are formulas" in caplog.text
    assert "(2 of them): import its columns as text" in caplog.text
