"""Pins the versions that `uv run` and `.ci/run` install, and writes requirements/modern.txt.

    python .ci/pin.py
    python .ci/pin.py --upgrade

Run it after a change of what the package needs. Versions stay as they are where they can; with
`--upgrade` the newest of today are taken. It runs in the repository, with uv and a network.
"""

import argparse
import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT = REPOSITORY / "pyproject.toml"
LIST = REPOSITORY / "requirements" / "modern.txt"
PINS = re.compile(r"constraint-dependencies = \[\n.*?^\]\n", re.DOTALL | re.MULTILINE)


def pinned(lines: str) -> list[str]:
    """Returns the requirements in the content of modern.txt."""
    return [line for line in lines.splitlines() if line and not line.startswith("#")]


def write_pins(requirements: list[str]) -> None:
    """Writes the list of pins in pyproject.toml, in place of the one that is there."""
    entries = "".join(f'    "{requirement}",\n' for requirement in requirements)
    table = f"constraint-dependencies = [\n{entries}]\n"
    project = PROJECT.read_text(encoding="utf-8")
    PROJECT.write_text(PINS.sub(lambda _: table, project), encoding="utf-8")


def main() -> None:
    """Resolves without the pins, and writes both lists."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    args = parser.parse_args()

    lock = ["uv", "lock", "--quiet"]
    if args.upgrade:
        lock.append("--upgrade")
    export = ["uv", "export", "--quiet", "--no-default-groups", "--group", "allennlp"]
    export += ["--no-hashes", "--no-annotate", "--no-header", "--no-emit-project"]

    before = pinned(LIST.read_text(encoding="utf-8"))
    write_pins([])
    try:
        subprocess.run(lock, cwd=REPOSITORY, check=True)
        listing = subprocess.run(
            export, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True
        )
    except subprocess.CalledProcessError:
        write_pins(before)
        raise
    LIST.write_text(
        f"# python .ci/pin.py has written this file.\n{listing.stdout}", encoding="utf-8"
    )
    write_pins(pinned(listing.stdout))


if __name__ == "__main__":
    main()
