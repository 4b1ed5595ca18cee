"""Speed and memory of `allennlp elmo-embed` for texts of different lengths.

    python benchmarks/embed_file.py --words 10000 100000 1000000 10000000 --workers 1 2 \\
        --json embed_file.json

benchmarks/README.md describes how each figure is measured.
"""

import argparse
import itertools
import json
import multiprocessing
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from machine import MEGABYTE, in_fresh_process, peak_memory, peak_of_process, seconds
from material import Sentences, model_files, read_sentences, write_model
from run import conditions, make_parser, passed_on

from elmo_plugin.bilm.io import DTYPES
from elmo_plugin.bilm.precision import PRECISIONS
from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.embed_files import OUTPUT_FORMATS, EmbedSettings
from elmo_plugin.embed_files.settings import LAYERS

SHARED = ("size", "precision", "layers", "dtype", "format")


def main() -> None:
    args = read_arguments()
    if args.alone:
        print(json.dumps(embed_alone(args)))
        return
    shared = conditions(args, *SHARED)
    runs = []
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        write_model(args.size, Path(folder))
        for words in args.words:
            write_text(Path(folder) / "text.txt", read_sentences(), words)
            for workers in args.workers:
                runs.append(run_alone(args, Path(folder), workers) | {"workers": workers})
                print(
                    "  ".join(f"{name} {figure:,.0f}" for name, figure in runs[-1].items()),
                    flush=True,
                )
    if args.json:
        write_json(args.json, {**shared, **provenance(), "runs": runs})


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, "rounds", "text")
    parser.set_defaults(threads=1)  # of each worker
    add = parser.add_argument
    add("--words", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="of each text")
    add("--workers", type=int, nargs="+", default=[1, 2], help="that embed each text")
    add("--precision", choices=PRECISIONS, default="float32")
    add("--layers", choices=[layers for layers in LAYERS if layers != "mix"], default="mean")
    add("--dtype", choices=DTYPES, default="float32")
    add("--format", choices=OUTPUT_FORMATS, default="hdf5")
    add("--folder", type=Path, help="with room for twice the output (default: the system's)")
    add("--alone", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def write_text(path: Path, sentences: Sentences, words: int) -> None:
    """The sentences over and over, until there are this many words."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in itertools.cycle(sentences):
            file.write(" ".join(sentence[:words]) + "\n")
            words -= len(sentence[:words])
            if words == 0:
                return


def run_alone(args: argparse.Namespace, folder: Path, workers: int) -> dict[str, Any]:
    options = passed_on(args, *SHARED, "threads", "device")
    return in_fresh_process(__file__, *options, "--workers", workers, "--alone", folder)


def embed_alone(args: argparse.Namespace) -> dict[str, float]:
    """Embeds the text in this process, or in those that it starts; its figures."""
    from elmo_plugin.embed_files import embed_file  # imports AllenNLP, unlike the workers

    text, output = args.alone / "text.txt", args.alone / "output"
    options, weights = map(str, model_files(args.alone))
    settings = EmbedSettings(
        {"options": options, "weights": weights},
        layers=args.layers,
        dtype=args.dtype,
        threads=args.threads,
        precision=args.precision,
    )
    devices = [args.device]
    embed = partial(
        embed_file, text, output, settings, args.format, *args.workers, devices, show_progress=False
    )
    with most_memory_of_workers() as most:
        taken = seconds(embed)
    words = sum(len(line.split()) for line in text.open(encoding="utf-8"))
    size = output.stat().st_size
    output.unlink()
    return {
        "words": words,
        "seconds": taken,
        "tokens_per_second": words / taken,
        "peak_memory_mb": peak_memory() / MEGABYTE,
        "worker_peak_memory_mb": most[0] / MEGABYTE,
        "output_mb": size / MEGABYTE,
    }


@contextmanager
def most_memory_of_workers() -> Iterator[list[int]]:
    """Looks, again and again, how much memory the processes that this one started have held."""
    most = [0]
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.2):
            for child in multiprocessing.active_children():
                with suppress(OSError):  # it is over
                    most[0] = max(most[0], peak_of_process(child.pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        is_over.set()
        thread.join()


if __name__ == "__main__":
    main()
