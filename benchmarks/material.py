"""Material of the benchmarks: models of the published sizes, and text."""

import itertools
from pathlib import Path

import torch

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.io.hdf5_weights import write_weights

REPOSITORY = Path(__file__).resolve().parents[1]
PROSE = REPOSITORY.parent / "shared" / "data" / "lm" / "heldout-dev.txt"
EXAMPLE = REPOSITORY / "experiments" / "data" / "ner" / "train.txt"

FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]
# Cells, projection, highway layers.
RANDOM_SIZES = {"small": (1024, 128, 1), "original": (4096, 512, 2)}
SIZES = ["tiny", *RANDOM_SIZES]

Sentences = list[list[str]]


def write_model(size: str, folder: Path) -> tuple[Path, Path]:
    """Writes options and weights in the published layout, of `tiny` or random ones of the size."""
    torch.manual_seed(0)
    bilm = BiLm.from_pretrained("tiny") if size == "tiny" else BiLm(options_of(size))
    options, weights = model_files(folder)
    bilm.options.to_file(options)
    write_weights(weights, bilm.state_dict(), bilm.options)
    return options, weights


def model_files(folder: Path) -> tuple[Path, Path]:
    return folder / "options.json", folder / "weights.hdf5"


def options_of(size: str) -> BiLmOptions:
    return (
        BiLm.from_pretrained("tiny").options
        if size == "tiny"
        else random_options(*RANDOM_SIZES[size])
    )


def random_options(dim: int, projection_dim: int, n_highway: int) -> BiLmOptions:
    lstm = {
        "dim": dim,
        "projection_dim": projection_dim,
        "n_layers": 2,
        "use_skip_connections": True,
    }
    char_cnn = {
        "filters": FILTERS,
        "n_highway": n_highway,
        "activation": "relu",
        "embedding": {"dim": 16},
    }
    return BiLmOptions.from_dict(
        {"lstm": {**lstm, "cell_clip": 3, "proj_clip": 3}, "char_cnn": char_cnn}
    )


def read_sentences(path: Path | None = None) -> Sentences:
    """The words of each line of `path`; by default of the held-out prose next to the repository or,
    without it, of the example for NER."""
    path = path or (PROSE if PROSE.exists() else EXAMPLE)
    text = path.read_text(encoding="utf-8")
    if path != EXAMPLE:
        return [line.split() for line in text.splitlines() if line.strip()]
    blocks = [block.splitlines() for block in text.split("\n\n") if block.strip()]
    sentences = [[line.split()[0] for line in block] for block in blocks]
    return [sentence for sentence in sentences if sentence != ["-DOCSTART-"]]


def cut(sentences: Sentences, words: int) -> Sentences:
    """The same words in order, in sentences of exactly this many; a shorter rest is left out."""
    text = list(itertools.chain.from_iterable(sentences))
    return [text[start : start + words] for start in range(0, len(text) - words + 1, words)]


def in_batches(sentences: Sentences, size: int) -> list[Sentences]:
    return [sentences[start : start + size] for start in range(0, len(sentences), size)]
