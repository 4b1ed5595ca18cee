"""The hooks that make the site of the documents."""

import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.documents import REPOSITORY


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The hooks, which need only one name of mkdocs, where that is not installed."""
    files = ModuleType("mkdocs.structure.files")
    files.File = files.Files = object  # type: ignore[attr-defined]
    for name in ("mkdocs", "mkdocs.structure"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "mkdocs.structure.files", files)
    spec = importlib.util.spec_from_file_location("hooks", REPOSITORY / "docs/site/hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_install_page_opens_with_its_own_first_block(hooks: Any) -> None:
    page = (REPOSITORY / "docs/install.md").read_text(encoding="utf-8")
    chooser = (REPOSITORY / "docs/site/chooser.md").read_text(encoding="utf-8")
    shown = hooks.with_chooser(page, chooser)
    assert shown.startswith(page[: page.index("\n## ")])
    # Indented text after the last tab would belong to it, so a heading follows.
    assert shown.partition(chooser.strip())[2].lstrip("\n").startswith("## ")
    assert shown.replace(chooser, "") != shown


def test_each_page_of_the_documents_is_in_the_navigation() -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("!ENV ", "")  # a tag of mkdocs, which PyYAML does not know
    pages = set(re.findall(r"[\w/]+\.md", str(yaml.safe_load(text)["nav"])))
    folder = REPOSITORY / "docs"
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert written - pages == {"site/chooser.md"}
