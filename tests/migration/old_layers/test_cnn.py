"""The CNN of AllenNLP 0.x against its formula, window by window."""

import pytest
import torch
from allennlp.common import Params
from allennlp.modules import Seq2VecEncoder
from allennlp.modules.seq2vec_encoders import CnnEncoder
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import elmo_plugin.register  # noqa: F401
from elmo_plugin.migration.old_layers.cnn import OldCnnEncoder


def make(seed: int, **options: object) -> OldCnnEncoder:
    torch.manual_seed(seed)
    params = {"type": "old_cnn", "embedding_dim": 3, "num_filters": 2, **options}
    encoder = Seq2VecEncoder.from_params(Params(params))
    assert isinstance(encoder, OldCnnEncoder)
    return encoder


def maximum_over_all_windows(tokens: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula, for the tokens of one text: zeros stand at padding."""
    size = weight.size(2)
    values = []
    for start in range(len(tokens) - size + 1):
        window = tokens[start : start + size]  # Shape: (size, dim)
        values.append(torch.relu(torch.einsum("td,fdt->f", window, weight) + bias))
    return torch.stack(values).amax(dim=0)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(0, 9))
def test_each_filter_takes_its_maximum_over_all_windows_of_padded_text(
    lengths: list[int], seed: int
) -> None:
    encoder = make(seed, ngram_filter_sizes=[2, 3])
    longest = max(3, *lengths)
    tokens = torch.randn(len(lengths), longest, 3)
    mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
    vectors = encoder(tokens, mask)
    for row, length in enumerate(lengths):
        padded = tokens[row].clone()
        padded[length:] = 0
        expected = []
        for layer in (encoder.conv_layer_0, encoder.conv_layer_1):
            expected.append(maximum_over_all_windows(padded, layer.weight, layer.bias))
        torch.testing.assert_close(vectors[row], torch.cat(expected))


@pytest.mark.parametrize("options", [{}, {"output_dim": 5}, {"conv_layer_activation": "tanh"}])
def test_without_padding_the_cnn_equals_allennlps_with_the_same_parameter_names(
    options: dict[str, object],
) -> None:
    old = make(0, ngram_filter_sizes=[2, 3], **options)
    params = {"embedding_dim": 3, "num_filters": 2, "ngram_filter_sizes": [2, 3], **options}
    new = CnnEncoder.from_params(Params(params))
    new.load_state_dict(old.state_dict())
    tokens = torch.randn(4, 6, 3)
    mask = torch.ones(4, 6, dtype=torch.bool)
    torch.testing.assert_close(old(tokens, mask), new(tokens, mask))


def test_the_maximum_may_come_from_padding() -> None:
    encoder = make(0, ngram_filter_sizes=[1])
    with torch.no_grad():
        encoder.conv_layer_0.weight.fill_(-1.0)
        encoder.conv_layer_0.bias.fill_(0.5)
    tokens = torch.ones(1, 2, 3)
    alone, padded = torch.tensor([[True, True]]), torch.tensor([[True, False]])
    assert encoder(tokens, alone).tolist() == [[0.0, 0.0]]
    assert encoder(tokens, padded).tolist() == [[0.5, 0.5]]  # the bias, where AllenNLP 2 has 0
