"""Installs the built package as its users do, and runs what the documents show of each extra.

    python .ci/installs.py WORK                                  # each extra on each Python, in about an hour
    python .ci/installs.py WORK --python 3.13 --extra spacy demo

Builds a release of the last commit into `WORK/dist`, the only place where elmo_plugin can be found. Each
extra gets an empty environment and an empty folder; the output is in `WORK/PYTHON-EXTRA.log`. The results of
several calls are in `WORK/installs.json`; the table is printed from it. Needs uv, git, curl, a network, and
30 GB, most for uv's cache. The variable `UV_TORCH_BACKEND=cpu` takes a torch without CUDA.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests.documents import checked_script, read_blocks  # noqa: E402

PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def python_block(document: str, then: str = "") -> str:
    """Returns the shell line that runs the first block of Python of a document, and checks what it prints."""
    block = next(each for each in read_blocks(REPOSITORY / document) if each.language == "python")
    return f"python - <<'END'\n{checked_script(block.text)}{then}END\n"


TEXT = "printf 'the cat sat .\\nthe play ended .\\n' > corpus.txt\n"
EMBED = "elmo embed corpus.txt vectors.hdf5"
LOAD = 'import spacy; print(spacy.load("en_play")("It plays.")._.elmo.shape)'
TRAIN = "elmo new ner x && cd x\nsed -n 's/^    allennlp/allennlp/p' README.md > lines\nbash -eux lines\n"
WAIT = "trap 'kill %1' EXIT\nuntil curl -sf http://127.0.0.1:{} > answer; do sleep 1; kill -0 %1; done\n"
SERVED = "http://127.0.0.1:8801"
CHECKS = {
    "": TEXT
    + python_block("README.md")
    + f"{EMBED} --all --bilm tiny\n"
    + python_block("docs/embed.md")
    + "elmo new ner x\n",
    "download": TEXT
    + "elmo export tiny served\npython -m http.server 8801 --bind 127.0.0.1 --directory served &\n"
    + WAIT.format(8801)
    + "export ALLENNLP_CACHE_ROOT=$PWD\n"
    + f"{EMBED} --all --options-file {SERVED}/options.json --weight-file {SERVED}/weights.hdf5\n",
    "spacy": python_block("docs/spacy.md", "nlp.to_disk('pipeline')\n")
    + "mkdir packed && pip install -q build\n"
    "python -m spacy package pipeline packed --name play --version 1.0.0 --build wheel\n"
    "uv venv -q --seed --python $VIRTUAL_ENV/bin/python elsewhere\n"
    'uv pip install -q --python elsewhere/bin/python "$(ls $DIST/*.whl)[spacy]"\n'
    "uv pip install -q --python elsewhere/bin/python packed/*/dist/*.whl\n"
    f"cd elsewhere && bin/python -Ic '{LOAD}'\n",
    "flair": python_block("docs/flair.md"),
    "sklearn": python_block("docs/sklearn.md"),
    "cluster": TEXT + "elmo embed '*.txt' vectors/ --all --bilm tiny --dask\nls vectors/*.hdf5\n",
    "demo": "elmo demo --bilm tiny --port 8802 &\n" + WAIT.format(8802),
    "test": "pytest --version && mypy --version && ruff --version\n",
    "allennlp": TRAIN + python_block("README.md") + TEXT + f"{EMBED} --mix run/model.tar.gz\n"
    "python -c 'import elmo_plugin.dropin; from allennlp.commands.elmo import ElmoEmbedder'\n",
    "allennlp,figures,demo": "elmo new ner x && cd x && allennlp train config.jsonnet -s run\n"
    "elmo weights run/model.tar.gz --plot weights.svg && test -s weights.svg\n"
    "elmo predict run/model.tar.gz 'Anna lives in Paris .'\n",
}
"""The lines of bash for each extra, in an empty folder with its environment's commands on the PATH."""


def uv(*arguments: object, **options: Any) -> None:
    subprocess.run(["uv", *map(str, arguments)], check=True, **options)


def install_and_run(extra: str, python: str, work: Path) -> dict[str, Any]:
    """Returns the seconds and megabytes of an installation, torch's version, and whether all lines ran."""
    folder, environment = work / "folder", work / "environment"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"PATH": f"{environment / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(environment)}
    variables["DIST"] = str(work / "dist")
    where: dict[str, Any] = {"cwd": folder, "env": variables}
    with (work / f"{python}-{extra or 'none'}.log").open("w") as log:
        where |= {"stdout": log, "stderr": subprocess.STDOUT}
        try:
            uv("venv", "--clear", "--seed", "--python", python, environment, **where)
            start = time.monotonic()
            asked = f"elmo_plugin[{extra}]" if extra else "elmo_plugin"
            uv("pip", "install", "--find-links", work / "dist", asked, **where)
            if "allennlp" in extra:
                uv("pip", "install", "--no-deps", "allennlp==2.10.1", **where)
            seconds = round(time.monotonic() - start)
            size = subprocess.check_output(["du", "-sBMB", environment], text=True).split("MB")[0]
            program = "from importlib.metadata import version; print(version('torch'), end='')"
            torch = subprocess.check_output([environment / "bin" / "python", "-c", program], text=True)
            start = time.monotonic()
            done = subprocess.run(["bash", "-euxo", "pipefail", "-c", CHECKS[extra]], **where)
        except subprocess.CalledProcessError:
            return {"works": False}
    found = {"works": done.returncode == 0, "seconds": seconds, "megabytes": int(size), "torch": torch}
    return found | {"seconds_of_lines": round(time.monotonic() - start), "date": str(date.today())}


def table(results: dict[str, dict[str, Any]]) -> str:
    """Returns a line for each extra, with the seconds and megabytes on each Python."""
    lines = [f"| | Python {' | Python '.join(PYTHONS)} |", "| --- | --- | --- | --- | --- |"]
    for extra in CHECKS:
        cells = [f"`{extra}`" if extra else "no extra"]
        for python in PYTHONS:
            found = results.get(python, {}).get(extra, {})
            size = f"{found['seconds']} s, {found['megabytes']:,} MB" if "seconds" in found else ""
            cells.append(size if found.get("works", True) else f"fails {size}".strip())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Tries each extra on each Python."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", type=Path, help="a folder outside the repository")
    parser.add_argument("--python", nargs="+", default=PYTHONS, choices=PYTHONS)
    parser.add_argument("--extra", nargs="+", default=list(CHECKS), choices=CHECKS)
    args = parser.parse_args()
    work = args.work.absolute()
    shutil.rmtree(work / "dist", ignore_errors=True)
    release = [sys.executable, REPOSITORY / ".ci" / "release.py", "https://example.org", work / "dist"]
    subprocess.run(release, check=True, capture_output=True)
    file = work / "installs.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    for python in args.python:
        for extra in args.extra:
            results.setdefault(python, {})[extra] = found = install_and_run(extra, python, work)
            print(python, extra or "none", found, flush=True)
            file.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(table(results))
    sys.exit(not all(found["works"] for each in results.values() for found in each.values()))


if __name__ == "__main__":
    main()
