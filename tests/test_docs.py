"""The figures, files and links in the documents are right."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.documents import DOCUMENTS, REPOSITORY


def update_readme() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "docs" / "update_readme.py"))


def made_of(folder: Path, results: dict[str, Any], document: str) -> list[str]:
    """Returns the lines of a document filled from these results, given by file name."""
    (folder / "docs" / "results").mkdir(parents=True)
    for name, content in results.items():
        (folder / "docs" / "results" / f"{name}.json").write_text(json.dumps(content))
    functions = update_readme()
    functions["table"].__globals__["REPOSITORY"] = folder
    return functions["updated"](document).splitlines()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_tables_hold_the_figures_of_the_results(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert update_readme()["updated"](text) == text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_all_scores_of_a_table_were_measured_at_one_commit(document: Path) -> None:
    for heading, commits in update_readme()["commits_of"](document.read_text(encoding="utf-8")):
        assert len(set(commits.values())) == 1, f"{heading} has scores of several commits: {commits}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_its_commands_name_no_path_outside_the_repository(document: Path) -> None:
    for line in document.read_text(encoding="utf-8").splitlines():
        assert not (line.startswith("    ") and "../" in line), line


def test_each_command_has_a_page_with_what_its_help_shows() -> None:
    program = runpy.run_path(str(REPOSITORY / "docs" / "update_commands.py"))
    written = {path.name: path.read_text(encoding="utf-8") for path in program["FOLDER"].iterdir()}
    assert written == program["pages"]()
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert [name for name in written if f"commands/{name}" not in navigation] == []
    assert "| `--seeds N` | train with the seeds 1 to N |" in written["sweep.md"]


def test_the_readme_has_results() -> None:
    assert "<!-- examples:examples" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_a_table_has_the_mean_and_deviation_of_each_model_and_each_training_once(tmp_path: Path) -> None:
    results = {
        "snli_baseline": {
            "scores": [60.0, 61.0, 65.0],
            "command": "allennlp elmo-sweep one --file-friendly-logging --json a/b.json",
        },
        "snli_elmo": {"scores": [70.25], "command": "allennlp elmo-sweep two"},
        "snli_top": {"scores": [1.0, 3.0], "command": "allennlp elmo-sweep one"},
    }
    document = "before\n\n<!-- results:snli_all -->\nold\n<!-- end -->\n\nafter"
    assert made_of(tmp_path, {"snli_all": results}, document) == [
        "before",
        "",
        "<!-- results:snli_all -->",
        "| model | dev accuracy (%), mean ± sd |",
        "| --- | --- |",
        "| baseline | 62.0 ± 2.6 |",
        "| elmo | 70.2 |",
        "| top | 2.0 ± 1.4 |",
        "",
        "    allennlp elmo-sweep one",
        "    allennlp elmo-sweep two",
        "",
        "<!-- end -->",
        "",
        "after",
    ]


def test_results_that_are_older_than_the_code_are_named(tmp_path: Path) -> None:
    commits = {"ner": "aaa", "srl": "bbb", "sst": "bbb-changed", "snli": ""}
    results = {
        task: {f"{task}_elmo": {"scores": [1.0], "command": "", "commit": commit}}
        for task, commit in commits.items()
    }
    made_of(tmp_path, results, "")
    program = update_readme()
    names = program["outdated"].__globals__
    names["REPOSITORY"], names["changes_since"] = tmp_path, lambda commit: commit != "bbb"
    document = "<!-- results:ner srl sst snli -->\n<!-- end -->"
    expected = {f"{task}/{task}_elmo": commit for task, commit in commits.items()}
    assert program["commits_of"](document) == [("results:ner srl sst snli", expected)]
    assert program["outdated"](document) == [
        "results:ner srl sst snli: no commit is known of snli",
        "results:ner srl sst snli: the code has changed since aaa, which measured ner",
        "results:ner srl sst snli: the code has changed since bbb-changed, which measured sst",
    ]


def test_a_change_of_comments_and_docstrings_is_no_change_of_the_code() -> None:
    without_comments = update_readme()["without_comments"]
    code = '"""Doubles."""\n\ndef double(x):\n    """Doubles."""\n    return 2 * x  # exact\n'
    plain = without_comments("def double(x):\n    return 2 * x", "a.py")
    assert without_comments(code, "a.py") == plain
    assert without_comments(code.replace("2 *", "3 *"), "a.py") != plain
    assert without_comments("// what it is\n{ a: 1 }", "a.jsonnet") == "{ a: 1 }"


def test_examples_of_all_tasks_are_in_one_table(tmp_path: Path) -> None:
    results = {
        f"{task}_{model}": {"scores": [score], "command": ""}
        for task, scores in (("sst", (1.0, 2.0)), ("ner", (3.0, 4.0)))
        for model, score in zip(("elmo", "baseline"), scores, strict=True)
    }
    document = "<!-- examples:examples -->\n<!-- end -->"
    assert made_of(tmp_path, {"examples": results}, document)[3:5] == [
        "| named entities | F1 | 4.0 | 3.0 |",
        "| sentiment | accuracy | 2.0 | 1.0 |",
    ]


def test_a_model_that_was_not_measured_for_a_task_leaves_its_cell_empty(tmp_path: Path) -> None:
    names = ["ner_baseline", "ner_base_no_words", "snli_base_no_words"]
    results = {name: {"scores": [number], "command": ""} for number, name in enumerate(names)}
    document = "<!-- examples:whole_test -->\n<!-- end -->"
    assert made_of(tmp_path, {"whole_test": results}, document)[1:5] == [
        "| task | test score (%) | baseline | `base` alone |",
        "| --- | --- | --- | --- |",
        "| named entities | F1 | 0.0 | 1.0 |",
        "| inference | accuracy |  | 2.0 |",
    ]


def test_fractions_are_rows_from_the_smallest(tmp_path: Path) -> None:
    names = ["srl_elmo@0.1", "srl_elmo@0.03", "srl_baseline@0.03", "srl_baseline@0.1"]
    results = {name: {"scores": [float(place)], "command": "c"} for place, name in enumerate(names)}
    document = "<!-- fractions:srl_parts -->\n<!-- end -->"
    assert made_of(tmp_path, {"srl_parts": results}, document)[1:5] == [
        "| part of the data, dev F1 (%), mean ± sd | ELMo, `tiny` | baseline |",
        "| --- | --- | --- |",
        "| 3 % | 1.0 | 2.0 |",
        "| 10 % | 0.0 | 3.0 |",
    ]


def test_the_papers_figures_stand_beside_ours(tmp_path: Path) -> None:
    questions = update_readme()["PAPER"].values()
    results = {
        f"{task}_{question[0]}": {"scores": [1.0], "command": "c"}
        for task in ("squad", "snli")
        for question in questions
    }
    results |= {f"srl_{question[1]}": {"scores": [2.0], "command": "c"} for question in questions}
    lines = made_of(tmp_path, {"all": results}, "<!-- paper:all -->\n<!-- end -->")
    assert lines[3] == "| without ELMo | 1.0 (80.8) | 1.0 (88.1) | 2.0 (81.6) |"
    assert len(lines) == 3 + len(questions) + 4


def test_several_results_are_the_columns_of_a_table(tmp_path: Path) -> None:
    results = {
        name: {"coref_elmo": {"scores": scores, "command": f"allennlp elmo-sweep {name}"}}
        for name, scores in (("coref", [60.0]), ("coref_test", [50.0, 51.0]), ("coref_muc_test", [70.0]))
    }
    document = "<!-- results:coref coref_test coref_muc_test -->\n<!-- end -->"
    assert made_of(tmp_path, results, document)[1:4] == [
        "| model | dev average F1 (%), mean ± sd | test average F1 (%), mean ± sd | "
        "test MUC F1 (%), mean ± sd |",
        "| --- | --- | --- | --- |",
        "| elmo | 60.0 | 50.5 ± 0.7 | 70.0 |",
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_linked_files_and_sections_exist(document: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith("https://"):
            file, _, section = link.partition("#")
            path = document.parent / file if file else document
            assert path.exists(), link
            assert not section or section in anchors(path), link


def anchors(document: Path) -> list[str]:
    """Returns the headings' anchors: lower case, hyphens for spaces, no other punctuation."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


def test_the_readme_shows_the_experiment_as_it_is() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    config = (REPOSITORY / "experiments" / "ner_elmo.jsonnet").read_text(encoding="utf-8")
    code = [line for line in config.splitlines() if not line.startswith("//")]
    assert "\n".join(code).strip() in readme


def test_a_training_curve_has_the_losses_between_the_lines_of_its_log() -> None:
    drawing = runpy.run_path(str(REPOSITORY / "docs" / "draw_training.py"))
    line = (
        "... - epoch {}/2, step {:,}/2,000 (0.0%), 9 tokens/s, 0:00:01 left, sampled loss {}, learning rate 1"
    )
    points = [(1, 100, 8.0), (1, 400, 5.0), (2, 1200, 4.0), (1, 100, 8.0), (2, 1300, 3.0)]
    read = drawing["read_points"]("\n".join(line.format(*point) for point in points))
    assert read == sorted({*points}, key=lambda point: point[1])
    # 400 steps of 5 less 100 of 8 are 300 of 4; 300 of 3 less 200 of 4 are 100 of 1.
    assert drawing["losses_between"](read, 1000) == [(400, 4.0), (1300, 1.0)]
