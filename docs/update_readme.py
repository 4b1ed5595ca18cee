"""Puts the figures of `docs/results/*.json` into the tables of the README and of the documents.

    python docs/update_readme.py

A table stands between `<!-- results:NAME -->` and `<!-- end -->`, for the `docs/results/NAME.json` that
`allennlp elmo-sweep --json` wrote. NAME begins with the task, as the names of the configurations do, and ends
in `_test` where the figures are those on the test data.
"""

import json
import re
from pathlib import Path

from elmo_plugin.sweeps import summary

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/*.md"))]
BLOCK = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
METRICS = {"coref": "average F1", "ner": "F1", "snli": "accuracy", "srl": "F1", "sst": "accuracy"}


def updated(document: str) -> str:
    """Returns the document with every table made anew."""
    return BLOCK.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", document)


def table(name: str) -> str:
    """Returns the mean and deviation of each model in `docs/results/{name}.json`, and their commands."""
    results = json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text())
    task = name.partition("_")[0]
    rows = [
        f"| {model.removeprefix(f'{task}_')} | {summary(result['scores'], digits=1)} |\n"
        for model, result in results.items()
    ]
    data = "test" if name.endswith("_test") else "dev"
    commands = dict.fromkeys(f"    {result['command']}\n" for result in results.values())
    return "".join(
        [
            f"| model | {data} {METRICS[task]} (%), mean ± sd |\n",
            "| --- | --- |\n",
            *rows,
            "\n",
            *commands,
            "\n",
        ]
    )


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(encoding="utf-8")), encoding="utf-8")
