"""Tokens per second of `allennlp predict` for an archive with AllenNLP's ELMo, without and with the drop-in.

    python benchmarks/dropin.py --size original --json dropin.json

Processes take turns that load the same archive and predict the same sentences, with AllenNLP alone and with
`elmo_plugin.dropin`; the median round counts. benchmarks/README.md describes how each figure is measured.
"""

import argparse
import importlib
import json
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch
from machine import in_fresh_process, seconds
from material import SIZES, Sentences, model_files, options_of, read_sentences, write_model

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance

# Sentences in a round, and rounds: some minutes at AllenNLP's speed.
EFFORT = {"tiny": (2048, 5), "small": (256, 5), "original": (64, 3)}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    sentences = read_sentences(args.text)[: args.sentences]
    if not sentences:
        raise SystemExit("the text is empty")
    if args.alone:
        print(json.dumps(predict(args.alone, args.archive, sentences, args.batch_size)))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = write_archive(args.size, Path(folder), sentences)
        figures = compare(args, archive, sentences)
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    if args.json:
        write_json(args.json, figures | provenance())


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="tiny", help="all but tiny: random weights")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--sentences", type=int, help="in a round")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--text", type=Path, help="one tokenized sentence per line")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--alone", choices=["peer", "ours"], help=argparse.SUPPRESS)
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
    data.write_text(" ".join(f"{word}###{'AB'[number % 2]}" for number, word in enumerate(sentences[0])))
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


def predict(name: str, archive: Path, sentences: Sentences, batch_size: int) -> dict[str, Any]:
    """
    The seconds from words to predictions for all sentences, a first batch before them not counted, and the
    probabilities that this first batch got.
    """
    from allennlp.data import Token
    from allennlp.models import load_archive
    from allennlp.predictors import Predictor

    if name == "ours":
        importlib.import_module("elmo_plugin.dropin")
    loaded = load_archive(archive)
    predictor = Predictor(loaded.model.eval(), loaded.dataset_reader)

    def predict_batch(batch: Sentences) -> list[dict[str, Any]]:
        words = ([Token(word) for word in sentence] for sentence in batch)
        instances = [loaded.dataset_reader.text_to_instance(tokens) for tokens in words]
        return predictor.predict_batch_instance(instances)

    def predict_all() -> None:
        for start in range(0, len(sentences), batch_size):
            predict_batch(sentences[start : start + batch_size])

    first = predict_batch(sentences[:batch_size])
    probabilities = [word for output in first for word in output["class_probabilities"]]
    if name == "ours":
        from elmo_plugin.bilm import BiLm

        for module in loaded.model.modules():
            if isinstance(module, BiLm):
                module.clear_word_cache()  # and the outputs of the first batch, for its repetition
    return {"seconds": seconds(predict_all), "probabilities": probabilities}


def compare(args: argparse.Namespace, archive: Path, sentences: Sentences) -> dict[str, Any]:
    options = ["--size", args.size, "--batch-size", args.batch_size, "--threads", args.threads]
    options += ["--sentences", args.sentences, *(["--text", args.text] if args.text else [])]
    run = partial(in_fresh_process, __file__, *options, "--archive", archive, "--alone")
    rounds = [(run("peer"), run("ours")) for _ in range(args.rounds)]
    peer, ours = ([result["seconds"] for result in results] for results in zip(*rounds, strict=True))
    ratios = [theirs / mine for theirs, mine in zip(peer, ours, strict=True)]
    expected, actual = (torch.tensor(result["probabilities"]) for result in rounds[0])
    tokens = sum(map(len, sentences))
    return {
        "size": args.size,
        "batch_size": args.batch_size,
        "sentences": len(sentences),
        "tokens": tokens,
        "rounds": args.rounds,
        "threads": args.threads,
        "torch": torch.__version__,
        "tokens_per_second": tokens / statistics.median(ours),
        "peer_tokens_per_second": tokens / statistics.median(peer),
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "max_difference": (actual - expected).abs().max().item(),
    }


if __name__ == "__main__":
    main()
