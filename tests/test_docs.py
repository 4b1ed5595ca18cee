"""What the documents say of figures and files is so."""

import re
import runpy
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = [
    REPOSITORY / "README.md",
    *sorted(REPOSITORY.glob("docs/*.md")),
    REPOSITORY / "benchmarks/README.md",
]


def test_the_tables_of_the_readme_hold_the_figures_of_the_results() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "results:ner" in readme
    assert runpy.run_path(str(REPOSITORY / "docs" / "update_readme.py"))["updated"](readme) == readme


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_linked_files_are_there(document: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith("https://"):
            assert (document.parent / link).exists(), link


def test_the_readme_shows_the_experiment_as_it_is() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    config = (REPOSITORY / "experiments" / "ner_elmo.jsonnet").read_text(encoding="utf-8")
    code = [line for line in config.splitlines() if not line.startswith("//")]
    assert "\n".join(code).strip() in readme
