"""Small token encoders, and their vectors written from the formulas."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmOptions, CharCnnOptions, LstmOptions, get_precision
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.token_encoder import TokenEncoder
from tests.bilm.paths import ComputePath, skip_if_not_here
from tests.close import assert_near


def small_encoder(
    activation: str = "relu", n_highway: int = 2, word_cache_size: int = 100
) -> TokenEncoder:
    """Makes an encoder that is trained."""
    torch.manual_seed(3)
    encoder = TokenEncoder(_options(activation, n_highway), 6)
    encoder.word_cache_size = word_cache_size
    for bias in (
        parameter for name, parameter in encoder.named_parameters() if name.endswith("bias")
    ):
        nn.init.normal_(bias)
    return encoder


def bilm_with_encoder(precision: str = "float32", word_cache_size: int = 100) -> BiLm:
    """Makes a frozen biLM with such an encoder."""
    bilm = BiLm(
        BiLmOptions(_options("relu", 2), LstmOptions(dim=3, projection_dim=6)), precision=precision
    )
    bilm.token_encoder = small_encoder(word_cache_size=word_cache_size)
    return bilm.eval().requires_grad_(False)


def encode(bilm: BiLm, words: list[str]) -> Tensor:
    """
    Returns the token vectors of a biLM for some words, shape (words, dim), as the biLM gets them.
    """
    return bilm.token_encoder(ids_of(words), get_precision(bilm.precision), bilm.derived_values())


def ids_of(words: list[str]) -> Tensor:
    return torch.from_numpy(sentences_to_character_ids([words]))[0]


def check_vectors(bilm: BiLm, words: list[str], precision: str = "float32") -> None:
    """Compares the token vectors of a biLM with those of its weights, as they are now."""
    expected = torch.stack([by_the_book(bilm.token_encoder, row, "relu") for row in ids_of(words)])
    vectors = encode(bilm, words)
    if precision == "float32":
        assert_near(vectors, expected)
    else:
        torch.testing.assert_close(vectors.double(), expected, atol=0.2, rtol=0.2)


def skip_where_missing(precision: str) -> None:
    skip_if_not_here(ComputePath("token encoder", precision, "cpu", 0.0))


def by_the_book(
    encoder: TokenEncoder,
    word_ids: Tensor,
    activation: str,
    weights: dict[str, Tensor] | None = None,
) -> Tensor:
    """One word in float64, written from the formulas, over all character slots."""
    weights = weights or {name: tensor.double() for name, tensor in encoder.state_dict().items()}
    characters = weights["character_embedding.weight"][word_ids.long()]
    features = []
    for i in range(len(encoder.convolutions)):
        kernel, bias = weights[f"convolutions.{i}.weight"], weights[f"convolutions.{i}.bias"]
        width = kernel.size(2)
        windows = [characters[at : at + width] for at in range(len(characters) - width + 1)]
        values = torch.stack(
            [torch.einsum("wd,ndw->n", window, kernel) + bias for window in windows]
        )
        features.append(getattr(torch, activation)(values.max(dim=0).values))
    vector = torch.cat(features)
    for k in range(len(encoder.highways)):
        layer = {name: weights[f"highways.{k}.{name}"] for name in _HIGHWAY}
        gate = torch.sigmoid(layer["carry.weight"] @ vector + layer["carry.bias"])
        transformed = torch.relu(layer["transform.weight"] @ vector + layer["transform.bias"])
        vector = gate * transformed + (1 - gate) * vector
    return weights["projection.weight"] @ vector + weights["projection.bias"]


def _options(activation: str, n_highway: int) -> CharCnnOptions:
    filters = ((1, 3), (2, 4), (7, 5))
    return CharCnnOptions(filters, embedding_dim=4, n_highway=n_highway, activation=activation)


_HIGHWAY = ("carry.weight", "carry.bias", "transform.weight", "transform.bias")
