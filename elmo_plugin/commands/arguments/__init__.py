"""The arguments of all commands, in the groups of `elmo --help`. Nothing here imports torch or AllenNLP."""

from elmo_plugin.commands.arguments import analysis, embedding, tasks, training

GROUPS = {
    "Embed text, and biLMs": embedding.COMMANDS,
    "Predict with models of tasks": tasks.COMMANDS,
    "Train": training.COMMANDS,
    "Look closer": analysis.COMMANDS,
}
COMMANDS = {command.name: command for commands in GROUPS.values() for command in commands}
