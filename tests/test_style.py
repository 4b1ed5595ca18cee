"""Prose reads as a native engineer writes it: the habits below are rare in documents and programs."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.conftest import REPOSITORY

HABITS = {  # how often each may occur in all prose of the repository
    r"\b([Tt]hat|[Tt]hose) of\b": 30,
    r"(?<![?] )\b([Ww]hat|[Ww]ho) (a|an|the|this|it|is|are|was|were|they|each|our|its|[a-z]+s|[A-Z]\w+)\b"
    r"(?![^.]*\?)": 60,
    r", (which|whose|of which) ": 80,
    r"\b[Ww]here (it|there|they|a|an|the|one|none|all|no|these|this|that|some|what|nothing)\b": 40,
    r"\bof (which|whose)\b|(^|[.;:] )Of (a|an|the|several|each|its|one|what)\b|: of (a|an|the) ": 8,
    r"\b(is|are|was|were|be) (met|told|named|looked for|asked for)\b": 5,
    r"\b(a|an|one) (\w+ )?(sentence|word|line|tree|file|task|layer|row|character|text|product|pair) "
    r"(a|an) (line|sentence|word|file|task|layer|row|direction|batch|time|second|step|tag)\b": 0,
    r", too\b": 10,
    r"\b(of (its|their) own|by (itself|themselves))\b": 40,
    r"\bas (it|they) (is|are|was|were)\b": 5,
    r"\b([Tt]here (is|are) no|has no)\b": 60,
    r"\b(not told|[Ll]ikewise|besides|anew)\b": 0,
}


@cache
def all_prose() -> list[str]:
    return list(prose())


def prose() -> Iterator[str]:
    """Yields the text of documents, and the docstrings, comments and messages of programs."""
    folders = [REPOSITORY / name for name in ("elmo_plugin", "benchmarks", "experiments", "docs")]
    for path in [
        *REPOSITORY.glob("*.md"),
        *(file for folder in folders for file in folder.rglob("*.md")),
    ]:
        text = re.sub(
            r"```.*?```|^(    |<!--).*?$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
        )
        yield from (
            " ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n|\n(?=[#|-])", text)
        )
    for path in (file for folder in folders for file in folder.rglob("*.py")):
        yield from _prose_of_program(path.read_text(encoding="utf-8"))


def _prose_of_program(text: str) -> Iterator[str]:
    for comment in re.findall(r"(?:^|  )# .*(?:\n\s*# .*)*", text, re.M):
        yield " ".join(comment.replace("#", " ").split())
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.count(" ") >= 3
        ):
            yield " ".join(node.value.split())


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_rare(habit: str) -> None:
    found = [
        text[max(0, hit.start() - 40) : hit.end() + 40]
        for text in all_prose()
        for hit in re.finditer(habit, text)
    ]
    assert len(found) <= HABITS[habit], "\n".join([f"{len(found)} times, such as", *found[:20]])
