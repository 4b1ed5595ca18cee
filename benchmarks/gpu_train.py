"""Tokens per second of training a biLM, alone and next to the same network of AllenNLP's parts."""

import gc
import statistics
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from arithmetic import training_operations
from cards import KINDS, memory_of, peaks, products, profile, shares, take_turns
from material import options_of, read_sentences
from peers import why_not
from plain_bilm import PlainBiLm, windows
from train_step import train_step

from elmo_plugin.bilm.characters import PADDING

GRADIENT_NORM = 10.0
WORDS = {"original": 793_471, "small": 793_471, "tiny": 2_000}
BATCH, STEPS, NEGATIVES = 128, 20, 8192  # as the paper's


def measure(device: str, small: bool, size: str) -> Iterator[dict[str, Any]]:
    if small:
        size, batch, negatives, batches = "tiny", 8, 64, 2
    else:
        batch, negatives, batches = BATCH, NEGATIVES, 8
    for streams in (batch,) if small else (batch, 3 * batch):  # the paper's three GPUs had one batch each
        for kind in ("tf32", "bfloat16") if device == "cuda" else ("float32",):
            yield alone(device, size, kind, streams, negatives, batches)
            free_memory(device)
    left_out = why_not("allennlp.modules.elmo_lstm")
    if left_out:
        yield {"size": size, "peer_left_out": left_out}
        return
    for kind in ("tf32", "bfloat16") if device == "cuda" else ("float32",):
        yield beside_peer(device, size, kind, batch, negatives, batches)
        free_memory(device)


def alone(device: str, size: str, kind: str, batch: int, negatives: int, batches: int) -> dict[str, Any]:
    """Our network without AllenNLP's trainer, vocabulary and loader."""
    torch.manual_seed(0)
    words = WORDS[size]
    model = PlainBiLm(size, words, negatives, KINDS[kind][1]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=device == "cuda")
    text = islice(windows(read_sentences(), size, batch, STEPS, words), batches)
    material = [{name: part.to(device) for name, part in each.items()} for each in text]

    def train() -> None:
        for each in material:
            train_step(model, optimizer, each, GRADIENT_NORM)

    tokens = batches * batch * STEPS
    with products(kind):
        memory = memory_of(train, device)
        (taken,) = take_turns({"": train}, 3, device).values()
        where = profile(partial(train_step, model, optimizer, material[0], GRADIENT_NORM), device)
    operations = sum(
        training_operations(
            options_of(size),
            characters=(each["character_ids"] != PADDING).sum(dim=1).tolist(),
            steps=each["types"][0].numel(),
            targets=each["targets"].numel(),
            negatives=negatives,
        )
        for each in material
    )
    rate = tokens / statistics.median(taken)
    return {
        "size": size,
        "products": kind,
        "streams": batch,
        "vocabulary": words,
        "negatives": negatives,
        "tokens_per_second": rate,
        "memory_mb": memory,
        "operations_per_token": operations / tokens,
        **shares(rate * operations / tokens, peaks(kind, device)),
        "hours_of_ten_epochs": 10 * 768_648_884 / rate / 3600,  # of the One Billion Word Benchmark
        "profile": where,
    }


def beside_peer(
    device: str, size: str, kind: str, batch: int, negatives: int, batches: int
) -> dict[str, Any]:
    """`BiLmLanguageModel` and the network of AllenNLP's parts in turn; see train_bilm.py."""
    import train_bilm  # here: it needs AllenNLP

    options = ["--size", size, "--precision", KINDS[kind][1], "--peer-matmul-precision", "medium"]
    options += ["--device", device, "--batch-size", batch, "--negatives", negatives, "--steps", batches]
    options += ["--vocabulary", WORDS[size], "--rounds", 2]
    args = train_bilm.read_arguments(list(map(str, options)))
    with tempfile.TemporaryDirectory() as folder, products(kind):
        figures = train_bilm.speed(args, train_bilm.read_text(args, Path(folder)))
    return {"size": size, "products": kind, "streams": batch, "vocabulary": WORDS[size], **figures}


def free_memory(device: str) -> None:
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
