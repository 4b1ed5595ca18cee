"""What a release needs: links that work on an index page, and the same version everywhere."""

import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from elmo_plugin import __version__
from elmo_plugin.commands.new import PROJECT_TASKS, new_project
from tests.documents import DOCUMENTS, read_blocks

REPOSITORY = Path(__file__).resolve().parents[1]
ADDRESS = "https://example.org/elmo_plugin"


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A copy of what `.ci/release.py` changes, changed."""
    for name in ("README.md", "pyproject.toml", "elmo_plugin/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    runpy.run_path(str(REPOSITORY / ".ci" / "release.py"))["prepare"](tmp_path, ADDRESS)
    return tmp_path


def test_links_and_pictures_of_a_releases_readme_are_absolute_and_exist(
    prepared: Path,
) -> None:
    readme = (prepared / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", readme)
    assert len(links) > 20 and all(target.startswith("https://") for _, target in links)
    for picture, target in links:
        if target.startswith(ADDRESS):
            kind, tag, path = target.removeprefix(f"{ADDRESS}/").split("/", 2)
            assert (kind, tag) == ("raw" if picture else "blob", f"v{__version__}")
            assert (REPOSITORY / path.partition("#")[0]).is_file(), target


def test_a_release_has_the_urls_of_the_project(prepared: Path) -> None:
    tomllib: Any = pytest.importorskip("tomllib", reason="needs Python 3.11")
    project = tomllib.loads((prepared / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"].keys() == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith(ADDRESS) for url in project["urls"].values())


def test_citation_and_changelog_name_the_packages_version() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__ and citation["license"] == "Apache-2.0"
    newest = re.search(r"^## \[(.+?)\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None and newest[1] == __version__


def notice() -> str:
    return " ".join((REPOSITORY / "NOTICE").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_the_notice_credits_every_source_of_a_bundled_bilm(name: str) -> None:
    card = (REPOSITORY / f"elmo_plugin/models/bilm/{name}/README.md").read_text(encoding="utf-8")
    table = card.partition("| source | tokens |")[2].partition("\n\n")[0]
    sources = re.findall(r"[(,] ?([\w.-]+/[\w.-]+)", table)
    assert len(sources) >= 6 and [source for source in sources if source not in notice()] == []


def test_the_workflow_follows_the_readme_of_a_new_project(tmp_path: Path) -> None:
    workflow = yaml.safe_load(
        (REPOSITORY / ".github/workflows/release.yml").read_text(encoding="utf-8")
    )
    steps = [step.get("run", "") for step in workflow["jobs"]["install"]["steps"]]
    assert next(iter(PROJECT_TASKS)) == "ner" and "elmo new ner project" in steps
    new_project("ner", tmp_path / "project")
    readme = (tmp_path / "project" / "README.md").read_text(encoding="utf-8")
    assert steps[-1].splitlines() == re.findall("^    (allennlp.*)", readme, re.MULTILINE)
    assert set(workflow["jobs"]["publish"]["needs"]) == {"test", "install"}


def test_requirements_of_the_pages_are_installed_and_tested() -> None:
    newcomer = runpy.run_path(str(REPOSITORY / ".ci" / "newcomer.py"))
    needs, steps = newcomer["needs"], newcomer["steps"]
    tried = {frozenset(names.split(",")) - {"none"} for names in newcomer["SETS"]}
    blocks = [block for document in DOCUMENTS for block in read_blocks(document)]
    needed = {
        needs(each.document, each.line) for each in blocks if each.language in ("bash", "python")
    }
    assert needed == tried - {frozenset({"allennlp", "demo"})}, "of a page that serves"
    assert all(any(steps(document, extras) for document in DOCUMENTS) for extras in needed)


def test_the_newcomer_runs_every_block_that_runs_here() -> None:
    """So `.ci/run` leaves the blocks of the pages to the newcomer."""
    newcomer = runpy.run_path(str(REPOSITORY / ".ci" / "newcomer.py"))
    tried = set()
    for names in newcomer["SETS"]:
        extras = frozenset(names.split(",")) - {"none"}
        for document in DOCUMENTS:
            tried |= {place for place, _, _ in newcomer["steps"](document, extras)}
    blocks = [block for document in DOCUMENTS for block in read_blocks(document)]
    runs_here = {
        each.place for each in blocks if each.is_run and each.language in ("bash", "python")
    }
    assert len(runs_here) > 40
    assert runs_here <= tried
