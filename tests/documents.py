"""
The blocks of code in the documents, and programs that run them. Needs Python alone: what installs
the package elsewhere reads the same blocks.
"""

import ast
import io
import re
import shlex
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted(REPOSITORY.glob("docs/*.md")),
    REPOSITORY / "benchmarks/README.md",
]
NOT_RUN = {
    "hf upload": "uploads",
    'from_pretrained("models/japanese")': "needs a downloaded model",
    "residues.h5": "needs the published biLM",
    "from flair": "flair has an environment of its own",
    "from datasets": "needs the package datasets",
    "from sentence_transformers": "needs the package sentence-transformers",
    "from gensim": "needs the package gensim",
    "from langchain_core": "needs the package langchain-core",
    "uv run pytest": "runs the tests",
    ".ci/release.py": "publishes",
}
"""Why a block that contains this text is not run."""
RUN_BY = {"docs/add_a_task.md": "tests/test_add_a_task.py"}
"""The test that runs a page in another way."""


class Block(NamedTuple):
    """
    A block of code: `line` is the first of its code; an indented one has the language "commands".
    """

    document: Path
    line: int
    language: str
    text: str

    @property
    def page(self) -> str:
        return str(self.document.relative_to(REPOSITORY))

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.page not in RUN_BY and not any(text in self.text for text in NOT_RUN)


_FENCE = r"```(?P<language>\w*).*\n(?P<fenced>(?:.*\n)*?)```\n"
_INDENTED = r"(?<=\n\n)(?P<indented>    .*\n(?:(?:    .*)?\n)*)"
_LIST_ITEM = r"(?:[-*]|\d+\.) .*\n(?:(?: .*)?\n)*"


def read_blocks(document: Path) -> Iterator[Block]:
    """Yields the blocks of a document, but none in its lists."""
    text = document.read_text(encoding="utf-8")
    for found in re.finditer(rf"^(?:{_FENCE}|{_LIST_ITEM}|{_INDENTED})", text, re.MULTILINE):
        kind = found.lastgroup
        if kind is not None:
            line = text.count("\n", 0, found.start(kind)) + 1
            code = (
                found[kind]
                if kind == "fenced"
                else re.sub("^    ", "", found[kind].rstrip(), flags=re.M)
            )
            yield Block(document, line, found["language"] or "commands", f"{code.rstrip()}\n")


def checked_script(python: str) -> str:
    """
    Returns a block of Python as a program that raises `AssertionError` unless each comment behind
    an expression, or just below a statement, is what that prints, or the value that a prompt would
    show. After ": " a comment may say more.
    """
    comments = {
        token.start[0]: (
            token.start[1],
            token.string.removeprefix("#").removeprefix(" "),
            token.line,
        )
        for token in tokenize.generate_tokens(io.StringIO(python).readline)
        if token.type == tokenize.COMMENT
    }

    def expected(node: ast.stmt) -> str:
        row = node.end_lineno or 0
        if isinstance(node, ast.Expr) and row in comments:
            return comments[row][1]
        lines: list[str] = []
        while (row := row + 1) in comments and comments[row][2].startswith(
            " " * node.col_offset + "#"
        ):
            lines.append(comments[row][1])
        return "\n".join(lines)

    class Checks(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            self.generic_visit(node)
            is_checked = isinstance(
                node, ast.Expr | ast.For | ast.While | ast.With | ast.If | ast.Try
            )
            if not is_checked or not (comment := expected(node)):
                return node
            if isinstance(node, ast.Expr):
                node.value = ast.Call(ast.Name("_show"), [node.value], [])
            check = ast.parse(f"with _prints({comment!r}): pass").body[0]
            check.body = [node]
            return check

    return (
        _CHECKS + ast.unparse(ast.fix_missing_locations(Checks().visit(ast.parse(python)))) + "\n"
    )


_CHECKS = """
import contextlib as _contextlib, io as _io
def _show(value):
    if value is not None:
        print(repr(value))
@_contextlib.contextmanager
def _prints(comment):
    with _contextlib.redirect_stdout(_io.StringIO()) as output:
        yield
    got = output.getvalue().rstrip()
    assert got and f"{comment}: ".startswith(f"{got}: "), f"{comment!r} is in the document, not {got!r}"
"""


def commands_of(shell: str) -> Iterator[list[str]]:
    """
    Yields the words of each command, without `uv run` and without the variables that are set for
    it, and of a loop those of its first turn.
    """
    for name, value in re.findall(r"for (\w+) in (\S+)", shell):
        shell = re.sub(rf"\$\{{?{name}\b\}}?", value, shell)
    for line in shell.replace("\\\n", " ").splitlines():
        reader = shlex.shlex(line, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        words: list[str] = []
        for word in [*reader, ";"]:
            if word and not set(word) <= set("();<>|&"):
                words.append(word)
                continue
            if words[:2] == ["uv", "run"]:
                words = words[2:]
            while words and (words[0] in ("do", "export") or re.match(r"\w+=", words[0])):
                words = words[1:]
            if words:
                yield words
            words = []
