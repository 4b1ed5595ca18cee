"""The demo's page under load: how long each task takes to answer, whether answers are right, and memory.

    python benchmarks/demo.py runs/*/model.tar.gz --bilm tiny --json demo.json

Starts `elmo demo` in a separate process and requests its examples, as a browser does: first one request
after another, for the latencies of each tab, and then three rounds of `--requests` of all tabs, 8 at a time.
Each answer is compared with the first one for the same address. Memory is the server's after each round; the
first round fills caches.
"""

import argparse
import html
import os
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from figures import report
from machine import status


def main() -> None:
    args = read_arguments()
    figures = measure(args)
    print("| tab | median, ms | 95th percentile, ms |\n| --- | ---: | ---: |")
    for name in (name.removesuffix("_median") for name in figures if name.endswith("_median")):
        title = f"all, {args.at_once} at a time" if name == "load" else f"`{name}`"
        print(f"| {title} | {figures[f'{name}_median']:.0f} | {figures[f'{name}_p95']:.0f} |")
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("archives", nargs="*", help="of trained models")
    add("--bilm", help="for the biLM's tab")
    add("--requests", type=int, default=200, help="of each round of the load")
    add("--at-once", type=int, default=8)
    add("--repeat", type=int, default=30, help="requests of each tab for its latency")
    add("--threads", type=int, default=2, help="of torch in the server")
    add("--json", type=Path)
    return parser.parse_args()


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """
    Returns milliseconds (`TAB_median`, `TAB_p95`) of each tab for one user; `load_median` and `load_p95` of
    all tabs with several; `wrong`, the number of answers that differ from the first; `first_answer_seconds`,
    from the start of the command; `megabytes` of the server after each round, and `memory_growth` from the
    first round to the last.
    """
    models = [*args.archives, *(["--bilm", args.bilm] if args.bilm else [])]
    command = [sys.executable, "-m", "elmo_plugin", "demo", *models, "--port", "0"]
    started = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[0].rstrip("/")
            tabs = tabs_of(address)
            paths = [path for of_tab in tabs.values() for path in of_tab]
            right = {paths[0]: read(address + paths[0])[1]}
            figures: dict[str, Any] = {"first_answer_seconds": time.perf_counter() - started}
            right |= {path: read(address + path)[1] for path in paths[1:]}
            for tab, paths in tabs.items():
                times = [read(address + paths[number % len(paths)])[0] for number in range(args.repeat)]
                figures |= latencies(tab, times)
            chance = random.Random(1)
            times, megabytes, wrong = [], [], 0
            for _ in range(3):
                asked = chance.choices(list(right), k=args.requests)
                with ThreadPoolExecutor(args.at_once) as users:
                    answers = list(users.map(lambda path: read(address + path), asked))
                times = [seconds for seconds, _ in answers]
                wrong += sum(text != right[path] for path, (_, text) in zip(asked, answers, strict=True))
                megabytes.append(status("VmRSS", server.pid) / 1e6)
        finally:
            server.terminate()
    return {
        **figures,
        **latencies("load", times),
        "requests": 3 * args.requests,
        "wrong": wrong,
        "megabytes": [round(each, 1) for each in megabytes],
        "memory_growth": megabytes[-1] / megabytes[0] - 1,
    }


def tabs_of(address: str) -> dict[str, list[str]]:
    """Returns the addresses of the examples of each tab, from the links of the page."""
    tabs = re.findall(r'href="/(\w+)"', read(f"{address}/")[1])
    pages = {tab: html.unescape(read(f"{address}/{tab}")[1]) for tab in tabs}
    return {tab: re.findall(rf'href="(/{tab}\?[^"]*)"', page) for tab, page in pages.items()}


def read(address: str) -> tuple[float, str]:
    """Returns the seconds that a page takes, and the page."""
    started = time.perf_counter()
    with urllib.request.urlopen(address, timeout=300) as answer:
        text = answer.read().decode()
    return time.perf_counter() - started, text


def latencies(name: str, seconds: list[float]) -> dict[str, float]:
    in_order = sorted(seconds)
    percentile = in_order[min(round(0.95 * len(in_order)), len(in_order) - 1)]
    return {f"{name}_median": 1e3 * statistics.median(in_order), f"{name}_p95": 1e3 * percentile}


if __name__ == "__main__":
    main()
