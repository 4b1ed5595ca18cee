"""Runs a biLM over batches of padded sentences: their boundaries, in chunks, each distinct one once."""

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn import unique_rows
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.lstm import BiLmState, concat_states, map_state, merge_state, pad_state, select_state
from elmo_plugin.bilm.network import BiLmNetwork
from elmo_plugin.bilm.packing import pack, rows_in_reverse, split_by_tokens
from elmo_plugin.common.errors import BiLmError


class BiLmOutput(NamedTuple):
    """
    layers: (num_layers, batch, time, output_dim), zeros at padding; layer 0 is the token layer, twice
    mask: (batch, time), true where there is a word
    state: what each direction remembers after its last word, if that was asked for
    """

    layers: Tensor
    mask: Tensor
    state: BiLmState | None


class Cache(Protocol):
    """Stores the layers of sentences for longer than a few batches. Equal caches return equal results."""

    def run(
        self,
        compute: Callable[[Tensor], BiLmOutput],
        digest: bytes,
        character_ids: Tensor,
        num_layers: int,
        output_dim: int,
    ) -> BiLmOutput:
        """
        Returns what `compute(character_ids)` gives, which it calls for the sentences that it lacks. `digest`
        identifies the biLM.
        """


def run_sentences(
    network: BiLmNetwork,
    character_ids: Tensor,
    *,
    state: BiLmState | None = None,
    keep_state: bool = False,
    boundaries: bool = False,
    precision: str | None = None,
    max_batch_tokens: float = math.inf,
    dropout: bool = False,
) -> BiLmOutput:
    """Runs a batch, see `BiLm.forward`: at once where gradients are asked for, otherwise in chunks."""
    mask = word_mask(character_ids, network.options.char_cnn.max_characters_per_token)
    weights = network.inference_weights()
    precision = precision or network.precision  # which another thread may change
    run = SentencePass(network, weights, state, keep_state, boundaries, precision, dropout)
    given = (part for direction in state or () for part in direction)
    needs_gradient = (weights is None and network.is_trainable) or any(part.requires_grad for part in given)
    if torch.is_grad_enabled() and needs_gradient:
        return run(character_ids, mask, max_tokens=math.inf)
    with ExitStack() as stack:
        # What is derived from the weights is kept for later calls in whatever mode.
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.autocast(character_ids.device.type, enabled=False))
        if state is not None or dropout or len(mask) < 2:
            return run(character_ids, mask, max_batch_tokens)
        # Sentences that the batch has several times are computed once.
        unique, which = unique_rows(character_ids.flatten(1))
        if len(unique) == len(mask):
            return run(character_ids, mask, max_batch_tokens)
        unique = unique.view(len(unique), *character_ids.shape[1:])
        layers, mask, final = run(unique, (unique > 0).any(dim=-1), max_batch_tokens)
        return BiLmOutput(layers[:, which], mask[which], final and select_state(final, which))


