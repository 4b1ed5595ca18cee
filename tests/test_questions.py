"""The messages on the page "Questions and problems" are those that are printed today."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from elmo_plugin.common.errors import NEEDS_ALLENNLP, TRUST
from elmo_plugin.config_check import NO_SPACY_MODEL
from tests.documents import REPOSITORY

PAGE = (REPOSITORY / "docs" / "questions.md").read_text(encoding="utf-8")
MESSAGES = [
    code for title in re.findall("^### (.+)", PAGE, re.M) for code in re.findall("`([^`]+)`", title)
]
OF_OTHERS = {
    "elmo: command not found": "bash",
    "ERROR: Cannot install allennlp==2.10.1 because": "pip, on Python 3.12",
    "allennlp 2.10.1 has requirement": "pip check",
    "RuntimeError: operator torchvision::nms": "import allennlp.models, with torchvision 0.21 "
    "and torch 2.11",
    "ERROR: Failed building wheel for jsonnet": "pip install jsonnet, without a compiler",
    "DefaultCPUAllocator: can't allocate memory": "torch.empty(10**12)",
    "CUDA out of memory": "torch, on a GPU",
    "ner_conll2003 not in acceptable choices": "allennlp train, without --include-package",
    "Serialization directory (": "allennlp train, twice into one folder",
}
"""The messages of other programs, and how they came."""


def templates() -> Iterator[str]:
    """Yields a pattern for each text in the package: what is filled in may be anything."""
    for file in (REPOSITORY / "elmo_plugin").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    part.value if isinstance(part, ast.Constant) else None for part in node.values
                ]
                yield ".*".join(re.escape(part) if part else "" for part in parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield ".*".join(map(re.escape, node.value.split("%s")))


@cache
def patterns() -> list[re.Pattern[str]]:
    """Returns the patterns of all messages; compiled once, as `re` itself keeps only some hundreds."""
    found = {pattern for pattern in templates() if len(re.findall("[a-z]{3}", pattern)) >= 3}
    found.add(re.escape(f"this command {NEEDS_ALLENNLP}"))
    found.add(f".*: .* is outside the archive; {re.escape(TRUST)}")
    found.add(f"spaCy's model .* {re.escape(NO_SPACY_MODEL)}")
    return [re.compile(pattern) for pattern in found]


def is_printed(message: str) -> bool:
    return any(pattern.fullmatch(message) for pattern in patterns())


@pytest.mark.parametrize("message", MESSAGES)
def test_quoted_messages_are_printed_by_the_package_or_by_known_programs(message: str) -> None:
    assert is_printed(message) != message.startswith(tuple(OF_OTHERS))


def test_messages_of_other_programs_are_quoted_exactly_on_the_page() -> None:
    assert [
        each for each in OF_OTHERS if not any(quoted.startswith(each) for quoted in MESSAGES)
    ] == []
    assert not is_printed("GPU missing: cuda (this machine has 0)")
