"""Tokens per second of embedding, next to AllenNLP's `Elmo`, in each kind of product."""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from arithmetic import text_operations
from cards import KINDS, memory_of, peaks, products, profile, shares, take_turns
from embed import Subject, load
from material import Sentences, cut, options_of, read_sentences, write_model
from peers import why_not

WORDS = 20  # of a sentence in batches of one size


def measure(device: str, small: bool, size: str) -> Iterator[dict[str, Any]]:
    size = "tiny" if small else size
    with tempfile.TemporaryDirectory() as folder:
        write_model(size, Path(folder))
        ours = {kind: load("ours", Path(folder), KINDS[kind][1], device) for kind in kinds_here(device)}
        left_out = why_not("allennlp.modules.elmo")
        peer = None if left_out else load("peer", Path(folder), "float32", device)
        if peer is not None:
            some = texts(small)["1"]
            with products("float32"):
                right = peer.embed(some)  # once: its state is zero before its first batch alone
            for kind, subject in ours.items():
                with products(kind):
                    difference = (subject.embed(some) - right).abs().max().item()
                yield {"size": size, "products": kind, "max_difference_from_peer": difference}
        for shape, sentences in texts(small).items():
            at_once = {"1": 1, "64x20": 64, "corpus": len(sentences)}[shape]
            ours_of_shape = in_batches(sentences, at_once)
            # The peer's fastest: sentences of similar length, in batches that fit its memory.
            peers = in_batches(sorted(sentences, key=len), min(at_once, 256))
            for kind, subject in ours.items():
                row: dict[str, Any] = {"size": size, "batch": shape, "products": kind}
                row |= figures(subject, peer, ours_of_shape, peers, kind, device, 1 if small else 3)
                operations = text_operations(options_of(size), sentences)
                tokens = sum(map(len, sentences))
                done = row["tokens_per_second"] * operations / tokens
                row |= {"operations_per_token": operations / tokens} | shares(done, peaks(kind, device))
                yield row | ({"peer_left_out": left_out} if left_out else {})


def kinds_here(device: str) -> list[str]:
    return list(KINDS) if device == "cuda" else ["float32"]


def texts(small: bool) -> dict[str, Sentences]:
    sentences = read_sentences()
    equal = cut(sentences, WORDS)
    if small:
        return {"1": equal[:3], "64x20": equal[:64], "corpus": sentences[:50]}
    return {"1": equal[:64], "64x20": equal[: 64 * 8], "corpus": sentences[:3000]}


def in_batches(sentences: Sentences, size: int) -> list[Sentences]:
    return [sentences[start : start + size] for start in range(0, len(sentences), size)]


def figures(
    subject: Subject,
    peer: Subject | None,
    batches: list[Sentences],
    peer_batches: list[Sentences],
    kind: str,
    device: str,
    rounds: int,
) -> dict[str, Any]:
    """The figures of ours with new words, ours with known words, the peer, and the peer in float32."""
    works: dict[str, Callable[[], object]] = {
        "": partial(run, subject, batches, kind, is_known=False),
        "known_": partial(run, subject, batches, kind, is_known=True),
    }
    if peer is not None:
        works["peer_"] = partial(run, peer, peer_batches, kind, is_known=True)
        if kind != "float32":
            works["float32_peer_"] = partial(run, peer, peer_batches, "float32", is_known=True)
    times = take_turns(works, rounds, device)
    tokens = sum(len(sentence) for batch in batches for sentence in batch)
    found: dict[str, Any] = {
        f"{name}tokens_per_second": tokens / statistics.median(each) for name, each in times.items()
    }
    for name in ("peer_", "float32_peer_"):
        if name in times:
            pairs = zip(times[name], times[""], strict=True)
            found[f"ratio_to_{name}".rstrip("_")] = statistics.median(one / other for one, other in pairs)
    found["memory_mb"] = memory_of(works[""], device)
    found["profile"] = profile(partial(run, subject, batches[:2], kind, is_known=False), device)
    return found


def run(subject: Subject, batches: list[Sentences], kind: str, is_known: bool) -> None:
    if not is_known:
        subject.start_afresh()
    with products(kind), torch.no_grad():
        for batch in batches:
            subject.embed(batch)
