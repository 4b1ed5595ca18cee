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
