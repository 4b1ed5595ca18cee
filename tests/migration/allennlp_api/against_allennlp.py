"""What several tests need that hold `elmo_plugin.Elmo` against AllenNLP's."""

from typing import Any

import torch
from torch import nn

SENTENCES = [
    ["The", "play", "ended", "."],
    ["Wörterbuch"],
    ["A", "long", "play", "by", "a", "child"],
    [],
]
WORDS = [
    "@@PADDING@@",
    "@@UNKNOWN@@",
    *dict.fromkeys(word for words in SENTENCES for word in words),
]


def assert_same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """All but what AllenNLP leaves at padding."""
    assert torch.equal(actual["mask"], expected["mask"])
    ours, theirs = actual["elmo_representations"], expected["elmo_representations"]
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        torch.testing.assert_close(one[actual["mask"]], other[actual["mask"]], atol=1e-5, rtol=0)
        assert (one[~actual["mask"]] == 0).all()


def different_mixes(*modules: nn.Module) -> None:
    """Gives the same values to all modules' mixing weights, others to each mix."""
    for module in modules:
        generator = torch.Generator().manual_seed(5)
        for name, parameter in module.named_parameters():
            if "scalar_mix_" in name and parameter.requires_grad:
                parameter.data.normal_(generator=generator)
