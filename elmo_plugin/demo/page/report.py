"""A report to keep: predictions in one HTML file that loads nothing."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.page.app import FOLDER, make_environment
from elmo_plugin.demo.tabs import TaskTab, columns_of


def make_report(tabs: Sequence[TaskTab], inputs: Iterable[tuple[str, dict[str, Any] | str]]) -> str:
    """
    Returns a page with the predictions of all archives, those of one task side by side.

    # Parameters

    tabs : `Sequence[TaskTab]`
        The archives by their tasks.
    inputs : `Iterable[tuple[str, dict[str, Any] | str]]`
        See `read_inputs`. Each is given to the tasks that have its fields; a plain text to all that read one
        text.

    Raises `BiLmError` where no task can read an input, or its text is too long.
    """
    sections: dict[str, list[dict[str, Any]]] = {tab.slug: [] for tab in tabs}
    for location, given in inputs:
        readers = [tab for tab in tabs if _reads(tab, given)]
        if not readers:
            fields = " or ".join(sorted({"+".join(each.name for each in tab.task.fields) for tab in tabs}))
            raise BiLmError(f"{location}: no archive reads this input; they read {fields}")
        for tab in readers:
            values = tab.task.from_texts([given]) if isinstance(given, str) else given
            try:
                for name, text in values.items():
                    tab.limits.check(text if isinstance(text, str) else "", name)
                outputs = [archive.predict(values) for archive in tab.archives]
            except BiLmError as error:
                raise BiLmError(f"{location}: {error}") from None
            columns = columns_of(tab.task, tab.archives, values, outputs)
            sections[tab.slug].append({"inputs": values, "columns": columns})
    shown = [(tab, sections[tab.slug]) for tab in tabs if sections[tab.slug]]
    if not shown:
        raise BiLmError("--input: there is no input in this file")
    style, script = (_static(name) for name in ("style.css", "script.js"))
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"
    template = make_environment().get_template("report.html")
    # Our own files are the only text that is not escaped.
    return template.render(sections=shown, style=Markup(style), script=Markup(script), policy=policy)


def _reads(tab: TaskTab, given: dict[str, Any] | str) -> bool:
    return len(tab.task.fields) == 1 if isinstance(given, str) else tab.task.has_input(given)


def _static(name: str) -> str:
    return (FOLDER / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Returns the source of a content security policy that lets in exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
