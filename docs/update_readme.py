"""Puts the figures of `docs/results/*.json` into the tables of the README and of the documents.

    python docs/update_readme.py

A table stands between `<!-- results:NAME -->` and `<!-- end -->`, for the `docs/results/NAME.json` that
`allennlp elmo-sweep --json` wrote; several names, with spaces between them, are its columns. With `summary:`
in place of `results:` they are its rows, each with the baseline and the model with ELMo. NAME begins with the
task, as the names of the configurations do, and ends in `_test` where the figures are those on the test data.
"""

import json
import re
from pathlib import Path

from elmo_plugin.sweeps import summary

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/*.md"))]
BLOCK = re.compile(r"(<!-- (results|summary):([\w ]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
METRICS = {
    "coref": "average F1",
    "coref_bcub": "B-cubed F1",
    "coref_ceafe": "CEAF-e F1",
    "coref_muc": "MUC F1",
    "ner": "F1",
    "snli": "accuracy",
    "spacy": "F1",
    "squad": "F1",
    "squad_em": "exact match",
    "srl": "F1",
    "sst": "accuracy",
}
DATA = {
    "coref": "coreference (OntoGUM)",
    "ner": "named entities (WNUT-17)",
    "snli": "inference (16,533 pairs of SNLI)",
    "squad": "questions (7,254 of SQuAD)",
    "srl": "semantic roles (PropBank over EWT)",
    "sst": "sentiment (SST, five classes)",
}


def updated(document: str) -> str:
    """Returns the document with every table made anew."""
    makers = {"results": table, "summary": summary_table}
    return BLOCK.sub(lambda match: f"{match[1]}{makers[match[2]](match[3].split())}{match[4]}", document)


def table(names: list[str]) -> str:
    """Returns the mean and deviation of each model, a column for each of the results, and their commands."""
    task = names[0].partition("_")[0]
    files = {name: REPOSITORY / "docs" / "results" / f"{name}.json" for name in names}
    results = {heading(name): json.loads(file.read_text()) for name, file in files.items()}
    models = dict.fromkeys(model for columns in results.values() for model in columns)
    rows = [
        " | ".join(
            [model.removeprefix(f"{task}_")]
            + [summary(columns[model]["scores"], digits=1) for columns in results.values()]
        )
        for model in models
    ]
    commands = dict.fromkeys(each["command"] for columns in results.values() for each in columns.values())
    lines = [
        f"| model | {' | '.join(results)} |",
        f"|{' --- |' * (1 + len(results))}",
        *(f"| {row} |" for row in rows),
        "",
        *(f"    {command}" for command in commands),
        "",
    ]
    return "".join(f"{line}\n" for line in lines)


def summary_table(names: list[str]) -> str:
    """Returns a row for each of the results: the task, the metric, the baseline, and the model with ELMo."""
    lines = ["| task | mean ± sd of three seeds | without ELMo | with |", "| --- | --- | --- | --- |"]
    for name in names:
        task = name.partition("_")[0]
        results = json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text())
        scores = [summary(results[f"{task}_{each}"]["scores"], digits=1) for each in ("baseline", "elmo")]
        lines.append(f"| {DATA[task]} | {heading(name).partition(',')[0]} | {' | '.join(scores)} |")
    return "".join(f"{line}\n" for line in [*lines, ""])


def heading(name: str) -> str:
    """Returns what the figures of a file are, such as "test F1 (%), mean ± sd"."""
    metric = name.removesuffix("_test")
    data = "dev" if metric == name else "test"
    return f"{data} {METRICS.get(metric) or METRICS[metric.partition('_')[0]]} (%), mean ± sd"


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(encoding="utf-8")), encoding="utf-8")