class SentencePass(NamedTuple):
    """
    One way to run sentences: the settings of `BiLm.forward`, and what is derived from the weights now.

    Where neither the boundaries nor a state are asked for, all sentences start after one common boundary,
    instead of reading their own.
    """

    network: BiLmNetwork
    weights: InferenceWeights | None
    state: BiLmState | None
    keep_state: bool
    boundaries: bool
    precision: str
    dropout: bool

    def __call__(self, character_ids: Tensor, mask: Tensor, max_tokens: float) -> BiLmOutput:
        """Computes at most `max_tokens` tokens at a time."""
        network, (batch_size, time) = self.network, mask.shape
        like = network.token_encoder.projection.weight
        time += 2 * self.boundaries
        layers = like.new_zeros(network.num_layers, batch_size, time, network.output_dim)
        zeros = network.zero_state(batch_size)
        initial = pad_state(self.state, zeros) if self.state else zeros
        lengths = mask.sum(dim=1)
        final_states = []
        numbers = lengths.tolist()
        for chunk in split_by_tokens(numbers, max_tokens):
            longest = max(numbers[chunk])
            ids, has_word = character_ids[chunk, :longest], mask[chunk, :longest]
            before = select_state(initial, chunk)
            final_states.append(self._run_chunk(ids, has_word, before, layers[:, chunk]))
        if self.boundaries:
            mask = torch.arange(time, device=mask.device) < lengths[:, None] + 2
        if not self.keep_state:
            return BiLmOutput(layers, mask, None)
        final = concat_states([*final_states, network.zero_state(0)])
        return BiLmOutput(layers, mask, merge_state(self.state, final) if self.state else final)

    def _run_chunk(self, character_ids: Tensor, mask: Tensor, state: BiLmState, layers: Tensor) -> BiLmState:
        """Writes the activations of sentences to the first time steps of `layers`, and returns the state."""
        if not (self.keep_state or self.boundaries or self.dropout or self.state is not None):
            after_begin = self.network.state_after_boundary(self.weights, self.precision)
            state = map_state(lambda part: part.expand(-1, len(mask), -1), after_begin)
            return self._run_tokens(character_ids, mask, state, layers)
        ids, with_boundaries = add_boundaries(character_ids, mask, self.network.boundaries)
        if self.boundaries:
            return self._run_tokens(ids, with_boundaries, state, layers)
        all_layers = layers.new_zeros(len(layers), *with_boundaries.shape, layers.size(-1))
        state = self._run_tokens(ids, with_boundaries, state, all_layers)
        layers[:, :, : mask.size(1)] = all_layers[:, :, 1:-1].masked_fill(~mask[..., None], 0.0)
        return state

    def _run_tokens(self, character_ids: Tensor, mask: Tensor, state: BiLmState, layers: Tensor) -> BiLmState:
        """Packs the tokens into rows for both directions, and puts their activations into `layers`."""
        lengths = mask.sum(dim=1)
        packing = pack(lengths)
        last = lengths[packing.sentence] - 1
        positions = (packing.time, last - packing.time)  # of each direction's rows in their sentences
        forward = torch.arange(len(packing.time), device=mask.device)
        output = self.network.run_packed(
            character_ids[packing.sentence, packing.time],
            [forward, rows_in_reverse(packing, lengths)],
            packing,
            state=state,
            weights=self.weights,
            precision=self.precision,
            dropout=self.dropout,
        )
        # Shape: (num_layers, batch * time, directions, projection_dim)
        flat = layers.view(len(layers), layers.size(1) * layers.size(2), 2, layers.size(3) // 2)
        for direction, position in enumerate(positions):
            places = packing.sentence * layers.size(2) + position
            for number, of_layer in enumerate(output.layers):
                flat[number, places, direction] = of_layer[direction]
        return output.state


def word_mask(character_ids: Tensor, characters: int) -> Tensor:
    """
    Returns where the words are, shape (batch, time).

    Raises `BiLmError` where the shape is not (batch, time, characters), or padding comes before a word.
    """
    if character_ids.dim() != 3 or character_ids.size(-1) != characters:
        shape = tuple(character_ids.shape)
        raise BiLmError(f"character ids must have the shape (batch, time, {characters}), not {shape}")
    with torch.inference_mode(False):  # the output may be kept for later calls in whatever mode
        mask = (character_ids > 0).any(dim=-1)
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise BiLmError("character ids have rows of zeros before a word: padding must come after the words")
    return mask


def add_boundaries(character_ids: Tensor, mask: Tensor, boundaries: Tensor) -> tuple[Tensor, Tensor]:
    """
    Puts each sentence between its boundaries.

    # Parameters

    character_ids, mask : `Tensor`
        Shapes (batch, time, characters) and (batch, time), padding after the words.
    boundaries : `Tensor`
        The characters of the two boundaries, shape (2, characters).

    # Returns

    `tuple[Tensor, Tensor]`
        Character ids and mask, whose time is longer by 2.
    """
    begin, end = boundaries.to(character_ids.dtype)
    ids = nn.functional.pad(character_ids, (0, 0, 1, 1))
    lengths = mask.sum(dim=1)
    ids[:, 0] = begin
    ids[torch.arange(len(ids), device=ids.device), lengths + 1] = end
    return ids, torch.arange(ids.size(1), device=ids.device) < lengths[:, None] + 2
