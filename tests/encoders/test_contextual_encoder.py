"""The contextual encoder: how its parts come together, and where ELMo is put."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules import Embedding, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement
from elmo_plugin.encoders.bidirectional import VariationalBiLstm
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from tests.close import assert_near
from tests.small_bilm import small_options, write_pair

WORD_DIM, ELMO_DIM, CELLS = 6, 12, 3
BILSTM = Lazy(VariationalBiLstm, hidden_sizes=[CELLS])


@pytest.fixture
def bilm_files(tmp_path: Path) -> dict[str, str]:
    torch.manual_seed(0)
    return write_pair(BiLm(BiLmOptions.from_dict(small_options())), tmp_path)


def embedder() -> TextFieldEmbedder:
    return BasicTextFieldEmbedder({"tokens": Embedding(WORD_DIM, 10)})


def elmo_at(bilm_files: dict[str, str], *placements: str) -> ContextualElmo:
    return ContextualElmo(bilm_files, **{name: ElmoPlacement(dropout=0) for name in placements})


def text(elmo: bool = True) -> TextFieldTensors:
    """Two sentences, of three words and of one."""
    words = torch.tensor([[2, 3, 4], [5, 0, 0]])
    characters = words.unsqueeze(-1).expand(-1, -1, 50).short()
    return {"tokens": {"tokens": words}} | ({"elmo": {"elmo_tokens": characters}} if elmo else {})


def elmo_vectors(encoder: ContextualEncoder, placement: str, tokens: TextFieldTensors) -> Tensor:
    layers, _ = encoder.elmo.run_bilm(tokens["elmo"]["elmo_tokens"])
    return encoder.elmo.mixes[placement](layers)


def test_text_without_any_embedder_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="nothing embeds the words"):
        ContextualEncoder(BasicTextFieldEmbedder({}), BILSTM)


MASK = torch.tensor([[True, True, True], [True, False, False]])


def test_input_elmo_is_concatenated_before_the_words_and_encoded(
    bilm_files: dict[str, str],
) -> None:
    encoder = ContextualEncoder(embedder(), BILSTM, elmo=elmo_at(bilm_files, "input"))
    encoded, embedded, mask = encoder.encode_and_embed(text())
    assert (mask == MASK).all()
    assert encoder.encoder.get_input_dim() == encoder.get_embedding_dim() == WORD_DIM + ELMO_DIM
    words = encoder.text_field_embedder(text(elmo=False))
    torch.testing.assert_close(
        embedded, torch.cat([elmo_vectors(encoder, "input", text()), words], dim=-1)
    )
    torch.testing.assert_close(encoded, encoder.encoder(embedded, MASK))
    assert encoded.shape[-1] == encoder.get_output_dim() == 2 * CELLS


@pytest.mark.parametrize("others", [[], ["input"]], ids=str)
def test_output_elmo_is_concatenated_after_the_encoding(
    bilm_files: dict[str, str], others: list[str]
) -> None:
    torch.manual_seed(0)
    plain = ContextualEncoder(
        embedder(), BILSTM, elmo=elmo_at(bilm_files, *others) if others else None
    )
    torch.manual_seed(0)
    encoder = ContextualEncoder(embedder(), BILSTM, elmo=elmo_at(bilm_files, "output", *others))
    encoded, _ = encoder(text())
    assert encoded.shape[-1] == encoder.get_output_dim() == 2 * CELLS + ELMO_DIM
    torch.testing.assert_close(encoded[..., : 2 * CELLS], plain(text(elmo=bool(others)))[0])
    torch.testing.assert_close(encoded[..., 2 * CELLS :], elmo_vectors(encoder, "output", text()))


def test_elmo_without_its_indexer_is_an_error_that_names_it(bilm_files: dict[str, str]) -> None:
    encoder = ContextualEncoder(embedder(), BILSTM, elmo=elmo_at(bilm_files, "output"))
    with pytest.raises(
        ConfigurationError, match=r"indexer 'elmo' of type 'elmo', but .* has tokens"
    ):
        encoder(text(elmo=False))


def with_both_placements(bilm_files: dict[str, str]) -> tuple[ContextualEncoder, BiLm]:
    elmo = elmo_at(bilm_files, "input", "output")
    return ContextualEncoder(embedder(), BILSTM, elmo=elmo).eval(), elmo.bilm


def text_of_other_words() -> TextFieldTensors:
    """Three sentences, the longest of two words."""
    words = torch.tensor([[6, 7], [8, 0], [9, 3]])
    characters = torch.where(words[:, :, None] > 0, words[:, :, None] + torch.arange(50), 0)
    return {"tokens": {"tokens": words}, "elmo": {"elmo_tokens": characters.short()}}


def test_two_placements_and_two_text_fields_run_the_bilm_once(bilm_files: dict[str, str]) -> None:
    encoder, bilm = with_both_placements(bilm_files)
    runs: list[None] = []
    bilm.register_forward_hook(lambda *_: runs.append(None))
    texts = [text(), text_of_other_words()]
    for batch, order in enumerate((texts, texts[::-1]), start=1):
        encoder.encode_together(order)
        assert len(runs) == batch


@pytest.fixture
def encoder_with_features(bilm_files: dict[str, str]) -> ContextualEncoder:
    """With ELMo at both placements, and features of two numbers."""
    elmo = elmo_at(bilm_files, "input", "output")
    return ContextualEncoder(embedder(), BILSTM, elmo=elmo, feature_dim=2).eval()


def random_text(*shape: int) -> TextFieldTensors:
    """Texts of random words without padding."""
    words = torch.randint(2, 10, shape)
    characters = words.unsqueeze(-1) + torch.arange(50)
    return {"tokens": {"tokens": words}, "elmo": {"elmo_tokens": characters.short()}}


@pytest.mark.parametrize(
    ("lengths", "largest"), [((12, 400), [(3, 12), (3, 400)]), ((12, 40), [(6, 40)])]
)
def test_texts_of_very_different_lengths_are_not_padded_together(
    bilm_files: dict[str, str], lengths: tuple[int, int], largest: list[tuple[int, int]]
) -> None:
    encoder, bilm = with_both_placements(bilm_files)
    shapes: dict[str, list[tuple[int, int]]] = {"bilm": [], "encoder": []}
    bilm.register_forward_hook(
        lambda _, inputs, __: shapes["bilm"].append(tuple(inputs[0].shape[:2]))
    )
    encoder.encoder.register_forward_hook(
        lambda _, inputs, __: shapes["encoder"].append(tuple(inputs[0].shape[:2]))
    )
    texts = [random_text(3, length) for length in lengths]
    together = encoder.encode_together(texts)
    assert shapes == {"bilm": largest, "encoder": largest}
    for (encoded, mask), text_field in zip(together, texts, strict=True):
        alone, alone_mask = encoder(text_field)
        assert mask.equal(alone_mask)
        assert_near(encoded, alone)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 3, 4)], ids=str)
def test_texts_with_wrapping_dimensions_are_encoded_as_if_separate(
    encoder_with_features: ContextualEncoder, shape: tuple[int, ...]
) -> None:
    documents, features = random_text(*shape), torch.randn(*shape, 2)
    for tensors in documents.values():
        for tensor in tensors.values():
            flat = tensor.flatten(0, len(shape) - 2)
            flat[2] = 0  # a document that has fewer sentences
            flat[3, 2:] = 0  # a sentence of two words
    encoded, mask = encoder_with_features(documents, features, num_wrapping_dims=len(shape) - 2)
    assert encoded.shape == (*shape, encoder_with_features.get_output_dim())
    assert mask.equal(documents["tokens"]["tokens"] > 0)
    for place in product(*map(range, shape[:-1])):
        length = int(mask[place].sum())
        assert not encoded[place][length:].any()
        if length:
            sentence = {
                indexer: {name: tensor[place][None, :length] for name, tensor in tensors.items()}
                for indexer, tensors in documents.items()
            }
            alone, _ = encoder_with_features(sentence, features[place][None, :length])
            assert_near(encoded[place][:length], alone[0])


@pytest.mark.parametrize(
    ("feature_dim", "features", "found"),
    [
        (2, None, "none"),
        (2, torch.ones(2, 3), r"\(2, 3\)"),
        (0, torch.ones(2, 3, 1), r"\(2, 3, 1\)"),
    ],
)
def test_features_of_a_wrong_shape_are_an_error(
    feature_dim: int, features: Tensor | None, found: str
) -> None:
    encoder = ContextualEncoder(embedder(), BILSTM, feature_dim=feature_dim)
    with pytest.raises(ConfigurationError, match=rf"shape \(2, 3, {feature_dim}\), got {found}"):
        encoder(text(elmo=False), features)


@pytest.mark.parametrize(
    "encoder",
    [
        {"type": "variational_bilstm", "hidden_sizes": [4, 3]},
        {"type": "lstm", "hidden_size": 4},
        {"type": "pass_through"},
    ],
)
def test_a_configuration_needs_no_derived_sizes(encoder: dict[str, Any]) -> None:
    vocab = Vocabulary()
    vocab.add_token_to_namespace("word")
    params = Params(
        {
            "text_field_embedder": {"token_embedders": {"tokens": {"embedding_dim": WORD_DIM}}},
            "feedforward": {"num_layers": 1, "hidden_dims": 5, "activations": "relu"},
            "encoder": encoder,
        }
    )
    contextual_encoder = ContextualEncoder.from_params(params, vocab=vocab)
    assert isinstance(contextual_encoder.encoder, Seq2SeqEncoder)
    encoded, _ = contextual_encoder({"tokens": {"tokens": torch.tensor([[2, 1]])}})
    assert encoded.shape == (1, 2, contextual_encoder.get_output_dim())
