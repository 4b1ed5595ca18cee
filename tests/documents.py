"""The blocks of code in the documents."""

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
NOT_RUN = {
    "huggingface-cli upload": "uploads",
    'from_pretrained("models/japanese")': "needs a downloaded model",
    "from flair": "flair has an environment of its own",
    "from datasets": "needs the package datasets",
    "uv run pytest": "runs the tests",
    ".ci/release.py": "publishes",
}
"""Why a block that contains this text is not run."""
RUN_BY = {"docs/add_a_task.md": "tests/test_add_a_task.py"}
"""The test that runs a page in another way."""


class Block(NamedTuple):
    """A block of code: `line` is the first of its code; an indented one has the language "commands"."""

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


def read_blocks(document: Path) -> Iterator[Block]:
    """Yields the blocks of a document."""
    for token in MarkdownIt().parse(document.read_text(encoding="utf-8")):
        if token.map and token.type in ("fence", "code_block"):
            is_fence = token.type == "fence"
            language = token.info.partition(" ")[0] if is_fence else "commands"
            yield Block(document, token.map[0] + 1 + is_fence, language, token.content)


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
