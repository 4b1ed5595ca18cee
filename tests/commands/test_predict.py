"""`elmo predict --squad`: the answers to a file of SQuAD, as the official script reads them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.commands.score import score_squad_files
from tests.commands.run import run
from tests.tasks import test_contract
from tests.trained_tagger import train

DATA = test_contract.TestSquad.data


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    train(test_contract.TestSquad.config([]), folder / "run")
    return folder / "run" / "model.tar.gz"


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
    blank = "left out 1 questions that are blank: Ansel, paragraph 2, question a3"
    assert f"{data}: {blank}" in said.err
    assert f"skipped: {data}, Ansel, paragraph 1, question a2: a text of 6,000 words" in said.err
    assert "question b1: spaCy's rules read" in said.err


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
            r"expected \.jsonl, \.csv, \.conll, \.html, got out\.xlsx",
        ),
        (["texts.txt", "-o", "out.csv", "--json", "-"], "expected --output or --json, got both"),
        (["--squad", "texts.txt", "-o", "out.csv"], r"expected \.json, got out\.csv"),
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
