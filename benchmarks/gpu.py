"""All measurements on a GPU, within 20 minutes: embedding, training, task models, files.

    python benchmarks/gpu.py                       # on a machine with a GPU
    python benchmarks/gpu.py --device cpu --small  # the same from end to end, at small sizes

Runs the other programs one after the other, each under a time limit; PART.json has the figures of
each, and `summary.json` tells how each ended. Without AllenNLP they measure ours alone, and the
tasks are left out.
"""

import argparse
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from machine import device_name, require
from material import REPOSITORY

from elmo_plugin.common.files import write_json


class Part(NamedTuple):
    """
    program: beside this one
    options: at the full size
    small: what to add at a small one
    limit: the seconds that it may take on a GPU
    """

    program: str
    options: str
    small: str
    limit: int


SHAPES = {
    "64x20": "--batch-size 64 --words 20 --sentences 512",
    "corpus": "--batch-size 3000 --sentences 3000",
    "1": "--batch-size 1 --words 20 --sentences 64",
}
# The most valuable first.
PARTS = {
    **{
        f"embed_{name}_{size}_{precision}": Part(
            "embed.py",
            f"--size {size} --precision {precision} --no-memory --profile {shape}",
            "--sentences 8 --rounds 1",
            60,
        )
        for size in ("original", "small")
        for name, shape in SHAPES.items()
        for precision in ("bfloat16", "float32")
    },
    **{
        f"train_{size}_{streams}": Part(
            "train_bilm.py",
            f"--size {size} --precision bfloat16 --vocabulary 793471 --steps 8 --rounds 2"
            f" --batch-size {streams} --peer-matmul-precision medium --no-memory --profile",
            "--batch-size 4 --negatives 64 --vocabulary 2000 --steps 2 --rounds 1",
            120,
        )
        for size in ("original", "small")
        for streams in (128, 384)  # the paper's three GPUs had one batch each
    },
    "tasks": Part(
        "tasks.py",
        "--size original --states known --profile --no-memory",
        "--tasks ner --rounds 1",
        400,
    ),
    "embed_file": Part(
        "embed_file.py",
        "--size original --precision bfloat16 --words 200000 --workers 1",
        "--words 2000",
        100,
    ),
}
ONE_OF_EACH = ["embed_64x20_small_float32", "train_small_128", "tasks", "embed_file"]
LEFT_OUT = "left out: AllenNLP is not installed"


def main() -> None:
    args = read_arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    summary: dict[str, Any] = {}
    for name in args.parts:
        summary[name] = run_part(name, args)
        print(f"{name}: {summary[name]['end']}", flush=True)
        write_json(args.folder / "summary.json", summary)
    if any(part["end"] not in ("complete", LEFT_OUT) for part in summary.values()):
        sys.exit(1)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("--device", choices=["cpu", "cuda"], default="cuda")
    add("--small", action="store_true", help="small sizes, to see that all works")
    add(
        "--parts",
        nargs="+",
        choices=PARTS,
        help="by default all; with --small, one of each program",
    )
    add(
        "--folder",
        type=Path,
        default=REPOSITORY / "docs" / "results" / "gpu",
        help="for the figures",
    )
    args = parser.parse_args()
    require("float32", args.device)
    args.parts = args.parts or (ONE_OF_EACH if args.small else list(PARTS))
    return args


def run_part(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Runs a program; tells how it ended."""
    part = PARTS[name]
    if part.program == "tasks.py" and not find_spec("allennlp"):
        return {"end": LEFT_OUT}
    options = [
        *part.options.split(),
        "--device",
        args.device,
        "--json",
        str(args.folder / f"{name}.json"),
    ]
    # If an option is repeated, the last counts.
    options += ["--size", "tiny", *part.small.split()] if args.small else []
    options += (
        ["--precision", "float32"] if args.device == "cpu" and "--precision" in options else []
    )
    command = [sys.executable, str(Path(__file__).with_name(part.program)), *options]
    limit = part.limit if args.device == "cuda" else 10 * part.limit
    start = time.perf_counter()
    try:
        done = run_program(command, limit)
        end = (
            "complete"
            if done.returncode == 0
            else f"failed: {(done.stderr.splitlines() or ['?'])[-1]}"
        )
        print(done.stderr if done.returncode else "", file=sys.stderr, end="")
    except subprocess.TimeoutExpired:
        end = f"stopped after {limit} seconds"
    return {
        "end": end,
        "seconds": round(time.perf_counter() - start, 1),
        "card": device_name(args.device),
        "command": f"python benchmarks/{part.program} {' '.join(options)}",
    }


def run_program(command: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Runs a program for at most `limit` seconds, and keeps its standard error."""
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=limit)


if __name__ == "__main__":
    main()
