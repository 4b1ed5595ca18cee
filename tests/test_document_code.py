"""
The code in the documents: Python runs, Jsonnet is evaluated, commands have the options that they name.

A block that cannot is marked by a comment before it, `<!-- not run: the reason -->`. `docs/python.md` and
`docs/add_a_task.md` have tests of their own, which run all of their code.
"""

import argparse
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import pytest
from allennlp.commands import parse_args

from elmo_plugin.commands.command import COMMANDS, load_command

REPOSITORY = Path(__file__).parents[1]
JSONNET = REPOSITORY / "elmo_plugin" / "jsonnet"
OWN_TESTS = ("python.md", "add_a_task.md")
DOCUMENTS = [
    document
    for document in [
        *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
        *sorted(REPOSITORY.glob("docs/*.md")),
    ]
    if document.name not in OWN_TESTS
]
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+) -->\n+)?"
    r"(?:^```(?P<language>\w*)\n(?P<fenced>.*?)^```$|(?P<indented>(?:^    [^\n]*\n|^\n(?=    ))+))",
    re.MULTILINE | re.DOTALL,
)
VARIABLE = re.compile(r"\w+=\S*")


class Block(NamedTuple):
    """
    document: its file
    language: as the document names it, or "commands" for lines that are indented by four spaces
    text: without the indent
    reason: why it is not run, if that is so
    """

    document: Path
    language: str
    text: str
    reason: str | None


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        is_fenced = match["fenced"] is not None
        code = match["fenced"] if is_fenced else re.sub("^    ", "", match["indented"], flags=re.MULTILINE)
        language = match["language"] if is_fenced else "commands"
        if code.strip():
            yield Block(document, language, code, match["reason"])


ALL = [block for document in DOCUMENTS for block in blocks(document)]


def of(language: str) -> list[Any]:
    """The blocks of a language that are run, with the names of their documents."""
    return [
        pytest.param(block, id=f"{block.document.stem}-{number}")
        for number, block in enumerate(ALL)
        if block.language == language and block.reason is None
    ]


def test_each_block_is_run_or_says_why_not() -> None:
    kinds = {block.language for block in ALL if block.reason is None}
    assert kinds <= {"python", "jsonnet", "json", "commands", "toml", "ini", "text"}, kinds
    marked = [block for block in ALL if block.reason]
    print(f"{len(ALL)} blocks, {len(marked)} of them marked as not run")
    assert len(marked) < len(ALL) / 10


@pytest.mark.parametrize(
    "document",
    sorted({block.document for block in ALL if block.language == "python"}),
    ids=lambda file: file.stem,
)
def test_python_runs_in_the_order_of_the_page(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(document):
        if block.language == "python" and block.reason is None and not needs_what_is_missing(block.text):
            exec(compile(block.text, f"{document.name}: {block.text[:40]}", "exec"), names)


def needs_what_is_missing(code: str) -> bool:
    """Whether code imports a library that is not installed here, such as flair."""
    names = re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)
    return any(find_spec(name) is None for name in names)


def evaluate(text: str) -> Any:
    """Evaluates Jsonnet, whose imports of our library are found wherever a project has put it."""

    def find(_folder: str, path: str) -> tuple[str, bytes]:
        file = JSONNET / Path(path).name
        return str(file), file.read_bytes()

    return json.loads(_jsonnet.evaluate_snippet("document", text, import_callback=find))


@pytest.mark.parametrize("block", of("jsonnet"))
def test_jsonnet_is_evaluated(block: Block) -> None:
    libraries = "".join(f"local {file.stem} = import '{file.name}';" for file in JSONNET.glob("*.libsonnet"))
    if "local " in block.text:
        assert evaluate(block.text)
    elif re.match(r"\w+: ", block.text):
        assert evaluate(f"{{ {block.text} }}")
    else:  # an expression, or one a line
        try:
            assert evaluate(f"{libraries} {block.text}")
        except RuntimeError:
            for line in block.text.splitlines():
                assert evaluate(f"{libraries} {line}")


@pytest.mark.parametrize("block", of("json"))
def test_json_is_json(block: Block) -> None:
    text = re.sub(r", …(?=[]}])", "", block.text)
    try:
        json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line)


def commands(text: str) -> Iterator[list[str]]:
    """Yields the words of each command, without what comes before it and after it."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        for part in re.split(r" \| | && |; do |; ", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:  # the first line of a text that has several
                continue
            while words and (VARIABLE.fullmatch(words[0]) or words[0] in ("uv", "run", "do", "time")):
                words = words[1:]
            if words and re.sub(r"^.*/bin/", "", words[0]) in ("elmo", "allennlp", "python", "python3"):
                yield [re.sub(r"^.*/bin/", "", words[0]), *words[1:]]


@pytest.mark.parametrize("block", of("commands"))
def test_commands_have_their_options(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program, *arguments in commands(block.text):
        arguments = [each for each in arguments if each not in (">", "2>") and not each.startswith("<")]
        name = arguments[0] if arguments else ""
        if program.startswith("python"):
            check_script(arguments)
        elif program == "allennlp" and name.startswith("elmo-"):
            check_elmo(name.removeprefix("elmo-"), arguments[1:])
        elif program == "elmo" and name in COMMANDS:
            check_elmo(name, arguments[1:])
        else:
            monkeypatch.setattr("sys.argv", [program, *arguments])
            parse(lambda program=program: parse_args(program), arguments)
        for argument in arguments:
            file = argument.partition(":")[0]
            if re.fullmatch(r"(?:experiments|training_config)/\w+\.jsonnet", file):
                assert (REPOSITORY / file).is_file() or "add_a_task" in block.document.name, file


def check_script(arguments: Sequence[str]) -> None:
    """A script is there, and names the options that it is given."""
    if arguments and arguments[0].endswith(".py"):
        source = REPOSITORY / arguments[0]
        assert source.is_file(), source
        text = "".join(file.read_text() for file in source.parent.glob("*.py"))
        for option in arguments[1:]:
            if option.startswith("--"):
                assert f'"{option.partition("=")[0]}"' in text, f"{arguments[0]} has no {option}"


def check_elmo(name: str, arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(f"elmo {name}", exit_on_error=False)
    load_command(name).add_arguments(parser)
    parse(lambda: parser.parse_args(list(arguments)), arguments)


def parse(parse_arguments: Callable[[], object], arguments: Sequence[str]) -> None:
    try:
        parse_arguments()
    except SystemExit as end:
        assert not end.code, shlex.join(arguments)
