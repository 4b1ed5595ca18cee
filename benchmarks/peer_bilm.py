"""The network of a biLM put together from AllenNLP's own parts, for training it."""

from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.modules.elmo_lstm import ElmoLstm
from allennlp.modules.sampled_softmax_loss import SampledSoftmaxLoss
from allennlp.modules.seq2vec_encoders import CnnHighwayEncoder
from allennlp.modules.token_embedders import Embedding, TokenCharactersEncoder
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.language_model.model import BiLmLanguageModel


class PeerBiLm(nn.Module):
    """
    Reads one set of tokens in both directions, as AllenNLP's own language model does, and keeps the
    states of `ElmoLstm` from batch to batch. Skip connections are fixed, as `ElmoLstm` has them.

    # Parameters

    options : `BiLmOptions`
        The sizes.
    num_words : `int`
        The size of the vocabulary.
    num_negatives : `int`
        Of the sampled softmax in training; in evaluation the softmax is full.
    dropout : `float`
        On the input and on the output of the LSTMs, not between their layers.
    """

    def __init__(
        self, options: BiLmOptions, num_words: int, num_negatives: int, dropout: float
    ) -> None:
        super().__init__()
        char_cnn, lstm = options.char_cnn, options.lstm
        self.token_encoder = TokenCharactersEncoder(
            Embedding(char_cnn.embedding_dim, num_embeddings=NUM_CHARACTERS, padding_index=0),
            CnnHighwayEncoder(
                char_cnn.embedding_dim,
                char_cnn.filters,
                char_cnn.n_highway,
                lstm.projection_dim,
                activation=char_cnn.activation,
            ),
        )
        self.lstm = ElmoLstm(
            lstm.projection_dim,
            lstm.projection_dim,
            lstm.dim,
            lstm.n_layers,
            requires_grad=True,
            memory_cell_clip_value=lstm.cell_clip,
            state_projection_clip_value=lstm.proj_clip,
        )
        self.dropout = nn.Dropout(dropout)
        self.softmax = SampledSoftmaxLoss(num_words, lstm.projection_dim, num_negatives)

    def forward(
        self, character_ids: Tensor, forward_targets: Tensor, backward_targets: Tensor
    ) -> dict[str, Tensor]:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters).
        forward_targets, backward_targets : `Tensor`
            Shape (batch, time), the vocabulary's numbers of the words after and before.

        # Returns

        `dict`
            With `loss`, the mean over all tokens of both directions.
        """
        vectors = self.dropout(self.token_encoder(character_ids))  # Shape: (batch, time, dim)
        mask = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
        hidden = self.dropout(self.lstm(vectors, mask)[-1]).chunk(2, dim=-1)
        nats = [
            self.softmax(each.flatten(0, 1), targets.flatten())
            for each, targets in zip(hidden, (forward_targets, backward_targets), strict=True)
        ]
        return {"loss": sum(nats) / (2 * forward_targets.numel())}

    @staticmethod
    def batch(batch: dict[str, Any]) -> dict[str, Tensor]:
        """The forward stream of one of our batches, as its words in order."""
        return {
            "character_ids": batch["character_ids"].long()[batch["forward_types"]],
            "forward_targets": batch["forward_targets"],
            "backward_targets": batch["backward_targets"],
        }

    def start_afresh(self) -> None:
        """Forgets the states."""
        self.lstm.reset_states()


def language_model(
    options: BiLmOptions, num_words: int, num_negatives: int, dropout: float, precision: str
) -> BiLmLanguageModel:
    """Our model, with a vocabulary of invented words; "padding" and "unknown" are two of them."""
    vocab = Vocabulary()
    vocab.add_tokens_to_namespace([f"word {number}" for number in range(num_words - 2)], "words")
    sizes = {"dropout": dropout, "num_negatives": num_negatives, "precision": precision}
    return BiLmLanguageModel(vocab, options.to_dict(), **sizes)  # type: ignore[arg-type]
