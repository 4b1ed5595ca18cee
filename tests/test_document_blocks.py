"""
Every block of code in a document is tried, or `tests/documents.py` says why not.

The blocks of a page in Python and `bash` run in order, in a folder of their own. Other commands
stand in indented blocks: their options are parsed. Configurations are evaluated.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import spacy
from allennlp.commands import parse_args

import elmo_plugin.plugin  # noqa: F401  registers the commands
from elmo_plugin.commands.main import main
from elmo_plugin.commands.new import LIBRARY
from elmo_plugin.commands.parser import parse as parse_command
from tests.documents import (
    DOCUMENTS,
    NOT_RUN,
    REPOSITORY,
    RUN_BY,
    Block,
    checked_script,
    commands_of,
    read_blocks,
)

PAGES = {str(path.relative_to(REPOSITORY)): list(read_blocks(path)) for path in DOCUMENTS}
BLOCKS = [block for blocks in PAGES.values() for block in blocks]
CARDS = [
    path
    for room in ("elmo_plugin", "experiments")
    for path in (REPOSITORY / room).rglob("README.md")
]
RUN = ("python", "bash")
SHOWN = ("json", "text")  # what a program reads or prints
TRIED = (*RUN, "commands", "jsonnet", "toml", "ini", "dockerfile")
ON_PAGES = [
    page
    for page, blocks in PAGES.items()
    if any(block.language in RUN and block.is_run for block in blocks)
]
SLOW = ("choose", "compatibility", "embed", "python", "questions", "sklearn", "srl", "tasks")
"""Pages whose blocks take a second or more. `.ci/newcomer.py` runs them all."""
EXTRAS = set(metadata("elmo_plugin").get_all("Provides-Extra"))


class _ParserIsReady(Exception):
    """Ends a program when it is about to parse its arguments."""


def blocks_in(*languages: str) -> Any:
    """Returns the decorator of a test of each block in these languages."""
    blocks = [each for each in BLOCKS if each.language in languages and each.is_run]
    return pytest.mark.parametrize("block", blocks, ids=lambda block: block.place)


def test_every_block_is_tested_or_gives_a_reason() -> None:
    assert {block.place for block in BLOCKS if block.language not in (*TRIED, *SHOWN)} == set()
    assert [text for text in NOT_RUN if not any(text in block.text for block in BLOCKS)] == []
    assert [test for test in RUN_BY.values() if not (REPOSITORY / test).is_file()] == []


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if Path(page).stem in SLOW else [])
        for page in ON_PAGES
    ],
)
def test_a_pages_blocks_run_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    language = ""
    for block in PAGES[page]:
        before, language = language, block.language
        if not block.is_run:
            continue
        if block.language == "text" and before == "bash":
            assert capsys.readouterr().out.endswith(block.text), block.place
        elif block.language == "bash":
            run_in_shell(block)
        elif block.language == "python":
            exec(compile(checked_script(block.text), block.place, "exec"), namespace)


def run_in_shell(block: Block) -> None:
    """Runs each line; `elmo` in this process, where its imports take no time."""
    for line in block.text.splitlines():
        if line.startswith("elmo "):
            main(shlex.split(line)[1:])
        else:
            subprocess.run(["bash", "-ec", line], check=True)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_blocks_contain_no_prompts(block: Block) -> None:
    assert not re.search(r"^(>>>|\$|\.\.\.) ", block.text, re.MULTILINE)


@pytest.mark.parametrize(
    ("python", "is_right"),
    [
        ("print(1 + 1)  # 2", True),
        ("print(1 + 1)  # 3", False),
        ("1 + 1\n# 2", True),
        ("for x in 'ab':\n    print(x)\n# a\n# b", True),
        ("if True:\n    print(1)\n    # 2", False),
    ],
)
def test_comments_after_statements_match_their_output(python: str, is_right: bool) -> None:
    with (
        nullcontext()
        if is_right
        else pytest.raises(AssertionError, match="is in the document, not")
    ):
        exec(checked_script(python), {})


@blocks_in("commands")
def test_the_options_of_commands_exist(block: Block) -> None:
    known = [parse(words) for words in commands_of(block.text)]
    assert any(known), f"{block.place}: no command of ours"


@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.relative_to(REPOSITORY)))
def test_the_options_of_commands_on_cards_exist(card: Path) -> None:
    for block in read_blocks(card):
        if block.language == "commands":
            for words in commands_of(block.text):
                parse(words)


def parse(words: list[str]) -> bool:
    """Parses a command of ours, and returns whether it is one."""
    try:
        if words[0] == "elmo":
            check(parse_command(words[1:])[1])
        elif words[0] == "allennlp":
            check(parser_of("allennlp").parse_args(words[1:]))
        elif words[0] == "python" and words[1].startswith(("benchmarks/", "experiments/")):
            check(parser_of(words[1]).parse_args(words[2:]))
        elif words[:3] == ["python", "-m", "spacy"]:
            return True
        elif "install" in words:
            extras = re.findall(r"(?:PATH|elmo_plugin)\[([\w,]+)\]", " ".join(words))
            assert {each for names in extras for each in names.split(",")} <= EXTRAS, words
        else:
            return False
    except SystemExit as error:
        assert not error.code, " ".join(words)
    return True


def check(args: argparse.Namespace) -> None:
    """Overrides are JSON, and configurations of this repository are there."""
    json.loads(getattr(args, "overrides", "") or "{}")
    configs = [*getattr(args, "configs", []), getattr(args, "param_path", "")]
    for config in configs:
        file, _, pattern = str(config).partition(":")
        if file.startswith(("experiments/", "training_config/")) and "{" not in file:
            assert (REPOSITORY / file).is_file(), file
            assert not pattern or pattern.split("_")[0] in (REPOSITORY / file).read_text(), config


@cache
def parser_of(program: str) -> argparse.ArgumentParser:
    """Runs `allennlp`, or a program of this repository, until it parses its arguments."""

    def stop(parser: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> None:
        raise _ParserIsReady(parser)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [program, "train"])
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        with pytest.raises(_ParserIsReady) as ready:
            if program == "allennlp":
                parse_args(program)
            patch.syspath_prepend((REPOSITORY / program).parent)
            try:
                import_module(Path(program).stem).main()
            except ModuleNotFoundError as error:
                if error.name not in ("scipy", "sklearn"):
                    raise
                pytest.skip(f"{program} needs {error.name}")
    return ready.value.args[0]


@blocks_in("jsonnet")
def test_configurations_can_be_evaluated(block: Block) -> None:
    text = block.text
    if "import" not in text:
        if text.partition(":")[0].isidentifier():
            text = f"{{{text}}}"
        names = [path.stem for path in LIBRARY.glob("*.libsonnet")]
        text = "".join(f"local {name} = import '{name}.libsonnet';\n" for name in names) + text
    assert json.loads(_jsonnet.evaluate_snippet(block.place, text, import_callback=from_library))


def from_library(folder: str, name: str) -> tuple[str, bytes]:
    path = LIBRARY / Path(name).name
    return str(path), path.read_bytes()


@blocks_in("dockerfile")
def test_the_last_steps_of_a_container_run_and_the_first_install_what_they_need(
    block: Block, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [line.partition(" ") for line in block.text.splitlines()]
    lines = [shlex.split(line) for kind, _, line in steps if kind == "RUN"]
    for words in lines:
        if words[0] == "elmo":
            main(words[1:])
    assert "[Ada]PER moved to [Lisbon]LOC." in capsys.readouterr().out

    installed = [words[-1] for words in lines if "install" in words]
    assert installed == ["uv", "./elmo_plugin[allennlp,demo]", "allennlp==2.10.1"]
    extras = re.findall(r"\w+", installed[1].partition("[")[2])
    assert set(extras) <= EXTRAS


@blocks_in("toml")
def test_toml_can_be_read(block: Block) -> None:
    tomllib: Any = pytest.importorskip("tomllib", reason="needs Python 3.11")
    assert tomllib.loads(block.text)


@blocks_in("ini")
def test_spacys_configurations_construct_their_model(block: Block) -> None:
    above = "[components]\n[components.tok2vec]\n[components.tok2vec.model]\n"
    config = spacy.util.load_config_from_str(above + block.text)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    assert spacy.registry.resolve({"model": embed})["model"].name


@pytest.mark.slow
def test_the_tutorials_cells_run_and_all_layers_beat_the_token_layer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(REPOSITORY / "elmo_plugin/projects/tutorial")
    namespace: dict[str, Any] = {}
    for cell in json.loads(Path("tutorial.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"]).replace('"base"', '"tiny"')
            exec(compile(source, cell["id"], "exec"), namespace)
    f1, taggers = namespace["f1"], namespace["taggers"]
    assert f1(taggers["all"]) > f1(taggers["token"]) > 0.1
