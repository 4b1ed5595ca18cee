"""Small token encoders, and their vectors written from the formulas."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import CharCnnOptions
from elmo_plugin.bilm.char_cnn.token_encoder import TokenEncoder
from elmo_plugin.bilm.characters import sentences_to_character_ids
from tests.bilm.paths import ComputePath, skip_if_not_here


def small_encoder(
    activation: str = "relu", n_highway: int = 2, precision: str = "float32", type_cache_size: int = 100
) -> TokenEncoder:
    torch.manual_seed(3)
    options = CharCnnOptions(
        ((1, 3), (2, 4), (7, 5)), embedding_dim=4, n_highway=n_highway, activation=activation
    )
    encoder = TokenEncoder(options, 6, precision, type_cache_size)
    for bias in (parameter for name, parameter in encoder.named_parameters() if name.endswith("bias")):
        nn.init.normal_(bias)
    return encoder


def frozen_encoder(precision: str = "float32", type_cache_size: int = 100) -> TokenEncoder:
    return small_encoder(precision=precision, type_cache_size=type_cache_size).requires_grad_(False)


def ids_of(words: list[str]) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids([words]))[0]


def check_vectors(encoder: TokenEncoder, words: list[str], atol: float = 1e-5) -> None:
    """Compares the encoder's vectors with those of its weights, as they are now."""
    ids = ids_of(words)
    expected = torch.stack([by_the_book(encoder, row, "relu") for row in ids])
    torch.testing.assert_close(encoder(ids).double(), expected, atol=atol, rtol=atol)


def skip_where_missing(precision: str) -> None:
    skip_if_not_here(ComputePath("token encoder", precision, "cpu", 0.0))


def by_the_book(
    encoder: TokenEncoder, word_ids: Tensor, activation: str, weights: dict[str, Tensor] | None = None
) -> Tensor:
    """One word in float64, written from the formulas, over all character slots."""
    weights = weights or {name: tensor.double() for name, tensor in encoder.state_dict().items()}
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
