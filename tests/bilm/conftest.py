"""Small biLMs for the tests of this folder."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmOptions, sentences_to_character_ids
from tests.small_bilm import small_options

BiLmMaker = Callable[..., BiLm]


def ids_of(*sentences: str) -> torch.Tensor:
    """Returns the character ids of sentences whose words are separated by spaces."""
    return torch.from_numpy(
        sentences_to_character_ids([sentence.split() for sentence in sentences])
    )


@pytest.fixture
def make_bilm() -> BiLmMaker:
    """Makes a random biLM, with weights and biases large enough that every part of it matters."""

    def make(char_cnn: dict[str, Any] | None = None, lstm: dict[str, Any] | None = None) -> BiLm:
        torch.manual_seed(5)
        bilm = BiLm(BiLmOptions.from_dict(small_options(char_cnn, lstm))).eval()
        with torch.no_grad():
            for name, parameter in bilm.named_parameters():
                parameter.mul_(2.0)
                if name.endswith("bias"):
                    parameter.add_(torch.randn_like(parameter))
        return bilm

    return make
