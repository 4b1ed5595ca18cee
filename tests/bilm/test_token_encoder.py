import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.bilm import CharCnnOptions
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.token_encoder import Highway, TokenEncoder


def _encoder(activation: str = "relu", n_highway: int = 2) -> TokenEncoder:
    torch.manual_seed(3)
    options = CharCnnOptions(
        ((1, 3), (2, 4), (7, 5)), embedding_dim=4, n_highway=n_highway, activation=activation
    )
    encoder = TokenEncoder(options, projection_dim=6)
    for bias in (parameter for name, parameter in encoder.named_parameters() if name.endswith("bias")):
        nn.init.normal_(bias)
    return encoder


def _by_the_book(encoder: TokenEncoder, word_ids: Tensor, activation: str) -> Tensor:
    """One word in float64, written from the formulas, over all character slots."""
    weights = {name: tensor.double() for name, tensor in encoder.state_dict().items()}
    characters = weights["character_embedding.weight"][word_ids.long()]
    features = []
    for i in range(len(encoder.convolutions)):
        kernel, bias = weights[f"convolutions.{i}.weight"], weights[f"convolutions.{i}.bias"]
        width = kernel.size(2)
        windows = [characters[at : at + width] for at in range(len(characters) - width + 1)]
        values = torch.stack([torch.einsum("wd,ndw->n", window, kernel) + bias for window in windows])
        features.append(getattr(torch, activation)(values.max(dim=0).values))
    vector = torch.cat(features)
    for k in range(len(encoder.highways)):
        layer = {name: weights[f"highways.{k}.{name}"] for name in _HIGHWAY}
        gate = torch.sigmoid(layer["carry.weight"] @ vector + layer["carry.bias"])
        transformed = torch.relu(layer["transform.weight"] @ vector + layer["transform.bias"])
        vector = gate * transformed + (1 - gate) * vector
    return weights["projection.weight"] @ vector + weights["projection.bias"]


_HIGHWAY = ("carry.weight", "carry.bias", "transform.weight", "transform.bias")


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("n_highway", [0, 1, 2])
def test_each_word_has_the_vector_of_the_formulas(activation: str, n_highway: int) -> None:
    encoder = _encoder(activation, n_highway)
    words = ["a", "Wörter", "", "x" * 60, "<S>"]
    ids = torch.from_numpy(sentences_to_character_ids([words]))
    vectors = encoder(ids)[0]
    for row, vector in zip(ids[0], vectors, strict=True):
        torch.testing.assert_close(
            vector.double(), _by_the_book(encoder, row, activation), atol=1e-5, rtol=1e-5
        )


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(max_size=55), min_size=1, max_size=8))
def test_a_word_has_the_same_vector_in_any_company(words: list[str]) -> None:
    encoder = _encoder()
    ids = torch.from_numpy(sentences_to_character_ids([words]))
    together = encoder(ids)[0]
    for position in range(len(words)):
        torch.testing.assert_close(encoder(ids[:, position])[0], together[position], atol=1e-6, rtol=1e-5)


def test_each_distinct_word_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = _encoder()
    encoded = []
    monkeypatch.setattr(
        encoder,
        "encode_types",
        lambda ids: encoded.append(len(ids)) or TokenEncoder.encode_types(encoder, ids),
    )
    encoder(torch.from_numpy(sentences_to_character_ids([["to", "be", "or", "not", "to", "be"]])))
    assert encoded == [4]


def test_no_words_give_no_vectors() -> None:
    assert _encoder()(torch.zeros(0, 3, 50, dtype=torch.long)).shape == (0, 3, 6)


def test_a_highway_layer_with_a_closed_gate_carries_its_input() -> None:
    highway = Highway(4)
    nn.init.constant_(highway.carry.bias, -100.0)
    inputs = torch.randn(3, 4)
    torch.testing.assert_close(highway(inputs), inputs)
