"""Embedding on a device: long sequences, waits and numbers."""

from collections.abc import Callable

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, sentences_to_character_ids
from tests.close import assert_near
from tests.cuda.language_model import medium_bilm
from tests.cuda.waits import counted_waits

BATCHES = [
    [sentence.split() for sentence in batch]
    for batch in (
        ("the cat sat on the mat .", "a dog ran", "the cat sat on the mat ."),
        ("dogs sat .", "why did the cat run away ?", "a dog and a cat ran away"),
    )
]
MEGABYTE = 10**6


def _frozen(device: str) -> BiLm:
    return medium_bilm().to(device).requires_grad_(False)


def _ids(sentences: list[list[str]], device: str) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids(sentences)).to(device)


def test_a_long_sequence_needs_bounded_memory_and_keeps_its_vectors(device: str) -> None:
    """Each direction has read nothing else at the end that it begins with."""
    words, near = (20_000 if device == "cuda" else 1_000), 30
    text = [f"word{number % 700}" for number in range(words)]
    bilm = _frozen(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    (layers,) = bilm.embed([text])
    if device == "cuda":
        taken = torch.cuda.max_memory_allocated()
        assert taken < 8 * layers.numel() * layers.element_size() + 100 * MEGABYTE
    assert layers.shape == (3, words, 64) and bool(layers.isfinite().all())
    first, last = _frozen("cpu").double().embed([text[:near], text[-near:]])
    assert_near(layers[:, :near, :32].cpu(), first[:, :, :32])
    assert_near(layers[:, -near:, 32:].cpu(), last[:, :, 32:])


def test_synchronizations_do_not_grow_with_the_length_of_sentences(device: str) -> None:
    bilm = _frozen(device)
    found = []
    for repeated in (1, 1, 9):
        ids = _ids([sentence * repeated for sentence in BATCHES[1]], device)
        with counted_waits(device) as waits:
            bilm(ids)
        found.append(waits)
    assert len(found[1]) == len(found[2]), found


def test_tf32_is_used_for_embedding_where_it_is_allowed(
    device: str, allow_tf32: Callable[[bool], None]
) -> None:
    layers = []
    for is_allowed in (False, True):
        allow_tf32(is_allowed)
        layers.append(_frozen(device).embed([BATCHES[0][0]])[0].cpu())
    if device == "cuda":
        assert torch.equal(*layers) == (torch.cuda.get_device_capability() < (8, 0))
    torch.testing.assert_close(*layers, atol=5e-3 * layers[0].abs().max().item(), rtol=0)
