"""The bidirectional language model: words in, the activations of all layers out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import archive, pretrained, weights
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    sentences_to_character_ids,
    word_to_character_ids,
)
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.options import BiLmOptions
from elmo_plugin.bilm.recurrence import DirectionalLm, LstmState
from elmo_plugin.bilm.token_encoder import TokenEncoder


class BiLmState(NamedTuple):
    """The states of both directions, to be given back to the model with the batch that follows."""

    forward: LstmState
    backward: LstmState


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer, twice
    mask: (batch, time), true where there is a word
    state: what each direction remembers after its last word
    """

    layers: Tensor
    mask: Tensor
    state: BiLmState


class BiLm(nn.Module):
    """
    The biLM of Peters et al. (2018), section 3.1, with random weights.

    A sentence's activations depend on nothing but the sentence, unless a `state` is given.

    # Parameters

    options : `BiLmOptions`
        All sizes.
    dropout : `float`
        In training, the rate of dropout in the language models (see `DirectionalLm`).
    """

    boundaries: Tensor

    def __init__(self, options: BiLmOptions, dropout: float = 0.0) -> None:
        super().__init__()
        self.options = options
        self.token_encoder = TokenEncoder(options.char_cnn, options.lstm.projection_dim)
        self.forward_lm = DirectionalLm(options.lstm, dropout)
        self.backward_lm = DirectionalLm(options.lstm, dropout)
        begin, end = (
            torch.from_numpy(word_to_character_ids(token, options.char_cnn.max_characters_per_token).copy())
            for token in (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        )
        self.register_buffer("boundaries", torch.stack([begin, end]), persistent=False)

    @classmethod
    def from_files(cls, options_file: str | Path, weights_file: str | Path) -> "BiLm":
        """
        Loads a model in the published layout. Paths may be URLs.

        Raises `BiLmError` where a file is missing or damaged, or where the options do not fit the weights.
        """
        options = BiLmOptions.from_file(pretrained.fetch(options_file))
        bilm = cls(options)
        bilm.load_state_dict(weights.read_weights(pretrained.fetch(weights_file), options))
        return bilm.eval()

    @classmethod
    def from_archive(cls, path: str | Path) -> "BiLm":
        """Loads the biLM from the archive (or the serialization directory) of a trained `bilm` model."""
        options, state = archive.read_archive(path)
        bilm = cls(options)
        bilm.load_state_dict(state)
        return bilm.eval()

    @classmethod
    def pretrained(cls, name: str) -> "BiLm":
        """Loads a model by its name, one of `elmo_plugin.bilm.pretrained.MODELS`."""
        return cls.from_files(*pretrained.files_of(name))

    @property
    def output_dim(self) -> int:
        return 2 * self.options.lstm.projection_dim

    @property
    def num_layers(self) -> int:
        return self.options.lstm.n_layers + 1

    def forward(self, character_ids: Tensor, state: BiLmState | None = None) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), without sentence boundaries. Rows of zeros behind the last word
            are padding.
        state : `BiLmState | None`
            What an earlier call gave, to go on from there as published implementations do: row i of the batch
            goes on where row i stopped. `None` to start from zero.

        Raises `BiLmError` where the words have another number of characters than the options say.
        """
        expected = self.options.char_cnn.max_characters_per_token
        if character_ids.dim() != 3 or character_ids.size(-1) != expected:
            shape = tuple(character_ids.shape)
            raise BiLmError(f"character ids must have the shape (batch, time, {expected}), not {shape}")
        mask = (character_ids > 0).any(dim=-1)
        lengths = mask.sum(dim=1)
        with_boundaries, lengths_with_boundaries = self._add_boundaries(character_ids, lengths)
        tokens = self.token_encoder(with_boundaries)
        backward_tokens = _reverse(tokens, lengths_with_boundaries)
        starts = self._start(tokens, state)
        forward_layers, forward_state = self.forward_lm(tokens, lengths_with_boundaries, starts.forward)
        backward_layers, backward_state = self.backward_lm(
            backward_tokens, lengths_with_boundaries, starts.backward
        )
        pairs = [(tokens, tokens)] + [
            (ahead, _reverse(back, lengths_with_boundaries))
            for ahead, back in zip(forward_layers, backward_layers, strict=True)
        ]
        layers = torch.stack([torch.cat(pair, dim=-1) for pair in pairs])
        layers = layers[:, :, 1:-1].masked_fill(~mask[:, :, None], 0.0)
        return BiLmOutput(layers, mask, self._finish(state, BiLmState(forward_state, backward_state)))

    @torch.no_grad()
    def embed(self, sentences: Sequence[Sequence[str]], batch_size: int = 64) -> list[Tensor]:
        """
        # Parameters

        sentences : `Sequence[Sequence[str]]`
            The words of each sentence.
        batch_size : `int`
            How many sentences are taken at a time. It does not change the vectors.

        # Returns

        `list[Tensor]`
            Per sentence a tensor of shape (num_layers, words, output_dim).
        """
        was_training = self.training
        self.eval()
        vectors = [vector for batch in _batches(sentences, batch_size) for vector in self._embed_batch(batch)]
        self.train(was_training)
        return vectors

    def _embed_batch(self, sentences: Sequence[Sequence[str]]) -> Iterator[Tensor]:
        ids = sentences_to_character_ids(sentences, self.options.char_cnn.max_characters_per_token)
        output = self(torch.from_numpy(ids).to(self.boundaries.device))
        for row, sentence in enumerate(sentences):
            yield output.layers[:, row, : len(sentence)].clone()

    def _add_boundaries(self, character_ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Puts each sentence, if it has a word, between a begin- and an end-of-sentence token."""
        begin, end = self.boundaries.to(character_ids.dtype)
        has_words = (lengths > 0).to(character_ids.dtype)
        padded = nn.functional.pad(character_ids, (0, 0, 1, 1))
        rows = torch.arange(len(lengths), device=lengths.device)
        padded[rows, torch.where(lengths > 0, lengths + 1, 0)] = end * has_words[:, None]
        padded[:, 0] = begin * has_words[:, None]
        return padded, torch.where(lengths > 0, lengths + 2, 0)

    def _start(self, tokens: Tensor, state: BiLmState | None) -> BiLmState:
        """The state before the first word of each row: rows that `state` does not know start from zero."""
        zeros = self.forward_lm.zero_state(tokens)
        if state is None:
            return BiLmState(zeros, zeros)
        return BiLmState(*(LstmState(*map(_overlay, zeros, known)) for known in state))

    def _finish(self, before: BiLmState | None, after: BiLmState) -> BiLmState:
        """The state to hand out: rows that this batch did not have stay as they were."""
        if before is None:
            return after
        return BiLmState(
            *(LstmState(*map(_extend, new, old)) for new, old in zip(after, before, strict=True))
        )


def _overlay(zeros: Tensor, known: Tensor) -> Tensor:
    """The first rows of `known`, in a tensor with as many rows (dimension 1) as `zeros`."""
    missing = zeros.size(1) - known.size(1)
    return torch.cat([known, zeros[:, :missing]], dim=1) if missing > 0 else known[:, : zeros.size(1)]


def _extend(new: Tensor, old: Tensor) -> Tensor:
    """`new`, and behind it the rows (dimension 1) that only `old` has."""
    return torch.cat([new, old[:, new.size(1) :]], dim=1)


def _reverse(sequences: Tensor, lengths: Tensor) -> Tensor:
    """
    Reverses each row's first `lengths` time steps; the rest stays where it is.

    # Parameters

    sequences : `Tensor`
        Shape (batch, time, dim).
    lengths : `Tensor`
        Shape (batch,).
    """
    time = torch.arange(sequences.size(1), device=sequences.device)
    source = torch.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
    return sequences.gather(1, source[:, :, None].expand_as(sequences))


def _batches(sentences: Sequence[Sequence[str]], size: int) -> Iterator[Sequence[Sequence[str]]]:
    for start in range(0, len(sentences), size):
        yield sentences[start : start + size]
