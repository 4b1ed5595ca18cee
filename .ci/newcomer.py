"""Installs the wheel where nothing else is installed, and runs what README and docs show, as a
newcomer does.

    python .ci/newcomer.py WORK dist/elmo_plugin-*.whl
    python .ci/newcomer.py WORK dist/elmo_plugin-*.whl --python 3.10 3.13 --extras none
    allennlp,demo --with torch==2.4.1

Each set of extras gets an empty environment, and a folder where the files of a user are called as
ours are. There run the blocks of all pages that need no extra, or of those that need just these: a
line such as "Needs `flair`." at the head of a page or of a section names them. Versions are the
newest, as pip takes them, unless `--with` names others. It runs in the repository, with uv and a
network.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests.documents import DOCUMENTS, Block, checked_script, read_blocks  # noqa: E402

UV = os.environ.get("UV", "uv")  # set by `uv run`
SETS = ("none", "allennlp", "allennlp,demo", "transformers", "flair", "sklearn")
FOLDERS = ("train", "dev", "test", "data", "models", "vocabulary", "spacy", "token_characters")
FILES = ("auto", "words", "train.txt", "ner", "base", "english", "tokens")
PREDICT = {  # the models that no page shows
    "sst": "elmo predict sst 'I love this film.'",
    "snli": "elmo predict snli 'A man sleeps on a sofa.' 'A man is asleep.'",
}
TRAIN = """
elmo new ner project --bilm tiny && cd project
allennlp train config.jsonnet -s run -o '{"trainer.num_epochs": 1}'
allennlp predict run/model.tar.gz inputs.jsonl
"""
SERVE = """
elmo demo --port 0 > log 2>&1 & trap 'kill %1' EXIT
until grep -q '^http' log; do sleep 1; kill -0 %1; done
curl -sf --retry 9 --retry-connrefused "$(grep -o '^http[^ ]*' log)ner" > page.html
grep -q 'form' page.html
"""
RUNNER = """
import json, subprocess, sys
namespace, printed = {"__name__": "__main__"}, ""
for place, language, code in json.load(sys.stdin):
    print(place, flush=True)
    if language == "python":
        exec(compile(code, place, "exec"), namespace)
    elif language == "text":
        assert printed.endswith(code), f"{place}: not what was printed: {printed}"
    else:
        shell = ["bash", "-euo", "pipefail", "-c", code]
        printed = subprocess.run(shell, check=True, stdout=subprocess.PIPE, text=True).stdout
"""
"""Runs blocks one after the other, in one process, by the Python of the environment alone."""


def container_steps() -> str:
    """
    Returns a script of those steps of the Dockerfile in docs/production.md that install and try the
    package, with the environment in place of the container's system, and torch as the package index
    has it.
    """
    page = (REPOSITORY / "docs/production.md").read_text(encoding="utf-8")
    steps = re.findall(r"(?m)^RUN ((?:uv pip install|elmo) .*)$", page)
    assert len(steps) == 4, f"expected two installations and two commands of elmo, got {steps}"
    checkout = f"git clone -q '{REPOSITORY}' elmo_plugin"
    script = "\n".join([checkout, *steps])
    script = script.replace("uv pip", f"'{UV}' pip").replace("--torch-backend cpu", "")
    return script.replace("--system", "--python $(which python)")


def needs(document: Path, line: int) -> frozenset[str]:
    """Returns the extras that the sections around a line of a document need."""
    level, is_code, extras = 0, False, dict[int, list[str]]()
    for text in document.read_text(encoding="utf-8").splitlines()[:line]:
        is_code ^= text.startswith("```")
        if not is_code and (heading := re.match("#+ ", text)):
            level = len(heading[0])
            extras = {above: names for above, names in extras.items() if above < level}
        elif text.startswith("Needs "):
            extras[level] = re.findall("`(\\w+)`", text)
    return frozenset(name for names in extras.values() for name in names)


def steps(document: Path, extras: frozenset[str]) -> list[tuple[str, str, str]]:
    """Returns the blocks of a document that run with these extras; none if others would do."""
    blocks = [
        each
        for each in read_blocks(document)
        if (each.is_run or "flair" in extras) and needs(document, each.line) <= extras
    ]
    needed = {needs(document, each.line) for each in blocks if each.language in ("python", "bash")}
    return list(_runnable(blocks)) if extras in needed else []


def _runnable(blocks: list[Block]) -> Iterator[tuple[str, str, str]]:
    before = ""
    for block in blocks:
        if block.language == "python":
            yield block.place, "python", checked_script(block.text)
        elif block.language == "bash" or (block.language, before) == ("text", "bash"):
            yield block.place, block.language, block.text
        before = block.language


def users_folder(work: Path) -> Path:
    """Makes a new folder where files of a user are called as ours are."""
    folder = work / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text("a file of the user\n")
    return folder


def try_out(wheel: Path, python: str, names: str, work: Path, versions: list[str]) -> list[str]:
    """Installs a set of extras, runs what needs them, and returns what failed."""
    work.mkdir(parents=True, exist_ok=True)
    environment = work / "environment"
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    variables = kept | {"PATH": f"{environment / 'bin'}:{os.environ['PATH']}"}
    extras = frozenset() if names == "none" else frozenset(names.split(","))

    def install(*what: str) -> None:
        where = ["--python", environment, *what]
        # Outside the repository, whose pins would count otherwise.
        subprocess.run([UV, "pip", "install", "-q", *where], check=True, cwd=work)

    subprocess.run([UV, "venv", "-q", "--clear", "--python", python, environment], check=True)
    install(f"{wheel}[{','.join(extras)}]" if extras else str(wheel), *versions)
    if extras & {"allennlp", "transformers"}:
        install("--no-deps", "allennlp==2.10.1")
    tried = {str(each.relative_to(REPOSITORY)): steps(each, extras) for each in DOCUMENTS}
    if extras == {"allennlp"}:
        tried |= {f"predict {name}": [(name, "bash", line)] for name, line in PREDICT.items()}
        tried["train"] = [("train", "bash", TRAIN)]
    if "demo" in extras:
        tried["demo"] = [("demo", "bash", SERVE)]
        tried["container"] = [("container", "bash", container_steps())]
    failed = []
    for what, each in tried.items():
        if not each:
            continue
        folder, start = users_folder(work), time.monotonic()
        run = [str(environment / "bin" / "python"), "-c", RUNNER]
        done = subprocess.run(
            run, input=json.dumps(each), capture_output=True, text=True, cwd=folder, env=variables
        )
        outcome = "ran" if done.returncode == 0 else "FAILED"
        print(f"{python} {names}: {what} {outcome} ({time.monotonic() - start:.0f} s)", flush=True)
        if done.returncode:
            failed.append(f"{python} {names}: {what}")
            print(done.stdout, done.stderr, sep="\n", flush=True)
    return failed


def main() -> None:
    """Ends with status 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", type=Path, help="a folder outside the repository")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", nargs="+", default=["3.11"])
    parser.add_argument("--extras", nargs="+", default=SETS, help="none, or names with commas")
    parser.add_argument("--with", dest="versions", nargs="+", default=[], metavar="REQUIREMENT")
    args = parser.parse_args()
    pairs = [(python, names) for python in args.python for names in args.extras]
    failed = [
        each
        for pair in pairs
        for each in try_out(args.wheel.absolute(), *pair, args.work.absolute(), args.versions)
    ]
    sys.exit(f"failed: {'; '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
