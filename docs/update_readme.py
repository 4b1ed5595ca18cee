"""Puts the figures of `docs/results/*.json` into the tables of the README.

    python docs/update_readme.py

A table stands between `<!-- results:NAME -->` and `<!-- end -->`, for `docs/results/NAME.json`.
"""

import json
import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
README = REPOSITORY / "README.md"
BLOCK = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def updated(readme: str) -> str:
    """The README with every table made anew."""
    return BLOCK.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", readme)


def table(name: str) -> str:
    """Mean and range of each variant in `docs/results/{name}.json`, and the commands that wrote them."""
    results = json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text())
    rows = [f"| {variant} | {summary(result['scores'])} |\n" for variant, result in results.items()]
    commands = dict.fromkeys(f"    {result['command']}\n" for result in results.values())
    return "".join(["| model | mean dev F1 (range) |\n", "| --- | --- |\n", *rows, "\n", *commands, "\n"])


def summary(scores: list[float]) -> str:
    return f"{sum(scores) / len(scores):.1f} ({min(scores):.1f} to {max(scores):.1f})"


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")
