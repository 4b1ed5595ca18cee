"""Writes a page for each command, `docs/commands/NAME.md`, with what its `--help` shows.

python docs/update_commands.py
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import elmo_plugin.plugin  # noqa: F401  for the commands that need AllenNLP
from elmo_plugin.commands.command import COMMANDS, WITH_ALLENNLP, load_command

FOLDER = Path(__file__).parent / "commands"
INDEX = """# Commands

Each is also `allennlp elmo-NAME`, in a folder whose `.allennlp_plugins` has the line `elmo_plugin.plugin`.

| command | | needs AllenNLP |
| --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """Returns the text of each page by the name of its file."""
    rows = (
        f"| [`elmo {name}`]({name}.md) | {summary} | {'yes' if name in WITH_ALLENNLP else 'no'} |\n"
        for name, summary in COMMANDS.items()
    )
    return {"index.md": INDEX + "".join(rows)} | {f"{name}.md": "".join(page(name)) for name in COMMANDS}


def page(name: str) -> Iterator[str]:
    """Yields the parts of a command's page: what it does, how it is called, and its arguments."""
    command = load_command(name)
    parser = argparse.ArgumentParser(f"elmo {name}", add_help=False)
    command.add_arguments(parser)
    yield f"# elmo {name}\n\n{command.description}\n"
    subparsers = [each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not subparsers:
        yield from arguments(parser)
    for subparser in (each for choices in subparsers for each in choices.values()):
        yield f"\n## {subparser.prog}\n"
        yield from arguments(subparser)


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields how a program is called, and a table of each group of its arguments."""
    actions = [each for each in parser._actions if each.dest != "help"]
    needed = [each for each in actions if each.required or not each.option_strings]
    others = ["[options]"] if len(needed) < len(actions) else []
    yield f"\n    {' '.join([parser.prog, *map(usage, needed), *others])}\n"
    for group in parser._action_groups:
        rows = [each for each in group._group_actions if each.dest != "help"]
        if rows:
            title = str(group.title).removeprefix("positional ")
            yield f"\n**{title[:1].upper()}{title[1:]}**\n\n| | |\n| --- | --- |\n"
        for action in rows:
            about = ((action.help or "") % vars(action)).replace("|", "\\|").replace("{", "&#123;")
            yield f"| `{', '.join([*action.option_strings[:-1], usage(action)])}` | {about} |\n"


def usage(action: argparse.Action) -> str:
    """Returns an argument as it is given: `FILE`, `--json FILE`."""
    choices = ",".join(map(str, action.choices or []))
    value = str(action.metavar or (f"{{{choices}}}" if choices else action.dest.upper()))
    values = {"0": "", "?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} …"}
    return " ".join(filter(None, [*action.option_strings[-1:], values.get(str(action.nargs), value)]))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
