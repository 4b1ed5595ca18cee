"""The figures, files and links in the documents are right."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.documents import DOCUMENTS, REPOSITORY


def update_readme() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "docs" / "update_readme.py"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_tables_show_the_figures_of_the_results(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert update_readme()["updated"](text) == text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_all_scores_of_a_table_were_measured_at_the_same_commit(document: Path) -> None:
    for heading, commits in update_readme()["commits_of"](document.read_text(encoding="utf-8")):
        assert len(set(commits.values())) == 1, (
            f"{heading} has scores of several commits: {commits}"
        )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_commands_in_documents_name_no_path_outside_the_repository(document: Path) -> None:
    for line in document.read_text(encoding="utf-8").splitlines():
        assert not (line.startswith("    ") and "../" in line), line


def test_each_command_has_a_page_that_matches_its_help() -> None:
    program = runpy.run_path(str(REPOSITORY / "docs" / "update_commands.py"))
    written = {path.name: path.read_text(encoding="utf-8") for path in program["FOLDER"].iterdir()}
    assert written == program["pages"]()
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert [name for name in written if f"commands/{name}" not in navigation] == []
    assert (
        "| `--seeds N` | seeds 1 to N, or a list of seeds: 3,7 (default: 3) |"
        in written["sweep.md"]
    )


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
