"""A biLM with its softmax, as `BiLmLanguageModel` puts them together, but without AllenNLP."""

from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmOptions, LstmState, VocabularySoftmax, pack
from tests.small_bilm import small_options

WORDS = 50
SIZES = {
    "lstm": {"projection_dim": 32, "dim": 64},
    "char_cnn": {"filters": [[1, 16], [2, 16], [4, 32]], "embedding": {"dim": 8}},
}


class Window(NamedTuple):
    """
    character_ids: (types, characters)
    types: (directions, batch, time), which of them stands where
    targets: of the same shape, numbers of words
    negatives, tries: a sample for the softmax
    """

    character_ids: Tensor
    types: Tensor
    targets: Tensor
    negatives: Tensor
    tries: Tensor

    def to(self, device: str, dtype: torch.dtype) -> "Window":
        return Window(*(part.to(device) for part in self[:4]), self.tries.to(device, dtype))


class LanguageModel(nn.Module):
    """Carries its state from window to window, without gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.bilm = medium_bilm()
        self.softmax = VocabularySoftmax(WORDS, SIZES["lstm"]["projection_dim"])
        self.state: LstmState | None = None

    def forward(self, window: Window, sampled: bool = True) -> Tensor:
        """The mean loss of all targets."""
        batch, steps = window.types.shape[1:]
        output = self.bilm.forward_packed(
            window.character_ids,
            window.types.transpose(1, 2).flatten(1).unbind(),
            pack(torch.full((batch,), steps), window.types.device),
            self.bilm.forward_settings(keep_state=True),
            self.state,
        )
        self.state = output.state.detach()
        hidden = torch.cat(output.layers[-1])
        targets = window.targets.transpose(1, 2).flatten()
        if not sampled:
            return self.softmax(hidden, targets)[0]
        drawn = window.negatives, window.tries
        with mock.patch("elmo_plugin.bilm.softmax.sample_log_uniform", return_value=drawn):
            return self.softmax.sampled(hidden, targets, len(window.negatives))[0]


def medium_bilm(seed: int = 3, **lstm: Any) -> BiLm:
    """With products large enough that a GPU computes them as it does large ones."""
    torch.manual_seed(seed)
    bilm = BiLm(
        BiLmOptions.from_dict(small_options(SIZES["char_cnn"], {**SIZES["lstm"], **lstm}))
    ).eval()
    with torch.no_grad():
        for name, parameter in bilm.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.3)
            else:
                parameter.mul_(2)
        bilm.token_encoder.character_embedding.weight[0] = 0
    return bilm


def random_windows(count: int, batch: int, steps: int, seed: int = 4) -> list[Window]:
    generator = torch.Generator().manual_seed(seed)

    def draw(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=generator)

    windows = []
    for _ in range(count):
        character_ids = torch.full((20, 50), 261)
        character_ids[:, :7] = draw(1, 260, 20, 7)
        windows.append(
            Window(
                character_ids,
                draw(0, 20, 2, batch, steps),
                draw(0, WORDS, 2, batch, steps),
                torch.randperm(WORDS, generator=generator)[:12],
                torch.tensor(15.0, dtype=torch.float64),
            )
        )
    return windows
