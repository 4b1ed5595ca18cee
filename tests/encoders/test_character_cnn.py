"""The character CNN against loops over words and windows, a padded convolution, and AllenNLP's
encoder.
"""

from collections.abc import Sequence

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import TokenCharactersIndexer
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from allennlp.nn import Activation
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.encoders.character_cnn import CharacterCnn
from tests.conftest import at_most

CHARACTERS, DIM, FILTERS = 7, 3, 4
# Words of 0 to 9 characters; a sentence may have none.
SENTENCES = st.lists(
    st.lists(st.lists(st.integers(1, CHARACTERS - 1), max_size=9), max_size=5),
    min_size=1,
    max_size=3,
)
WIDTHS = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def character_cnn(
    widths: Sequence[int], activation: str = "relu", dropout: float = 0.0
) -> CharacterCnn:
    """In float64; the vector of the number 0, which must not count, is not zero."""
    torch.manual_seed(1)
    embedding = Embedding(DIM, num_embeddings=CHARACTERS)
    function = Activation.by_name(activation)()
    return CharacterCnn(embedding, FILTERS, widths, activation=function, dropout=dropout).double()


def ids(sentences: Sequence[Sequence[Sequence[int]]], further_slots: int = 0) -> Tensor:
    """Shape (batch, time, characters), padded to the longest sentence and the longest word."""
    time = max(map(len, sentences))
    slots = further_slots + max(
        (len(word) for sentence in sentences for word in sentence), default=0
    )
    result = torch.zeros(len(sentences), time, slots, dtype=torch.long)
    for row, sentence in zip(result, sentences, strict=True):
        for slot, word in zip(row, sentence, strict=False):
            slot[: len(word)] = torch.tensor(word, dtype=torch.long)
    return result


def by_padded_convolution(cnn: CharacterCnn, token_characters: Tensor) -> Tensor:
    """The features of each token by itself, as torch computes them, with a gradient."""
    words = nn.functional.pad(token_characters.flatten(0, -2), (0, 10))
    vectors = cnn.embedding(words) * (words != 0)[..., None]
    maxima = [convolution(vectors.transpose(1, 2)).amax(dim=2) for convolution in cnn.convolutions]
    features = cnn.activation(torch.cat(maxima, dim=1)) * (words != 0).any(dim=1)[:, None]
    return features.view(*token_characters.shape[:-1], -1)


def gradients(cnn: CharacterCnn, vectors: Tensor) -> tuple[Tensor, ...]:
    weights = torch.sin(torch.arange(vectors.numel(), dtype=vectors.dtype)).view_as(vectors)
    return torch.autograd.grad((vectors * weights).sum(), list(cnn.parameters()))


@at_most(20)
@given(sentences=SENTENCES.filter(any), widths=WIDTHS, further_slots=st.integers(0, 8))
def test_gradients_equal_a_padded_convolution_of_every_token(
    sentences: list[list[list[int]]], widths: list[int], further_slots: int
) -> None:
    cnn, token_characters = (
        character_cnn(widths, "tanh"),
        ids([*sentences, sentences[0]], further_slots),
    )
    vectors, expected = cnn(token_characters), by_padded_convolution(cnn, token_characters)
    torch.testing.assert_close(vectors, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(
        gradients(cnn, vectors), gradients(cnn, expected), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 0), (2, 0, 4), (0, 3, 4), (2, 3, 4, 5)])
def test_padding_gets_zero_vectors(shape: tuple[int, ...]) -> None:
    cnn = character_cnn([3])
    vectors = cnn(torch.zeros(shape, dtype=torch.long))
    assert vectors.shape == (*shape[:-1], FILTERS)
    assert not vectors.any()
    if vectors.numel() > 0:
        vectors.sum().backward()
    assert not any(
        parameter.grad is not None and parameter.grad.any() for parameter in cnn.parameters()
    )


def test_dropout_hits_character_embeddings_and_is_the_same_for_repeated_words() -> None:
    cnn = character_cnn([1], dropout=0.5)
    with torch.no_grad():
        cnn.embedding.weight.fill_(1.0)
        cnn.convolutions[0].weight.copy_(torch.eye(FILTERS)[:, :DIM, None])
        cnn.convolutions[0].bias.zero_()
    words = [[1 + number // 6, 1 + number % 6] for number in range(36)]
    batch = ids([[*words, *words]])
    vectors = cnn(batch)[0, :, :DIM]
    assert torch.equal(vectors[:36], vectors[36:])
    assert set(vectors.unique().tolist()) == {0.0, 2.0}
    assert (
        0.1 < (vectors == 0).double().mean() < 0.45
    )  # both characters' numbers are lost in a quarter
    cnn.eval()
    assert (cnn(batch)[0, :, :DIM] == 1.0).all()


@pytest.mark.parametrize(("num_filters", "widths"), [(4, []), (4, [3, 0]), (0, [3])])
def test_filters_of_no_character_are_refused(num_filters: int, widths: list[int]) -> None:
    with pytest.raises(ConfigurationError, match="at least one character"):
        CharacterCnn(Embedding(DIM, num_embeddings=CHARACTERS), num_filters, widths)


def test_a_character_cnn_is_made_from_params_and_embeds_lists_of_text_fields() -> None:
    indexer = TokenCharactersIndexer(min_padding_length=1)
    texts = [["A", "play", "by"], ["Play"], ["a", "A"]]
    fields = [TextField([Token(word) for word in text], {"characters": indexer}) for text in texts]
    instances = [
        Instance({"texts": ListField(fields[:2])}),
        Instance({"texts": ListField(fields[2:])}),
    ]
    vocabulary = Vocabulary.from_instances(instances)
    batch = Batch(instances)
    batch.index_instances(vocabulary)
    cnn = {
        "type": "character_cnn",
        "embedding": {"embedding_dim": DIM, "vocab_namespace": "token_characters"},
        "num_filters": FILTERS,
        "widths": [2, 3],
        "activation": "tanh",
        "dropout": 0.2,
    }
    params = Params({"token_embedders": {"characters": cnn}})
    embedder = TextFieldEmbedder.from_params(params, vocab=vocabulary).eval()
    assert embedder.get_output_dim() == 2 * FILTERS
    vectors = embedder(batch.as_tensor_dict()["texts"], num_wrapping_dims=1)
    assert vectors.shape == (2, 2, 3, 2 * FILTERS)
    torch.testing.assert_close(vectors[0, 0, 0], vectors[1, 0, 1])  # "A"
    assert not vectors[1, 1].any()
    assert vectors[0, 1, 0].all()
