"""Adds pages from outside `docs`, and the tutorial, to the site and adapts the links between all
pages.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

REPOSITORY = Path(__file__).resolve().parents[2]
# Files of the repository, and their pages.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "elmo_plugin/projects/tutorial/tutorial.ipynb": "tutorial.md",
    "experiments/data/README.md": "data.md",
} | {
    str(card.relative_to(REPOSITORY)): f"models/{card.parent.name}.md"
    for card in REPOSITORY.glob("elmo_plugin/models/*/*/README.md")
}
ICON = "elmo_plugin/demo/static/icon.svg"
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages, and the demo's icon as the site's."""
    icon = (REPOSITORY / ICON).read_text(encoding="utf-8")
    files.append(File.generated(config, "assets/icon.svg", content=icon))
    for source, page in PAGES.items():
        content = (REPOSITORY / source).read_text(encoding="utf-8")
        if source.endswith(".ipynb"):
            content = "\n\n".join(markdown_of_cells(content))
        files.append(File.generated(config, page, content=content))
    return files


def markdown_of_cells(notebook: str) -> Iterator[str]:
    """Yields the text, the code and the printed output of a notebook's cells."""
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", []):
            text = "".join(output.get("text") or output["data"]["text/plain"])
            yield f"```text\n{text.rstrip()}\n```"


def with_chooser(page: str, chooser: str) -> str:
    """
    Returns a page with the chooser before its second section. The page opens with its own first
    lines, and the next heading ends the last tab: indented code there would be part of the tab.
    """
    first, heading, rest = page.partition("\n## ")
    return f"{first}\n{chooser}{heading}{rest}"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """
    Turns links that work in the repository into links of the site; adds the chooser to
    `install.md`.
    """
    path = page.file.src_uri
    folder = (REPOSITORY / SOURCES.get(path, f"docs/{path}")).parent

    if path == "install.md":
        chooser = (REPOSITORY / "docs/site/chooser.md").read_text(encoding="utf-8")
        markdown = with_chooser(markdown, chooser)

    def relinked(match: re.Match[str]) -> str:
        text, target, anchor = match.groups()
        file = os.path.relpath(folder / target, REPOSITORY)
        uri = PAGES.get(file, file.removeprefix("docs/"))
        if files.get_file_from_path(uri) is None:
            return f"{text} (`{file}`)" if text.strip("`") not in file else f"`{file}`"
        return f"[{text}]({os.path.relpath(uri, os.path.dirname(path) or '.')}{anchor or ''})"

    return LINK.sub(relinked, markdown)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Names the theme's search dialog for screen readers, as the theme does not."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
