"""Writes a page for each command, `docs/commands/NAME.md`, with the text of its `--help`, and their
index.

python docs/update_commands.py
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from elmo_plugin.commands.command import COMMANDS, GROUPS, Command
from elmo_plugin.commands.parser import how_to_give, make_parser

FOLDER = Path(__file__).parent / "commands"
INDEX = """# Commands

Each is also `allennlp elmo-NAME`, in a folder whose `.allennlp_plugins` has the line
`elmo_plugin.plugin`. `elmo help NAME` prints the content of its page. `-` is standard output
wherever a result can be named, and standard input for `embed`, `predict` and `port`.
"""
REFERENCE = """
## Exit status

| status | meaning |
| --- | --- |
| 0 | the work is done |
| 1 | the work failed: a full disk, a package that is missing, a training of a sweep |
| 2 | the command line is wrong, or a file is missing or cannot be used |
| 130, 143 | stopped by Ctrl-C or by SIGTERM |

## All options

Each option means the same in all commands that have it. `-q`, `-v` and `-V` may also stand before
the command's name.
"""


def pages() -> dict[str, str]:
    """Returns the text of each page by the name of its file."""
    parsers = {name: make_parser(command) for name, command in COMMANDS.items()}
    index = INDEX
    for title, names in GROUPS.items():
        index += "".join(group_table(title, names))
    index += REFERENCE + "".join(options_table(parsers))
    written = {
        f"{name}.md": "".join(page(COMMANDS[name], parser)) for name, parser in parsers.items()
    }
    return {"index.md": index} | written


def group_table(title: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yields the rows of a group of commands."""
    yield f"\n## {title}\n\n| command | purpose | needs AllenNLP |\n| --- | --- | --- |\n"
    for name in names:
        command = COMMANDS[name]
        needs = "yes" if command.needs == "allennlp" else "no"
        yield f"| [`elmo {command.name}`]({command.name}.md) | {command.summary}. | {needs} |\n"


def options_table(parsers: Mapping[str, argparse.ArgumentParser]) -> Iterator[str]:
    """Yields a row for each option, with the commands that have it."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, parser in parsers.items():
        for action in parser._actions[1:]:  # without --help
            if action.option_strings:
                about = meaning(action, vars(action) | {"default": "*"}).removesuffix(
                    " (default: *)"
                )
                rows.setdefault((spelling(action), about), []).append(f"[{name}]({name}.md)")
    yield "\n| option | meaning | commands |\n| --- | --- | --- |\n"
    for (option, about), names in sorted(rows.items(), key=lambda row: row[0][0].split("--")[-1]):
        commands = "all" if len(names) == len(parsers) else ", ".join(names)
        yield f"| `{option}` | {about} | {commands} |\n"


def page(command: Command, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the parts of a command's page: its purpose, how it is called, and its arguments."""
    yield f"# elmo {command.name}\n\n{command.description}\n"
    yield f"\n    {parser.usage}\n"
    yield "\nExamples:\n\n" + "".join(f"    {example}\n" for example in command.examples)
    parser._optionals._group_actions.pop(0)  # --help
    for group in parser._action_groups:
        if group._group_actions:
            title = str(group.title).removeprefix("positional ")
            yield f"\n**{title[:1].upper()}{title[1:]}**\n\n| argument | meaning |\n| --- | --- |\n"
        for action in group._group_actions:
            yield f"| `{spelling(action)}` | {meaning(action, vars(action))} |\n"


def spelling(action: argparse.Action) -> str:
    """Returns all names of an argument, the last with its value."""
    return ", ".join([*action.option_strings[:-1], how_to_give(action)])


def meaning(action: argparse.Action, values: dict[str, object]) -> str:
    """Returns the help of an argument for a table."""
    return ((action.help or "") % values).replace("|", "\\|").replace("{", "&#123;")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
