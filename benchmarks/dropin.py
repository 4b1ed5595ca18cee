"""Tokens per second of `allennlp predict` for an archive with AllenNLP's ELMo, without and with the
drop-in.

    python benchmarks/dropin.py --size original --json dropin.json

Fresh processes load the same archive and predict the same sentences, with AllenNLP alone and then
with `elmo_plugin.dropin`; the median round counts. benchmarks/README.md describes how each figure
is measured.
"""

import argparse
import importlib
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch
from machine import in_fresh_process, seconds
from material import Sentences, in_batches, model_files, options_of, read_sentences, write_model
from run import conditions, make_parser, passed_on, rates, report

# Sentences in a round, and rounds: some minutes at AllenNLP's speed.
EFFORT = {"tiny": (2048, 5), "small": (256, 5), "original": (64, 3)}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    sentences = read_sentences(args.text)[: args.sentences]
    if args.alone is not None:
        print(json.dumps(predict(args.alone, args.archive, in_batches(sentences, args.batch_size))))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = write_archive(args.size, Path(folder), sentences)
        figures = compare(args, archive, sum(map(len, sentences)))
    report(conditions(args, "size", "batch_size", "sentences", "rounds") | figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--sentences", type=int, help="in a round")
    parser.add_argument("--alone", choices=["peer_", ""], help=argparse.SUPPRESS)
    parser.add_argument("--archive", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    sentences, rounds = EFFORT[args.size]
    args.sentences, args.rounds = args.sentences or sentences, args.rounds or rounds
    return args


def write_archive(size: str, folder: Path, sentences: Sentences) -> Path:
    """A tagger with random weights behind AllenNLP's ELMo."""
    from allennlp.commands.train import train_model  # here: it takes seconds
    from allennlp.common import Params

    write_model(size, folder)
    options, weights = model_files(folder)
    data = folder / "data.txt"
    data.write_text(
        " ".join(f"{word}###{'AB'[number % 2]}" for number, word in enumerate(sentences[0]))
    )
    config = {
        "dataset_reader": {
            "type": "sequence_tagging",
            "token_indexers": {"elmo": {"type": "elmo_characters"}},
        },
        "train_data_path": str(data),
        "model": {
            "type": "simple_tagger",
            "text_field_embedder": {
                "token_embedders": {
                    "elmo": {
                        "type": "elmo_token_embedder",
                        "options_file": str(options),
                        "weight_file": str(weights),
                    }
                }
            },
            "encoder": {
                "type": "lstm",
                "input_size": 2 * options_of(size).lstm.projection_dim,
                "hidden_size": 200,
                "bidirectional": True,
            },
        },
        "data_loader": {"batch_size": 1},
        "trainer": {"type": "no_op"},
    }
    train_model(Params(config), str(folder / "run"))
    return folder / "run" / "model.tar.gz"


def predict(prefix: str, archive: Path, batches: list[Sentences]) -> dict[str, Any]:
    """
    The seconds from words to predictions for all sentences, a first batch before them not counted,
    and the probabilities that this first batch got.
    """
    from allennlp.data import Token
    from allennlp.models import load_archive
    from allennlp.predictors import Predictor

    if not prefix:
        importlib.import_module("elmo_plugin.dropin")
    loaded = load_archive(archive)
    predictor = Predictor(loaded.model.eval(), loaded.dataset_reader)

    def predict_batch(batch: Sentences) -> list[dict[str, Any]]:
        words = ([Token(word) for word in sentence] for sentence in batch)
        instances = [loaded.dataset_reader.text_to_instance(tokens) for tokens in words]
        return predictor.predict_batch_instance(instances)

    first = predict_batch(batches[0])
    probabilities = [word for output in first for word in output["class_probabilities"]]
    for module in loaded.model.modules():
        if hasattr(module, "clear_word_cache"):  # ours: it knows the words of the first batch
            module.clear_word_cache()
    return {
        "seconds": seconds(lambda: list(map(predict_batch, batches))),
        "probabilities": probabilities,
    }


def compare(args: argparse.Namespace, archive: Path, tokens: int) -> dict[str, Any]:
    options = passed_on(args, "size", "batch_size", "threads", "sentences", "text")
    run = partial(in_fresh_process, __file__, *options, "--archive", archive)
    results = {
        prefix: [run(f"--alone={prefix}") for _ in range(args.rounds)] for prefix in ("peer_", "")
    }
    times = {
        prefix: [result["seconds"] for result in several] for prefix, several in results.items()
    }
    expected, actual = (torch.tensor(several[0]["probabilities"]) for several in results.values())
    return {
        "tokens": tokens,
        **rates(times, tokens),
        "max_difference": (actual - expected).abs().max().item(),
    }


if __name__ == "__main__":
    main()
