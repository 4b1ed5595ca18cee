"""Which size of biLM is worth its time: speed, and held-out perplexity after the same processor time.

    python benchmarks/bilm_sizes.py speeds 512x256 1024x128 --data 'data/lm*/train-0[01].txt.gz' \\
        --vocabulary runs/vocabulary --json docs/results/bilm_sizes/speeds.json
    python benchmarks/bilm_sizes.py perplexity 512x256 --data 'data/lm*/train-0[01].txt.gz' \\
        --vocabulary runs/vocabulary --validation data/lm/heldout-dev.txt \\
        --speeds docs/results/bilm_sizes/speeds.json --seconds 600 --json docs/results/bilm_sizes/512x256.json

A size is `CELLSxDIMENSIONS`; all else is as training_config/bilm_base.jsonnet says. Everything is in
processor time of one thread. For the speeds all sizes take turns, and the quickest turn of each counts, so
that other work on the machine tells little. The second command trains one size for the steps that it would do
in the seconds at that speed, over which the learning rate falls to its end: its result does not depend on
other work.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from embed import start_afresh
from machine import MEGABYTE
from material import REPOSITORY, read_sentences
from training import Learner, make_loader, passes

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.language_model.model import BiLmLanguageModel

CONFIG = REPOSITORY / "training_config" / "bilm_base.jsonnet"
ROUNDS = 5  # the first, in which each lays out its weights, does not count
STEPS = 3  # of training in a round
SENTENCES = 320  # embedded in a round
BATCH_SIZE = 32
WARM_UP_STEPS = 100


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(1)
    variables = {
        "BILM_TRAIN_DATA_PATH": args.data,
        "BILM_VALIDATION_DATA_PATH": args.validation or "",
        "BILM_VOCABULARY": args.vocabulary,
    }
    config = json.loads(_jsonnet.evaluate_file(str(args.config), ext_vars=variables))
    vocab = Vocabulary.from_files(args.vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        loader = make_loader(config["data_loader"], args.data, folder)
        loader.index_with(vocab)
        with closing(passes(loader)) as batches:
            if args.what == "speeds":
                figures = {
                    **{"data": args.data, "torch": torch.__version__},
                    "sizes": speeds(config, args.sizes, vocab, list(islice(batches, STEPS))),
                }
            else:
                held_out = make_loader(config["validation_data_loader"], args.validation, folder)
                held_out.index_with(vocab)
                learner, training = train(config, args, vocab, batches)
                perplexities = learner.evaluate(held_out)
                figures = {"size": args.sizes[0], "data": args.data, **training, **perplexities}
    print(json.dumps(figures, indent=2))
    if args.json:
        write_json(args.json, figures | provenance())


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speeds", "perplexity"])
    parser.add_argument("sizes", nargs="+", metavar="CELLSxDIMENSIONS", help="for the perplexity: one")
    parser.add_argument("--data", required=True, help="a file or pattern, one tokenized sentence per line")
    parser.add_argument("--vocabulary", required=True, help="what `allennlp build-vocab` wrote")
    parser.add_argument("--validation", help="for the perplexity: the held-out text")
    parser.add_argument("--speeds", type=Path, help="for the perplexity: the output of the first command")
    parser.add_argument("--config", type=Path, default=CONFIG)
    parser.add_argument("--seconds", type=float, default=600.0, help="of processor time (default: 600)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    args = parser.parse_args()
    if args.what == "perplexity" and not (args.validation and args.speeds and len(args.sizes) == 1):
        parser.error("perplexity needs --validation, --speeds and a single size")
    return args


def options_of(config: dict[str, Any], size: str) -> dict[str, Any]:
    """The configuration's own, with the cells and dimensions of the size."""
    cells, dim = map(int, size.split("x"))
    options = deepcopy(config["model"]["options"])
    options["lstm"] |= {"dim": cells, "projection_dim": dim}
    return options


def speeds(
    config: dict[str, Any], sizes: list[str], vocab: Vocabulary, batches: list[dict[str, Any]]
) -> dict[str, Any]:
    """
    For each size the weights of the biLM in half precision, and the tokens of one direction that are trained,
    and those that are embedded, in a second; also what `tiny` embeds.
    """
    sentences = read_sentences()[:SENTENCES]
    text = [sentences[start : start + BATCH_SIZE] for start in range(0, len(sentences), BATCH_SIZE)]
    learners = {size: new_learner(config, size, vocab, STEPS * ROUNDS) for size in sizes}
    bilms = {size: BiLm(BiLmOptions.from_dict(options_of(config, size))) for size in sizes}
    bilms["tiny"] = BiLm.from_pretrained("tiny")
    for bilm in bilms.values():
        bilm.eval().requires_grad_(False)

    def embed(bilm: BiLm) -> None:
        start_afresh(bilm)
        for batch in text:
            bilm.embed(batch)

    def learn(learner: Learner) -> None:
        for number, batch in enumerate(batches, start=1):
            learner.step(batch, number)

    words = sum(map(len, sentences))
    tokens = sum(int(batch["forward_targets"].count_nonzero()) for batch in batches)
    embedded, trained = take_turns(embed, bilms), take_turns(learn, learners)
    return {
        size: {
            "megabytes": 2 * sum(value.numel() for value in bilm.parameters()) / MEGABYTE,
            "embedded_tokens_per_second": words / embedded[size],
            "of_the_speed_of_tiny": embedded["tiny"] / embedded[size],
            "trained_tokens_per_second": tokens / trained[size] if size in trained else None,
        }
        for size, bilm in bilms.items()
    }


def take_turns(work: Callable[[Any], None], subjects: dict[str, Any]) -> dict[str, float]:
    """The processor's seconds of the quickest turn of each."""
    turns: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(ROUNDS):
        for name, subject in subjects.items():
            start = time.process_time()
            work(subject)
            turns[name].append(time.process_time() - start)
    return {name: min(seconds[1:]) for name, seconds in turns.items()}


def new_learner(config: dict[str, Any], size: str, vocab: Vocabulary, steps: int) -> Learner:
    torch.manual_seed(0)
    params = {**deepcopy(config["model"]), "options": options_of(config, size)}
    model = Model.from_params(params=Params(params), vocab=vocab)
    assert isinstance(model, BiLmLanguageModel)
    trainer = deepcopy(config["trainer"])
    trainer["learning_rate_scheduler"]["warmup_steps"] = min(WARM_UP_STEPS, steps // 10)
    return Learner(model, trainer, steps)


def train(
    config: dict[str, Any], args: argparse.Namespace, vocab: Vocabulary, batches: Iterator[dict[str, Any]]
) -> tuple[Learner, dict[str, Any]]:
    """Trains from random weights; the figures are the steps, and the tokens of one direction."""
    [size] = args.sizes
    speed = json.loads(args.speeds.read_text())["sizes"][size]["trained_tokens_per_second"]
    rows = config["data_loader"]["batch_size"] * config["data_loader"]["unroll_steps"]
    steps = round(args.seconds * speed / rows)
    learner = new_learner(config, size, vocab, steps)
    tokens = 0
    for number, batch in enumerate(islice(batches, steps), start=1):
        loss = learner.step(batch, number)
        tokens += int(batch["forward_targets"].count_nonzero())
        if number % 50 == 0:
            print(f"{size}: step {number} of {steps}, sampled loss {loss:.3f}", flush=True)
    return learner, {"seconds": args.seconds, "steps": steps, "tokens": tokens}


if __name__ == "__main__":
    main()
