"""Measures what precision costs in accuracy: on a biLM's activations, and on trained models that read them.

    python benchmarks/precision.py --json docs/results/precision.json
    python benchmarks/precision.py --archives runs/ner/ner_elmo/1 --data data/ner/dev.txt

Activations are compared with float32, layer by layer: the length of the difference by the length of
the vector, both over all words. An archive is a model that was trained with ELMo in float32; it is evaluated
on the same data in each precision.
"""

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from allennlp.common.util import import_module_and_submodules
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.models.archival import load_archive
from machine import require
from material import SIZES, Sentences, read_sentences, write_model

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.precision import PRECISIONS
from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance

METRIC = "f1-measure-overall"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=SIZES)
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--text", type=Path, help="one tokenized sentence per line")
    parser.add_argument(
        "--archives", nargs="*", type=Path, default=[], help="trained models, or their folders"
    )
    parser.add_argument("--data", type=Path, help="data to evaluate the archives on")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.archives and args.data is None:
        parser.error("--archives needs --data")
    figures: dict[str, Any] = {"command": f"python {shlex.join(sys.argv)}"}
    sentences = read_sentences(args.text)[: args.sentences]
    figures["activations"] = {size: activation_errors(size, sentences) for size in args.sizes}
    import_module_and_submodules("elmo_plugin.plugin")
    figures["scores"] = {archive.name: scores(archive, args.data) for archive in args.archives}
    print(json.dumps(figures, indent=2))
    if args.json:
        write_json(args.json, figures | provenance())


def activation_errors(size: str, sentences: Sentences) -> dict[str, Any]:
    """For each precision the relative error of every layer, and the largest difference of any number."""
    with tempfile.TemporaryDirectory() as folder:
        bilm = BiLm.from_files(*write_model(size, Path(folder)))
    vectors = {}
    for precision in PRECISIONS:
        require(precision, "cpu")
        bilm.precision = precision
        vectors[precision] = torch.cat(bilm.embed(sentences), dim=1)  # Shape: (layers, words, dim)
    exact = vectors.pop("float32")
    return {
        precision: {
            "relative_error_of_layers": [
                round(((layer - true).norm() / true.norm()).item(), 5)
                for layer, true in zip(approximate, exact, strict=True)
            ],
            "largest_difference": round((approximate - exact).abs().max().item(), 4),
        }
        for precision, approximate in vectors.items()
    }


def scores(path: Path, data: Path) -> dict[str, float]:
    """The model's score in per cent, for each precision of the biLMs in it."""
    archive = load_archive(path)
    model = archive.model.eval()
    instances = list(archive.validation_dataset_reader.read(data))
    found = {}
    for precision in PRECISIONS:
        for module in model.modules():
            if isinstance(module, BiLm):
                module.precision = precision
        loader = SimpleDataLoader(instances, batch_size=32, vocab=model.vocab)
        found[precision] = round(100 * SimpleEvaluator()(model, loader)[METRIC], 2)
    return found


if __name__ == "__main__":
    main()
