"""`elmo embed` of a corpus on a GPU, and how fast each of its steps is alone: the slowest bounds it."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from embed_file import write_text
from machine import seconds
from material import Sentences, model_files, read_sentences, write_model

from elmo_plugin.bilm import BiLm, sentences_to_character_ids
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.embed_files import EmbedSettings, embed_file


def measure(device: str, small: bool) -> Iterator[dict[str, Any]]:
    words = 2_000 if small else 200_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = "tiny" if small else "original"
        options, weights = map(str, write_model(size, folder))
        text = folder / "text.txt"
        write_text(text, read_sentences(), words)
        sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
        yield {"size": size, "words": words} | steps(folder, sentences, device)
        for layers, precision, workers in (
            ("mean", "float32", 1),
            ("mean", "bfloat16", 1),
            ("mean", "bfloat16", 2),
            ("all", "bfloat16", 1),
        ):
            if device == "cpu" and precision == "bfloat16":
                continue
            settings = EmbedSettings(
                {"options": options, "weights": weights}, layers=layers, precision=precision
            )
            output = folder / "out.hdf5"
            embed = partial(embed_file, text, output, settings, None, workers, [device], show_progress=False)
            taken = seconds(embed, device)
            yield {
                "size": size, "words": words, "layers": layers, "precision": precision, "workers": workers,
                "tokens_per_second": words / taken, "gigabytes": output.stat().st_size / 1e9,
            }  # fmt: skip
            output.unlink()


def steps(folder: Path, sentences: Sentences, device: str) -> dict[str, Any]:
    """Tokens per second of each step, and which is the slowest."""
    bilm = BiLm.from_files(*model_files(folder), precision="bfloat16" if device == "cuda" else "float32")
    bilm.to(device)
    by_length = sorted(sentences, key=len)
    batches = [by_length[start : start + 256] for start in range(0, len(by_length), 256)]
    ids = [torch.from_numpy(sentences_to_character_ids(batch)).to(device) for batch in batches]
    layers = [bilm(each).layers.mean(dim=0) for each in ids[:8]]
    on_host = np.concatenate([each.flatten(0, 1).cpu().numpy() for each in layers])
    tokens = sum(map(len, sentences))
    copied = sum(each.shape[0] * each.shape[1] for each in layers)

    def make_ids() -> None:
        word_to_character_ids.cache_clear()
        for batch in batches:
            sentences_to_character_ids(batch)

    def compute() -> None:
        bilm.clear_word_cache()
        for each in ids:
            bilm(each).layers.mean(dim=0)

    def write() -> None:
        with h5py.File(folder / "rows.hdf5", "w") as file:
            rows = iter(np.array_split(on_host, max(1, len(on_host) // 20)))
            for number, row in enumerate(rows):
                file.create_dataset(str(number), data=row)

    works: dict[str, tuple[Callable[[], object], int]] = {
        "character_ids": (make_ids, tokens),
        "device": (compute, tokens),
        "copy_to_host": (lambda: [each.cpu() for each in layers], copied),
        "hdf5": (write, len(on_host)),
    }
    compute()
    rates = {name: number / seconds(work, device) for name, (work, number) in works.items()}
    return {f"{name}_tokens_per_second": rate for name, rate in rates.items()} | {
        "slowest_step": min(rates, key=lambda name: rates[name])
    }
