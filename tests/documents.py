"""The blocks of code in the documents, and what a comment says of them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted(REPOSITORY.glob("docs/*.md")),
    REPOSITORY / "benchmarks/README.md",
]
REMARK = re.compile(r"<!-- (not run|only parsed|run by): (.+?) -->")


class Block(NamedTuple):
    """
    A block of code.

    # Parameters

    document : `Path`
    line : `int`
        The first line of its code, from 1.
    language : `str`
        What stands after the fence, or "commands" if the block is indented.
    text : `str`
    remark : `str`
        "not run", "only parsed", "run by", or "" without a comment.
    reason : `str`
        What the comment says after it.
    """

    document: Path
    line: int
    language: str
    text: str
    remark: str
    reason: str

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(REPOSITORY)}:{self.line}"


def read_blocks(document: Path) -> Iterator[Block]:
    """
    Yields the blocks of a document.

    `<!-- not run: REASON -->` is about the next block, `<!-- run by: TEST -->` about all that follow, and
    `<!-- only parsed: REASON -->` about all commands that follow.
    """
    next_reason = parsed_reason = test = ""
    for token in MarkdownIt().parse(document.read_text(encoding="utf-8")):
        if token.type == "html_block":
            for remark, reason in REMARK.findall(token.content):
                if remark == "not run":
                    next_reason = reason
                elif remark == "run by":
                    test = reason
                else:
                    parsed_reason = reason
        elif token.type in ("fence", "code_block"):
            language = token.info.partition(" ")[0] if token.type == "fence" else "commands"
            remark, reason = "", ""
            if next_reason:
                remark, reason = "not run", next_reason
            elif test:
                remark, reason = "run by", test
            elif language == "commands" and parsed_reason:
                remark, reason = "only parsed", parsed_reason
            assert token.map is not None
            line = token.map[0] + (2 if token.type == "fence" else 1)
            yield Block(document, line, language, token.content, remark, reason)
            next_reason = ""


def commands_of(shell: str) -> Iterator[list[str]]:
    """
    Yields the words of each command, without `uv run` and without the variables that are set for it, and of a
    loop those of its first turn.
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
