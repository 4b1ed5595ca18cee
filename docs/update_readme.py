"""Fills the tables of the README and the documents from `docs/results/*.json`.

    python docs/update_readme.py [--check]

`--check` changes nothing. It lists the results that were measured before the code or the
configurations last changed (by more than comments), and those whose commit is not known, and fails
if there are any.

A table stands between `<!-- KIND:NAME NAME… -->` and `<!-- end -->`. NAME is
`docs/results/NAME.json`, written by `allennlp elmo-sweep --json`; it begins with the task and ends
in `_test` for scores on test data.

results    a row for each model, a column for each NAME gains      a row for each task of one file:
the model without ELMo and with it, and the share of the errors
           that ELMo removes
examples   a row for each task of one file, a column for each of `EXAMPLES` that it has fractions  a
row for each fraction of the training data paper      a row for each question of the paper's tables
2, 3 and 7, with the paper's figures in brackets
"""

import argparse
import ast
import json
import re
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

from elmo_plugin.sweeps.scores import summary

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/*.md"))]
BLOCK = re.compile(
    r"(<!-- (results|gains|examples|fractions|paper):([\w ]+) -->\n).*?(<!-- end -->)",
    flags=re.DOTALL,
)
# The columns of a table of examples, or of fractions.
EXAMPLES = {
    "baseline": "learned words",
    "static_base": "static vectors",
    "base_no_words": "`base` alone",
}
# A model without ELMo and the one with it.
PAIRS = (("baseline", "elmo"), ("static_base", "static_base_elmo"))
# Where the code and the configurations are on which a score depends.
CODE = (
    *(
        f"elmo_plugin/{name}"
        for name in ("bilm", "embedding", "encoders", "jsonnet", "tasks", "training")
    ),
    "experiments/*.jsonnet",
    ":(exclude)*.md",
)
METRICS = {
    "coref": "average F1",
    "ner": "F1",
    "snli": "accuracy",
    "spacy": "F1",
    "squad": "F1",
    "srl": "F1",
    "sst": "accuracy",
}
# For each question the variant of SQuAD and SNLI, the variant of SRL, and the paper's figures for
# the three.
PAPER = {
    "without ELMo": ("baseline", "baseline", (80.8, 88.1, 81.6)),
    "last layer alone": ("top", "top", (84.7, 89.1, 84.1)),
    "all layers, λ = 1": ("lambda_1", "lambda_1", (85.0, 89.3, 84.6)),
    "all layers, λ = 0.001": ("base", "base", (85.2, 89.5, 84.8)),
    "at the input": ("input", "base", (85.1, 88.9, 84.7)),
    "at the output": ("output", "output", (84.8, 88.7, 80.9)),
    "at both": ("base", "both", (85.6, 89.5, 84.3)),
    "token layer for word vectors": ("token_layer", "token_layer", (83.1, 88.0, 81.7)),
    "no word vectors": ("base_no_words", "base_no_words", (85.3, 89.1, 84.5)),
}
TASKS = {
    "coref": "coreference resolution",
    "ner": "named entity recognition",
    "snli": "natural language inference",
    "squad": "question answering",
    "srl": "semantic role labelling",
    "sst": "sentiment",
}


def updated(document: str) -> str:
    """Returns the document with all tables filled."""
    makers = {
        "results": table,
        "gains": gains_table,
        "examples": examples_table,
        "fractions": fractions_table,
        "paper": paper_table,
    }
    return BLOCK.sub(
        lambda match: f"{match[1]}{makers[match[2]](match[3].split())}{match[4]}", document
    )


def table(names: list[str]) -> str:
    """
    Returns the mean and deviation of each model, a column for each of the results, and the files.
    """
    task = names[0].partition("_")[0]
    results = {heading(name): read_results(name) for name in names}
    models = dict.fromkeys(model for columns in results.values() for model in columns)
    rows = [
        " | ".join(
            [model.removeprefix(f"{task}_")]
            + [summary(columns[model]["scores"], digits=1) for columns in results.values()]
        )
        for model in models
    ]
    lines = [
        f"| model | {' | '.join(results)} |",
        f"|{' --- |' * (1 + len(results))}",
        *(f"| {row} |" for row in rows),
    ]
    return text_of([*lines, *files_of(names)])


def gains_table(names: list[str]) -> str:
    """Returns a row for each task, with the share of the errors that ELMo removes."""
    lines = ["| dev score (%) | word vectors | + ELMo | errors removed |", f"|{' --- |' * 4}"]
    for task, models in models_of_tasks(names).items():
        for pair in PAIRS:
            if models.keys() >= set(pair):
                words, elmo = (models[name] for name in pair)
                removed = (fmean(elmo) - fmean(words)) / (100 - fmean(words))
                cells = (
                    f"{summary(words, digits=1)} | {summary(elmo, digits=1)} | "
                    f"{100 * removed:.0f} %"
                )
                lines.append(f"| {TASKS[task]}, {METRICS[task]} | {cells} |")
    return text_of(lines)


def examples_table(names: list[str]) -> str:
    """Returns a row for each task and a column for each of `EXAMPLES` that the file has."""
    tasks = models_of_tasks(names)
    columns = [model for model in EXAMPLES if any(model in models for models in tasks.values())]
    titles = [EXAMPLES[model] for model in columns]
    lines = [f"| dev score (%) | {' | '.join(titles)} |", f"|{' --- |' * (1 + len(columns))}"]
    for task, models in tasks.items():
        cells = [summary(models[model], digits=1) if model in models else "" for model in columns]
        lines.append(f"| {TASKS[task]}, {METRICS[task]} | {' | '.join(cells)} |")
    return text_of(lines)


def models_of_tasks(names: list[str]) -> dict[str, dict[str, list[float]]]:
    """Returns the scores of each model of each task that a file has, in the order of `TASKS`."""
    (name,) = names
    tasks: dict[str, dict[str, list[float]]] = {task: {} for task in TASKS}
    for model, each in read_results(name).items():
        task, _, variant = model.partition("_")
        tasks[task][variant] = each["scores"]
    return {task: models for task, models in tasks.items() if models}


def fractions_table(names: list[str]) -> str:
    """Returns a row for each part of the data and a column for each model, and the files."""
    (name,) = names
    results = read_results(name)
    curves: dict[str, dict[float, list[float]]] = {}
    for model, each in results.items():
        configuration, _, fraction = model.partition("@")
        curves.setdefault(configuration, {})[float(fraction)] = each["scores"]
    columns = [EXAMPLES[model.partition("_")[2]] for model in curves]
    lines = [
        f"| part of the data, {heading(name)} | {' | '.join(columns)} |",
        f"|{' --- |' * (1 + len(curves))}",
    ]
    for fraction in sorted({fraction for curve in curves.values() for fraction in curve}):
        scores = [summary(curve[fraction], digits=1) for curve in curves.values()]
        lines.append(f"| {100 * fraction:g} % | {' | '.join(scores)} |")
    return text_of([*lines, *files_of(names)])


def paper_table(names: list[str]) -> str:
    """
    Returns a row for each of the paper's questions, with its three tasks as columns, and the files.
    """
    results = {
        model.partition("@")[0]: each
        for name in names
        for model, each in read_results(name).items()
    }
    lines = [
        "| mean ± sd (the paper's) | SQuAD, dev F1 | SNLI, dev accuracy | SRL, dev F1 |",
        "| --- | --- | --- | --- |",
    ]
    for question, (variant, of_srl, published) in PAPER.items():
        models = f"squad_{variant}", f"snli_{variant}", f"srl_{of_srl}"
        scores = [summary(results[model]["scores"], digits=1) for model in models]
        cells = (f"{score} ({figure})" for score, figure in zip(scores, published, strict=True))
        lines.append(f"| {question} | {' | '.join(cells)} |")
    return text_of([*lines, *files_of(names)])


def commits_of(document: str) -> list[tuple[str, dict[str, str]]]:
    """
    Returns the heading of each table, such as "results:ner", and the commit of each score, or "".
    """
    return [
        (
            f"{kind}:{names}",
            {
                f"{name}/{model}": each.get("commit", "")
                for name in names.split()
                for model, each in read_results(name).items()
            },
        )
        for _, kind, names, _ in BLOCK.findall(document)
    ]


def outdated(document: str) -> list[str]:
    """
    Returns a line for each commit of a table's results that is unknown, or older than the code.
    """
    lines = []
    for heading, commits in commits_of(document):
        for commit in sorted(set(commits.values())):
            files = [name.partition("/")[0] for name, other in commits.items() if other == commit]
            scores = ", ".join(dict.fromkeys(files))
            if not commit:
                lines.append(f"{heading}: no commit is known of {scores}")
            elif not re.fullmatch("[0-9a-f]+", commit) or changes_since(commit):
                lines.append(
                    f"{heading}: the code has changed since {commit}, which measured {scores}"
                )
    return lines


def changes_since(commit: str) -> bool:
    """
    Returns whether the code has changed since, by more than comments and docstrings. Raises
    `CalledProcessError` if git lacks the commit.
    """
    lines = git("diff", "--name-status", "--no-renames", commit, "--", *CODE).splitlines()
    for status, path in (line.split("\t") for line in lines):
        if status != "M" or not path.endswith((".py", "sonnet")):
            return True
        now, then = (REPOSITORY / path).read_text(encoding="utf-8"), git("show", f"{commit}:{path}")
        if without_comments(now, path) != without_comments(then, path):
            return True
    return False


def without_comments(source: str, path: str) -> str:
    """
    Returns Jsonnet without lines of comment, and the syntax tree of Python without docstrings.
    """
    if not path.endswith(".py"):
        return "".join(
            line for line in source.splitlines(True) if not line.lstrip().startswith("//")
        )
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return ast.dump(tree)


def git(*arguments: str) -> str:
    """Returns what git prints. Raises `CalledProcessError` if it fails."""
    command = ["git", "-C", str(REPOSITORY), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def files_of(names: list[str]) -> list[str]:
    """Returns the lines that name the files of a table."""
    links = ", ".join(f"[`results/{name}.json`](results/{name}.json)" for name in names)
    return ["", f"Scores of each seed and commands: {links}."]


def read_results(name: str) -> dict[str, Any]:
    """Returns `docs/results/NAME.json`."""
    return dict(json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text()))


def text_of(lines: list[str]) -> str:
    """Returns the lines of a table, with a blank line after them."""
    return "".join(f"{line}\n" for line in [*lines, ""])


def heading(name: str) -> str:
    """Returns a column's heading, such as "test F1 (%), mean ± sd"."""
    metric = name.removesuffix("_test")
    data = "dev" if metric == name else "test"
    return f"{data} {METRICS.get(metric) or METRICS[metric.partition('_')[0]]} (%), mean ± sd"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fills the tables of the documents.")
    parser.add_argument(
        "--check", action="store_true", help="only list results that are older than the code"
    )
    if parser.parse_args().check:
        found = [
            f"{document.relative_to(REPOSITORY)}: {line}"
            for document in DOCUMENTS
            for line in outdated(document.read_text(encoding="utf-8"))
        ]
        raise SystemExit("\n".join(found))
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(encoding="utf-8")), encoding="utf-8")
