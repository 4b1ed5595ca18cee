"""All measurements on a GPU, within 20 minutes: embedding, training, task models.

    python benchmarks/gpu.py                       # on a machine with a GPU
    python benchmarks/gpu.py --device cpu --small  # the same from end to end, at small sizes

Each part runs in a separate process, under a time limit, and replaces docs/results/gpu/PART.json after each
figure, so that a crash loses nothing. `summary.json` tells how each part ended. Without AllenNLP, parts that
need it report what they skip.
"""

import argparse
import datetime
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from machine import device_name
from material import REPOSITORY

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import commit, processor


class Part(NamedTuple):
    """
    module: its `measure(device, small, *options)` yields a dictionary of figures at a time
    limit: the seconds that it may take
    """

    module: str
    limit: int
    options: tuple[str, ...] = ()


# The most valuable first.
PARTS = {
    "embed_original": Part("gpu_embed", 150, ("original",)),
    "train_original": Part("gpu_train", 180, ("original",)),
    "tasks": Part("gpu_tasks", 400),
    "embed_file": Part("gpu_file", 100),
    "embed_small": Part("gpu_embed", 110, ("small",)),
    "train_small": Part("gpu_train", 130, ("small",)),
}


def main() -> None:
    args = read_arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.alone:
        run_part(args.alone, args)
        return
    known = args.folder / "summary.json"
    summary: dict[str, Any] = json.loads(known.read_text()) if known.exists() else {}
    for name in args.parts:
        summary[name] = in_a_process(name, args)
        print(f"{name}: {summary[name]['end']}", flush=True)
        write_json(known, summary)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--device", choices=["cpu", "cuda"], default="cuda")
    add("--small", action="store_true", help="small sizes, to see that all works")
    add("--parts", nargs="+", choices=PARTS, help="by default all; with --small, only the first size")
    add("--folder", type=Path, default=REPOSITORY / "docs" / "results" / "gpu", help="for the figures")
    add("--commit", default=commit(), help="of this program, where git cannot tell")
    add("--alone", choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch finds no GPU here; --device cpu --small shows that the program works")
    args.parts = args.parts or [name for name in PARTS if not (args.small and name.endswith("_small"))]
    return args


def in_a_process(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Runs a part; tells how it ended."""
    command = [sys.executable, __file__, "--alone", name, "--device", args.device]
    command += ["--folder", str(args.folder), "--commit", args.commit, *(["--small"] if args.small else [])]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=PARTS[name].limit)
        end = "complete" if done.returncode == 0 else f"failed: {last_line(done.stderr)}"
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
    except subprocess.TimeoutExpired:
        end = f"stopped after {PARTS[name].limit} seconds"
    return {"end": end, "seconds": round(time.perf_counter() - start, 1), "card": device_name(args.device)}


def last_line(text: str) -> str:
    return next(iter(reversed(text.strip().splitlines())), "no message")


def run_part(name: str, args: argparse.Namespace) -> None:
    """Writes the figures after each row of them."""
    part = PARTS[name]
    small = " --small" if args.small else ""
    figures: dict[str, Any] = {
        "card": device_name(args.device),
        "processor": processor(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "commit": args.commit,
        "date": datetime.date.today().isoformat(),
        "command": f"python benchmarks/gpu.py --device {args.device}{small} --parts {name}",
        "is_small": args.small,
        "is_complete": False,
        "rows": [],
    }
    for row in importlib.import_module(part.module).measure(args.device, args.small, *part.options):
        figures["rows"].append(row)
        write_json(args.folder / f"{name}.json", figures)
        print("  " + ", ".join(f"{key} {shown(value)}" for key, value in row.items()), flush=True)
    write_json(args.folder / f"{name}.json", figures | {"is_complete": True})


def shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "..."
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
