"""Speed and memory of `elmo import` for a file of each one form, of different lengths.

    python benchmarks/import_data.py --lines 10000 100000 1000000 --json import_data.json

benchmarks/README.md describes how each figure is measured.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from machine import MEGABYTE, in_fresh_process, peak_memory, seconds
from run import make_parser

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance

_SENTENCE = "Ada Bell left the old mill in Riga and her dog ran after a cart of hay ."
_WORDS = _SENTENCE.split()
_ENTITIES = {0: "B-PER", 1: "I-PER", 7: "B-LOC"}
_OPEN_SQUAD = '{"version": "1.1", "data": [\n'
_CLOSE_SQUAD = "\n]}\n"


def main() -> None:
    args = read_arguments()
    if args.alone:
        print(json.dumps(import_alone(*args.tasks, args.alone)))
        return
    runs = []
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for task in args.tasks:
            for num_lines in args.lines:
                file = Path(folder) / f"{task}{_SUFFIXES[task]}"
                write_form(task, file, num_lines)
                figures = in_fresh_process(__file__, "--tasks", task, "--alone", file)
                file.unlink()
                runs.append({"task": task, **figures})
                shown = [f"{name} {figure:,.0f}" for name, figure in figures.items()]
                print("  ".join([task, *shown]), flush=True)
    if args.json:
        write_json(args.json, {**provenance(), "runs": runs})


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, "size", "device", "rounds", "text")
    add = parser.add_argument
    add("--tasks", nargs="+", choices=_SUFFIXES, default=list(_SUFFIXES))
    add("--lines", type=int, nargs="+", default=[10_000, 100_000], help="of each file")
    add("--folder", type=Path, help="with room for the files (default: the system's)")
    add("--alone", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def write_form(task: str, file: Path, num_lines: int) -> None:
    """Writes at least this many lines in the one form of a task."""
    with file.open("w", encoding="utf-8") as output:
        if task == "squad":
            articles = islice(_articles(), num_lines)
            output.write(_OPEN_SQUAD)
            output.write(next(articles))
            output.writelines(f",\n{article}" for article in articles)
            output.write(_CLOSE_SQUAD)
            return
        written = 0
        for number in count():
            block = list(_BLOCKS[task](number))
            output.writelines(f"{line}\n" for line in block)
            written += len(block)
            if written >= num_lines:
                return


def _ner_lines(number: int) -> Iterator[str]:
    for place, word in enumerate(_WORDS):
        yield f"{word}\t{_ENTITIES.get(place, 'O')}"
    yield ""


def _conll_lines(number: int, is_srl: bool) -> Iterator[str]:
    """Yields the lines of a document of one sentence, in CoNLL-2012's columns."""
    document = f"nw/{number}"
    yield f"#begin document ({document}); part 000"
    for place, word in enumerate(_WORDS):
        columns = [document, "0", str(place), word, "XX", "*", "-", "-", "-", "-", "*"]
        if is_srl:
            columns += [_ROLES.get(place, "*"), "-"]
        else:
            columns.append(_MENTIONS.get(place, "-"))
        yield " ".join(columns)
    yield ""
    yield "#end document"
    yield ""


_ROLES = {0: "(ARG0*", 1: "*)", 2: "(V*)", 3: "(ARG1*", 5: "*)"}
_MENTIONS = {0: "(0", 1: "0)", 9: "(0)"}


def _srl_lines(number: int) -> Iterator[str]:
    return _conll_lines(number, is_srl=True)


def _coref_lines(number: int) -> Iterator[str]:
    return _conll_lines(number, is_srl=False)


def _snli_lines(number: int) -> Iterator[str]:
    label = ("entailment", "neutral", "contradiction")[number % 3]
    texts = {"sentence1": _SENTENCE, "sentence2": f"Bell left mill {number} ."}
    yield json.dumps({"gold_label": label, **texts})


def _sst_lines(number: int) -> Iterator[str]:
    label = ("negative", "positive")[number % 2]
    yield json.dumps({"text": f"{_SENTENCE} {number}", "label": label})


def _articles() -> Iterator[str]:
    passage = _SENTENCE
    for number in count():
        answer = {"text": "Ada Bell", "answer_start": 0}
        question = {"id": str(number), "question": "Who left the mill?", "answers": [answer]}
        paragraph = {"context": passage, "qas": [question]}
        yield json.dumps({"title": f"Article {number}", "paragraphs": [paragraph]})


_BLOCKS = {
    "ner": _ner_lines,
    "srl": _srl_lines,
    "coref": _coref_lines,
    "snli": _snli_lines,
    "sst": _sst_lines,
}
_SUFFIXES = {
    "ner": ".txt",
    "srl": ".gold_conll",
    "coref": ".gold_conll",
    "squad": ".json",
    "snli": ".jsonl",
    "sst": ".jsonl",
}


def import_alone(task: str, file: Path) -> dict[str, Any]:
    """Imports a file in this process, and returns the figures."""
    from elmo_plugin.importers import IMPORTERS, ImportOptions, read_data, write_data

    importer = IMPORTERS[task]
    at_start = peak_memory()
    with file.open(encoding="utf-8") as lines:
        num_lines = sum(1 for _ in lines)

    def work() -> None:
        data = read_data(importer, {"train": file}, ImportOptions())
        write_data(importer, data.parts, file.parent / "imported")

    taken = seconds(work)
    written = file.parent / "imported" / f"train{importer.suffix}"
    written.unlink()
    written.parent.rmdir()
    return {
        "lines": num_lines,
        "seconds": taken,
        "lines_per_second": num_lines / taken,
        "peak_memory_mb": peak_memory() / MEGABYTE,
        "memory_at_start_mb": at_start / MEGABYTE,
        "bytes_per_line": (peak_memory() - at_start) / num_lines,
        "file_mb": file.stat().st_size / MEGABYTE,
    }


if __name__ == "__main__":
    main()
