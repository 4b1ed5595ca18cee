"""Four smaller measurements of a biLM of a size.

python benchmarks/embed_extras.py --what placements --size original --json placements.json

placements  time of two mixes of one frozen biLM over one mix (goal: at most 1.05)
long        peak memory of one sequence of 20,000 words over one of 2,000 (below 2)
load        seconds to load from HDF5 (at most 2 for original), and memory over the size of the model (at most
            1.3)
import      seconds that `import elmo_plugin.bilm` adds to `import torch` (at most 0.3)
"""

import argparse
import json
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch
from figures import report
from machine import MEGABYTE, held_memory, in_fresh_process, peak_memory, require, seconds
from material import SIZES, Sentences, model_files, one_sequence, read_sentences, write_model

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.precision import PRECISIONS
from elmo_plugin.embedding import ElmoRepresentations

SENTENCES = {"tiny": 512, "small": 256, "original": 128}
SHORT, LONG = 2_000, 20_000
IMPORT = """
import time
import torch
start = time.perf_counter()
import elmo_plugin.bilm
print(time.perf_counter() - start)
"""


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    if args.alone:
        print(json.dumps(ALONE[args.what](args)))
        return
    figures = {"what": args.what, "size": args.size, "precision": args.precision, "threads": args.threads}
    figures["torch"] = torch.__version__
    with tempfile.TemporaryDirectory() as folder:
        args.model = Path(folder)
        if args.what != "import":
            write_model(args.size, args.model)
        figures |= MEASUREMENTS[args.what](args)
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--what", choices=MEASUREMENTS, required=True)
    parser.add_argument("--size", choices=SIZES, default="tiny", help="all but tiny: random weights")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32")
    parser.add_argument("--batch-size", type=int, default=32, help="of placements")
    parser.add_argument("--rounds", type=int, default=5, help="of placements and import; load has 3")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--words", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    require(args.precision, "cpu")
    return args


def measure_placements(args: argparse.Namespace) -> dict[str, Any]:
    """
    One placement and two take turns, each kind on its biLM. As in a task model, the mixes are in
    training, the biLM is not.
    """
    sentences = read_sentences()[: SENTENCES[args.size]]
    models = [ElmoRepresentations(load(args), num_mixes) for num_mixes in (1, 2)]
    batches = character_ids(sentences, args.batch_size)
    rounds = []
    for _ in range(args.rounds + 1):
        one_and_two = []
        for elmo in models:
            elmo.bilm.clear_word_cache()
            one_and_two.append(seconds(partial(run, elmo, batches)))
        rounds.append(one_and_two)
    ones, twos = zip(*rounds[1:], strict=True)
    ratios = [two / one for one, two in rounds[1:]]
    return {
        "batch_size": args.batch_size,
        "sentences": len(sentences),
        "one_seconds": statistics.median(ones),
        "two_seconds": statistics.median(twos),
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }


def character_ids(sentences: Sentences, batch_size: int) -> list[torch.Tensor]:
    starts = range(0, len(sentences), batch_size)
    return [
        torch.from_numpy(sentences_to_character_ids(sentences[start : start + batch_size]))
        for start in starts
    ]


def run(elmo: ElmoRepresentations, batches: list[torch.Tensor]) -> None:
    for batch in batches:
        elmo(batch)


def measure_long(args: argparse.Namespace) -> dict[str, Any]:
    short, long = (alone(args, "--words", words) for words in (SHORT, LONG))
    return {
        "short_words": SHORT,
        "long_words": LONG,
        "short_peak_memory_mb": short / MEGABYTE,
        "long_peak_memory_mb": long / MEGABYTE,
        "ratio": long / short,
    }


def embed_alone(args: argparse.Namespace) -> int:
    """Embeds one sequence; the peak memory of this process."""
    words = one_sequence(read_sentences(), args.words)
    load(args).embed([words])
    return peak_memory()


def measure_load(args: argparse.Namespace) -> dict[str, Any]:
    loads = [alone(args) for _ in range(3)]
    added, model = max(load["added_memory"] for load in loads), loads[0]["model_memory"]
    return {
        "seconds": min(load["seconds"] for load in loads),
        "added_memory_mb": added / MEGABYTE,
        "model_mb": model / MEGABYTE,
        "memory_ratio": added / model,
    }


def load_alone(args: argparse.Namespace) -> dict[str, float]:
    """Loads the model; returns the growth of this process's peak memory."""
    before = held_memory()
    loaded: list[BiLm] = []
    taken = seconds(lambda: loaded.append(load(args)))
    added = peak_memory() - before
    sizes = (parameter.numel() * parameter.element_size() for parameter in loaded[0].parameters())
    return {"seconds": taken, "added_memory": added, "model_memory": sum(sizes)}


def measure_import(args: argparse.Namespace) -> dict[str, Any]:
    return {"seconds": statistics.median(in_fresh_process("-c", IMPORT) for _ in range(args.rounds))}


def alone(args: argparse.Namespace, *more: object) -> Any:
    """Runs this program's part in a separate process and returns its output."""
    options = ["--what", args.what, "--size", args.size, "--precision", args.precision]
    return in_fresh_process(
        __file__, *options, "--threads", args.threads, "--model", args.model, "--alone", *more
    )


def load(args: argparse.Namespace) -> BiLm:
    return BiLm.from_files(*model_files(args.model), precision=args.precision)


MEASUREMENTS = {
    "placements": measure_placements,
    "long": measure_long,
    "load": measure_load,
    "import": measure_import,
}
ALONE = {"long": embed_alone, "load": load_alone}


if __name__ == "__main__":
    main()
