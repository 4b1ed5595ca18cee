"""The network of a biLM put together from AllenNLP's own parts, for training it."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from allennlp.modules.elmo_lstm import ElmoLstm
from allennlp.modules.sampled_softmax_loss import SampledSoftmaxLoss
from allennlp.modules.seq2vec_encoders import CnnHighwayEncoder
from allennlp.modules.token_embedders import Embedding, TokenCharactersEncoder
from torch import Tensor, nn

from elmo_plugin.bilm import BiLmOptions
from elmo_plugin.bilm.characters import NUM_CHARACTERS, word_to_character_ids

PeerBatch = dict[str, Tensor]


class PeerBiLm(nn.Module):
    """
    Reads one set of tokens in both directions, as AllenNLP's own language model does, and keeps the states of
    `ElmoLstm` from batch to batch. Skip connections are fixed, as `ElmoLstm` has them.

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
        self, options: BiLmOptions, num_words: int, num_negatives: int, dropout: float = 0.0
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
        forward, backward = self._read(self.token_encoder(character_ids)).chunk(2, dim=-1)
        nats = self._nats(forward, forward_targets) + self._nats(backward, backward_targets)
        return {"loss": nats / (2 * forward_targets.numel())}

    def start_afresh(self) -> None:
        """Forgets the states."""
        self.lstm.reset_states()

    def _read(self, vectors: Tensor) -> Tensor:
        """The last layer's output, shape (batch, time, 2 * projection_dim)."""
        mask = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
        return self.dropout(self.lstm(self.dropout(vectors), mask)[-1])

    def _nats(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The loss of one direction, summed over all places that have a target."""
        is_target = targets > 0
        return self.softmax(hidden[is_target], targets[is_target])


class StreamPeerBiLm(PeerBiLm):
    """
    The same network on the batches of `bilm_stream`, to train it like ours: each direction reads its stream.
    Both streams go through `ElmoLstm` as rows of one batch, the backward one from right to left, and of each
    row the other direction is thrown away. This takes twice the LSTMs' time, but each direction goes on from
    where its own stream was left; a text read in both directions would hand the backward one the state from
    the wrong side.
    """

    def __init__(
        self, options: BiLmOptions, num_words: int, num_negatives: int, dropout: float = 0.0
    ) -> None:
        super().__init__(options, num_words, num_negatives, dropout)
        self._seen = {"forward": [0.0, 0], "backward": [0.0, 0]}  # nats and tokens

    def forward(
        self,
        character_ids: Tensor,
        forward_types: Tensor,
        forward_targets: Tensor,
        backward_types: Tensor,
        backward_targets: Tensor,
        stream_starts: bool,
    ) -> dict[str, Tensor]:
        """Takes and returns the same as `BiLmLanguageModel`."""
        if stream_starts:
            self.start_afresh()
        (types,) = self.token_encoder(character_ids.long().unsqueeze(0))
        output = self._read(torch.cat([types[forward_types], types[backward_types].flip(1)]))
        forward, backward = output.chunk(2, dim=-1)
        rows = len(forward_types)
        return {
            "loss": 0.5
            * (
                self._mean("forward", forward[:rows], forward_targets)
                + self._mean("backward", backward[rows:].flip(1), backward_targets)
            )
        }

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Since the last reset, as `BiLmLanguageModel` has them; of use after evaluation."""
        forward, backward = (nats / tokens for nats, tokens in self._seen.values())
        if reset:
            self._seen = {direction: [0.0, 0] for direction in self._seen}
        return {
            "forward_perplexity": math.exp(forward),
            "backward_perplexity": math.exp(backward),
            "perplexity": math.exp(0.5 * (forward + backward)),
        }

    def _mean(self, direction: str, hidden: Tensor, targets: Tensor) -> Tensor:
        nats, tokens = self._nats(hidden, targets), int((targets > 0).sum())
        self._seen[direction][0] += nats.item()
        self._seen[direction][1] += tokens
        return nats / max(tokens, 1)


def peer_batches(
    words: Sequence[str], numbers: Sequence[int], batch_size: int, unroll_steps: int, max_characters: int
) -> list[PeerBatch]:
    """
    A text as several streams of the same length, cut into windows. The words on both sides of a window are
    targets, so that every place has one in each direction.

    # Parameters

    words : `Sequence[str]`
        The text, with one word before the first window and one after the last of each stream.
    numbers : `Sequence[int]`
        The vocabulary's number of each word.
    batch_size, unroll_steps, max_characters : `int`
        The shape of the batches.
    """
    length = len(words) // batch_size
    ids = np.stack([word_to_character_ids(word, max_characters) for word in words[: length * batch_size]])
    character_ids = torch.from_numpy(ids).long().view(batch_size, length, max_characters)
    targets = torch.as_tensor(numbers[: length * batch_size]).view(batch_size, length)
    return [
        {
            "character_ids": character_ids[:, start : start + unroll_steps],
            "forward_targets": targets[:, start + 1 : start + unroll_steps + 1],
            "backward_targets": targets[:, start - 1 : start + unroll_steps - 1],
        }
        for start in range(1, length - unroll_steps, unroll_steps)
    ]
