"""Held-out perplexity by the seconds of training, with the modern recipe and with the published one.

    python benchmarks/train_recipes.py --data 'data/lm/train-0*.txt.gz' \\
        --validation data/lm/heldout-dev.txt --steps 3000 --json recipes.json --plot recipes.svg

A configuration has the sizes and the modern recipe; its learning rate falls to its end within the steps. The
published recipe, `bilm.paper_adagrad` of the Jsonnet library in place of the configuration's own, then trains
for as many seconds, from the same random weights, on the same batches with the same negatives. The clock
stands still while the held-out text is read, with the full softmax.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from machine import device_name
from material import REPOSITORY
from training import Learner, make_loader, passes

from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.language_model.loader import BiLmStreamLoader

CONFIGS = REPOSITORY / "training_config"
# The addition of each recipe to the configuration, in Jsonnet.
RECIPES = {
    "modern": "{}",
    "published": f"(import '{REPOSITORY}/elmo_plugin/jsonnet/bilm.libsonnet').paper_adagrad"
    " + { trainer+: { learning_rate_scheduler:: null } }",
}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    configs = {name: read_config(args, addition) for name, addition in RECIPES.items()}
    with tempfile.TemporaryDirectory() as folder:
        # Text and batches are the same for both recipes.
        held_out = make_loader(
            configs["modern"]["validation_data_loader"], args.validation, folder, args.device
        )
        training = make_loader(configs["modern"]["data_loader"], args.data, folder, args.device)
        vocab = Vocabulary.from_params(
            Params(configs["modern"]["vocabulary"]), instances=training.iter_instances()
        )
        held_out.index_with(vocab)
        shares = [number / args.points for number in range(1, args.points + 1)]
        goals, measure = [share * args.steps for share in shares], "steps"
        figures: dict[str, Any] = {
            "words": vocab.get_vocab_size("words"),
            "threads": args.threads,
            "device": device_name(args.device),
            "torch": torch.__version__,
        }
        for name, config in configs.items():
            training = make_loader(config["data_loader"], args.data, folder, args.device)
            training.index_with(vocab)
            torch.manual_seed(0)
            model = Model.from_params(params=Params(deepcopy(config["model"])), vocab=vocab)
            learner = Learner(model.to(args.device), config["trainer"], args.steps)
            print(f"{name}, {measure} up to {goals[-1]:,.0f}:", flush=True)
            with closing(passes(training)) as batches:
                figures[name] = train(learner, batches, held_out, goals, measure)
            goals, measure = [seconds for seconds, _, _ in figures["modern"]["curve"]], "seconds"
    if args.json:
        write_json(args.json, figures | provenance())
    if args.plot:
        plot(figures, args.plot)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True, help="a file or pattern, one tokenized sentence per line")
    parser.add_argument("--validation", required=True, help="the held-out text, in the same form")
    parser.add_argument("--steps", type=int, required=True, help="of the modern recipe")
    parser.add_argument("--points", type=int, default=8, help="how often the held-out text is read")
    parser.add_argument("--config", type=Path, default=CONFIGS / "bilm_tiny.jsonnet")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--plot", type=Path, help="where to draw the perplexities: .png or .svg")
    args = parser.parse_args()
    if args.plot and not find_spec("matplotlib"):
        parser.error("--plot requires matplotlib (in the extra `test`)")
    return args


def read_config(args: argparse.Namespace, addition: str) -> dict[str, Any]:
    """The configuration with the additions of a recipe."""
    snippet = f"(import '{args.config.resolve()}') + {addition}"
    paths = {"BILM_TRAIN_DATA_PATH": args.data, "BILM_VALIDATION_DATA_PATH": args.validation}
    return json.loads(_jsonnet.evaluate_snippet("recipe", snippet, ext_vars=paths))


def train(
    learner: Learner,
    batches: Iterator[dict[str, Any]],
    held_out: BiLmStreamLoader,
    goals: Iterable[float],
    measure: str,
) -> dict[str, Any]:
    """
    Trains and reads the held-out text at each of the goals, in `steps` or `seconds`.

    The curve has, for each, the seconds of training, the tokens of each direction, and the perplexity.
    """
    done = {"steps": 0, "seconds": 0.0}
    tokens, curve = 0, []
    for goal in goals:
        start = time.perf_counter() - done["seconds"]
        while done[measure] < goal:
            batch = next(batches)
            done["steps"] += 1
            learner.step(batch, done["steps"])
            tokens += int(batch["forward_targets"].count_nonzero())
            done["seconds"] = time.perf_counter() - start
        curve.append([done["seconds"], tokens, held_out_perplexity(learner, held_out)])
        print("{:10,.1f} s {:14,} tokens   perplexity {:,.2f}".format(*curve[-1]), flush=True)
    return {
        **done,
        "tokens": tokens,
        "tokens_per_second": tokens / done["seconds"],
        "perplexity": curve[-1][-1],
        "curve": curve,
    }


def held_out_perplexity(learner: Learner, held_out: BiLmStreamLoader) -> float:
    """Afterwards the streams of training continue as if nothing else had been read."""
    streams = learner.model.stream_state()
    perplexity = learner.evaluate(held_out)["perplexity"]
    learner.model.load_stream_state(streams)
    return perplexity


def plot(figures: dict[str, Any], path: Path) -> None:
    """Draws the perplexity of both over the minutes of training."""
    from matplotlib.figure import Figure  # here: only a plot needs it

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    for name in RECIPES:
        seconds, _tokens, perplexities = zip(*figures[name]["curve"], strict=True)
        minutes = [second / 60 for second in seconds]
        axes.plot(minutes, perplexities, marker="o", label=name)
        last = f"{perplexities[-1]:,.0f}"
        axes.annotate(last, (minutes[-1], perplexities[-1]), (0, 6), textcoords="offset points")
    axes.set_yscale("log")
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("held-out perplexity")
    axes.legend()
    with atomic_write(path) as temporary:
        figure.savefig(temporary)


if __name__ == "__main__":
    main()
