"""A model with ELMo at several places, and what it makes of two short texts."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, sentences_to_character_ids
from elmo_plugin.embedding import ElmoRepresentations, share_frozen_bilms
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder

PREMISE = torch.from_numpy(sentences_to_character_ids([["The", "play", "ended", "."], ["Play", "!"]]))
HYPOTHESIS = torch.from_numpy(sentences_to_character_ids([["It", "ended"], ["A", "play"]]))


def placements(files: dict[str, str], **options: Any) -> nn.ModuleDict:
    """A model with ELMo at two places, whose owner lets them share."""
    model = nn.ModuleDict({name: ElmoTokenEmbedder(files, **options) for name in ("input", "output")})
    share_frozen_bilms(model)
    return model


def bilms(model: nn.Module) -> list[BiLm]:
    """The biLM of each placement."""
    return [module.bilm for module in model.modules() if isinstance(module, ElmoRepresentations)]


def one_bilm(model: nn.Module) -> BiLm:
    first, second = bilms(model)
    assert first is second
    return first


def count_runs(bilm: BiLm) -> list[None]:
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    return runs


def vectors(model: nn.Module, *fields: Tensor) -> list[Tensor]:
    """Of all fields at the input, then of all fields at the output; dropout is the same every time."""
    torch.manual_seed(0)
    return [model[place](field) for place in ("input", "output") for field in fields]


def assert_same(actual: list[Tensor], expected: list[Tensor]) -> None:
    assert all(torch.equal(*pair) for pair in zip(actual, expected, strict=True))


def separated(model: nn.Module) -> nn.Module:
    """A copy of the model in which nothing is shared."""
    return nn.ModuleDict({name: copy.deepcopy(part) for name, part in model.items()})
