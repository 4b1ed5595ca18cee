"""The activations of boundaries are those of the language models run over them and the words in one go."""

from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_plugin import batch_to_ids
from elmo_plugin.allennlp_api.boundaries import with_boundaries
from elmo_plugin.bilm import BiLm, BiLmOptions
from tests.allennlp_api.against_allennlp import SENTENCES
from tests.small_bilm import small_options


def whole_sequence(bilm: BiLm, ids: Tensor) -> Tensor:
    """One sentence, its boundaries as words: shape (num_layers, words + 2, output_dim)."""
    begin, end = bilm.boundaries
    vectors = bilm.token_encoder(torch.stack([begin, *ids, end]))
    steps = [1] * len(vectors)
    forward, _ = bilm.forward_lm(vectors, steps)
    backward, _ = bilm.backward_lm(vectors.flip(0), steps)
    directions = [vectors, *forward], [vectors, *(layer.flip(0) for layer in backward)]
    return torch.cat([torch.stack(layers) for layers in directions], dim=-1)


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("lstm", [{}, {"n_layers": 3, "cell_clip": None, "proj_clip": 0.1}], ids=str)
def test_every_sentence_stands_between_its_boundaries(skip: bool, lstm: dict[str, Any]) -> None:
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(small_options(lstm={**lstm, "use_skip_connections": skip}))).eval()
    ids = batch_to_ids(SENTENCES)
    with torch.no_grad():
        layers, mask = with_boundaries(bilm, bilm(ids), before=None)
        for row, words in enumerate(SENTENCES):
            length = len(words) + 2
            expected = whole_sequence(bilm, ids[row, : len(words)].int())
            torch.testing.assert_close(layers[:, row, :length], expected, atol=1e-5, rtol=0)
            assert (layers[:, row, length:] == 0).all()
            assert mask[row].tolist() == [True] * length + [False] * (8 - length)
