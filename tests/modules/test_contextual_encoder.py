"""The contextual encoder: how its parts come together, and where ELMo is put."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules import Embedding, Seq2SeqEncoder, TextFieldEmbedder, TokenEmbedder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.weights import write_weights
from elmo_plugin.embedding.token_embedder import ElmoTokenEmbedder
from elmo_plugin.modules.contextual_encoder import ContextualEncoder
from elmo_plugin.modules.variational_bilstm import VariationalBiLstm
from tests.small_bilm import small_options

WORD_DIM, ELMO_DIM, CELLS = 6, 4, 3
BILSTM = Lazy(VariationalBiLstm, hidden_sizes=[CELLS])


class SumOfCharacters(TokenEmbedder):
    """In ELMo's place: each vector is the sum of the word's character ids, `ELMO_DIM` times."""

    def get_output_dim(self) -> int:
        return ELMO_DIM

    def forward(self, elmo_tokens: Tensor) -> Tensor:
        return elmo_tokens.sum(dim=-1, keepdim=True).float().expand(-1, -1, ELMO_DIM)


def embedder(elmo: bool = False) -> TextFieldEmbedder:
    embedders: dict[str, TokenEmbedder] = {"tokens": Embedding(WORD_DIM, 10)}
    return BasicTextFieldEmbedder(embedders | ({"elmo": SumOfCharacters()} if elmo else {}))


def text(elmo: bool = True) -> TextFieldTensors:
    """Two sentences, of three words and of one."""
    words = torch.tensor([[2, 3, 4], [5, 0, 0]])
    characters = words.unsqueeze(-1).expand(-1, -1, 50).short()
    return {"tokens": {"tokens": words}} | ({"elmo": {"elmo_tokens": characters}} if elmo else {})


MASK = torch.tensor([[True, True, True], [True, False, False]])


def test_encodes_what_it_embeds() -> None:
    encoder = ContextualEncoder(embedder(), BILSTM)
    encoded, mask = encoder(text(elmo=False))
    assert (mask == MASK).all()
    assert encoder.get_output_dim() == 2 * CELLS
    embedded = encoder.text_field_embedder(text(elmo=False))
    torch.testing.assert_close(encoded, encoder.encoder(embedded, MASK))


def test_without_an_encoder_the_embedding_is_the_encoding() -> None:
    encoder = ContextualEncoder(embedder())
    encoded, _ = encoder(text(elmo=False))
    assert encoder.get_output_dim() == WORD_DIM
    torch.testing.assert_close(encoded, encoder.text_field_embedder(text(elmo=False)))


def test_input_elmo_enters_the_encoder() -> None:
    encoder = ContextualEncoder(embedder(elmo=True), BILSTM)
    encoded, _ = encoder(text())
    assert encoder.encoder.get_input_dim() == WORD_DIM + ELMO_DIM
    assert encoded.shape[-1] == encoder.get_output_dim() == 2 * CELLS


@pytest.mark.parametrize("at_input", [False, True])
def test_output_elmo_stands_behind_the_encoding(at_input: bool) -> None:
    torch.manual_seed(0)
    plain = ContextualEncoder(embedder(at_input), BILSTM)
    torch.manual_seed(0)
    encoder = ContextualEncoder(embedder(at_input), BILSTM, output_elmo=SumOfCharacters())
    encoded, mask = encoder(text())
    assert (mask == MASK).all()
    assert encoded.shape[-1] == encoder.get_output_dim() == 2 * CELLS + ELMO_DIM
    torch.testing.assert_close(encoded[..., : 2 * CELLS], plain(text(elmo=at_input))[0])
    torch.testing.assert_close(encoded[..., 2 * CELLS :], SumOfCharacters()(**text()["elmo"]))


def test_output_elmo_may_read_an_indexer_of_another_name() -> None:
    encoder = ContextualEncoder(
        embedder(), BILSTM, output_elmo=SumOfCharacters(), output_elmo_indexer="characters"
    )
    tokens = text()
    encoded, _ = encoder({"tokens": tokens["tokens"], "characters": tokens["elmo"]})
    assert encoded.shape == (2, 3, 2 * CELLS + ELMO_DIM)


def test_output_elmo_without_its_indexer_is_an_error_that_names_it() -> None:
    encoder = ContextualEncoder(embedder(), BILSTM, output_elmo=SumOfCharacters())
    with pytest.raises(ConfigurationError, match=r"indexer named 'elmo', but .* has tokens"):
        encoder(text(elmo=False))


def test_elmo_may_be_all_there_is() -> None:
    encoder = ContextualEncoder(BasicTextFieldEmbedder({"elmo": SumOfCharacters()}), BILSTM)
    _, mask = encoder({"elmo": text()["elmo"]})
    assert (mask == MASK).all()


def test_elmo_at_input_and_output_runs_the_bilm_once_for_each_text_field(tmp_path: Path) -> None:
    torch.manual_seed(0)
    bilm = BiLm(BiLmOptions.from_dict(small_options()))
    files = {"options": str(tmp_path / "options.json"), "weights": str(tmp_path / "weights.hdf5")}
    bilm.options.to_file(files["options"])
    write_weights(files["weights"], bilm.state_dict(), bilm.options)
    elmo = ElmoTokenEmbedder(files)
    embedders = {"tokens": Embedding(WORD_DIM, 10), "elmo": elmo}
    encoder = ContextualEncoder(
        BasicTextFieldEmbedder(embedders), BILSTM, output_elmo=ElmoTokenEmbedder(files)
    )
    runs: list[None] = []
    elmo._elmo.bilm.register_forward_hook(lambda *_: runs.append(None))
    premise, hypothesis = text(), text()
    hypothesis["elmo"]["elmo_tokens"] = hypothesis["elmo"]["elmo_tokens"] + 1
    for batch in (1, 2):
        encoder(premise)
        encoder(hypothesis)
        assert len(runs) == 2 * batch


def test_dropout_drops_the_same_values_of_all_words_of_a_sentence() -> None:
    encoder = ContextualEncoder(embedder(), dropout=0.5)
    kept = encoder(text(elmo=False))[0] != 0
    assert (kept == kept[:, :1]).all() and not kept.all()
    assert encoder.eval()(text(elmo=False))[0].all()


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
            "encoder": encoder,
        }
    )
    contextual_encoder = ContextualEncoder.from_params(params, vocab=vocab)
    assert isinstance(contextual_encoder.encoder, Seq2SeqEncoder)
    encoded, _ = contextual_encoder({"tokens": {"tokens": torch.tensor([[2, 1]])}})
    assert encoded.shape == (1, 2, contextual_encoder.get_output_dim())


def test_is_registered() -> None:
    assert ContextualEncoder.by_name("contextual_encoder") is ContextualEncoder
