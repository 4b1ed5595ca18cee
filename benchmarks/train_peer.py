"""Held-out perplexity of a recipe after some tokens, of our network and of the one from AllenNLP's parts.

    python benchmarks/train_peer.py --data 'data/lm/train-0*.txt.gz' \\
        --validation data/lm/heldout-dev.txt --tokens 2000000 --json train_peer.json

Both get the same batches, one after the other, in float32: sizes, vocabulary, softmax, optimizer and learning
rates are as in a configuration, the latter spread over the tokens. Both start from their own random weights.
Then both read the held-out text, with the full softmax.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from figures import report
from material import REPOSITORY
from peer_bilm import StreamPeerBiLm
from torch import nn
from training import NAMESPACE, Learner, frequent_words, make_loader, passes

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.language_model.model import BiLmLanguageModel

PREFIXES = {"peer": "peer_", "ours": ""}
REPORT_EVERY = 100  # steps


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    torch.set_float32_matmul_precision(args.matmul_precision)
    torch.manual_seed(0)
    np.random.seed(0)  # the sampler of AllenNLP's softmax draws from it
    paths = {"BILM_TRAIN_DATA_PATH": args.data, "BILM_VALIDATION_DATA_PATH": args.validation}
    config = Params.from_file(args.config, ext_vars=paths).as_dict(quiet=True)
    with tempfile.TemporaryDirectory() as folder:
        training, held_out = (
            make_loader(config[loader], path, folder, args.device)
            for loader, path in (("data_loader", args.data), ("validation_data_loader", args.validation))
        )
        vocab = frequent_words(training, args.words)
        tokens_of_step = config["data_loader"]["batch_size"] * config["data_loader"]["unroll_steps"]
        steps = max(1, args.tokens // tokens_of_step)
        loss_scale = config["model"].get("loss_scale", 1.0)
        learners = {
            name: Learner(model.to(args.device), config["trainer"], steps, loss_scale)
            for name, model in make_models(config["model"], vocab).items()
        }
        figures: dict[str, Any] = {
            "tokens": steps * tokens_of_step,
            "steps": steps,
            "words": vocab.get_vocab_size(NAMESPACE),
            "negatives": config["model"]["num_negatives"],
        }
        training.index_with(vocab)
        with closing(passes(training)) as batches:
            train(learners, islice(batches, steps), steps)
        held_out.index_with(vocab)
        for name, prefix in PREFIXES.items():
            metrics = learners[name].evaluate(held_out)
            figures |= {f"{prefix}{metric}": value for metric, value in metrics.items()}
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True, help="a file or pattern, one tokenized sentence per line")
    parser.add_argument("--validation", required=True, help="the held-out text, in the same form")
    parser.add_argument("--tokens", type=int, required=True, help="that each direction is trained on")
    parser.add_argument("--words", type=int, default=30_000, help="in the vocabulary, at most")
    parser.add_argument("--config", type=Path, default=REPOSITORY / "training_config" / "bilm_tiny.jsonnet")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument(
        "--matmul-precision",
        choices=["highest", "medium"],
        default="highest",
        help="of torch's products; on some CPUs medium is as exact and faster",
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def make_models(config: dict[str, Any], vocab: Vocabulary) -> dict[str, nn.Module]:
    """Both networks, as the `model` of a configuration says."""
    options, negatives, dropout = (config[name] for name in ("options", "num_negatives", "dropout"))
    words = vocab.get_vocab_size(NAMESPACE)
    return {
        "peer": StreamPeerBiLm(BiLmOptions.from_dict(options), words, negatives, dropout),
        "ours": BiLmLanguageModel(
            vocab, options, dropout=dropout, num_negatives=negatives, namespace=NAMESPACE
        ),
    }


def train(learners: dict[str, Learner], batches: Iterable[dict[str, Any]], steps: int) -> None:
    """One step of each on every batch; prints the mean loss of each now and then."""
    losses: dict[str, list[float]] = {name: [] for name in learners}
    for number, batch in enumerate(batches, start=1):
        for name, learner in learners.items():
            losses[name].append(learner.step(batch, number))
        if number % REPORT_EVERY == 0 or number == steps:
            means = (f"{name} {statistics.mean(values):.3f}" for name, values in losses.items())
            print(f"step {number} of {steps}, sampled loss: {', '.join(means)}", flush=True)
            losses = {name: [] for name in learners}


if __name__ == "__main__":
    main()
