"""Batches of sentences through the packed pass: their boundaries, in chunks, each distinct one once."""

import math
from contextlib import ExitStack
from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn import unique_rows
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.lstm import BiLmState, concat_states, map_state, merge_state, pad_state, select_state
from elmo_plugin.bilm.packed_pass import BiLmNetwork
from elmo_plugin.bilm.packing import pack, split_by_tokens
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


class Settings(NamedTuple):
    """The settings of one call, see `BiLm.forward`, and what is derived from the weights at its time."""

    state: BiLmState | None = None
    keep_state: bool = False
    boundaries: bool = False
    precision: str | None = None
    max_batch_tokens: float = math.inf
    dropout: bool = False
    weights: InferenceWeights | None = None

    @property
    def reads_boundaries(self) -> bool:
        """Whether the boundaries are read with each sentence, or all sentences start after a common one."""
        return self.keep_state or self.boundaries or self.dropout or self.state is not None


def run_sentences(network: BiLmNetwork, character_ids: Tensor, settings: Settings) -> BiLmOutput:
    """Runs a batch with gradients where they are asked for, and otherwise in chunks; see `BiLm.forward`."""
    mask = _mask(network, character_ids)
    given = (part for direction in settings.state or () for part in direction)
    settings = settings._replace(weights=network.inference_weights())
    is_trained = settings.weights is None and network.is_trained
    needs_gradient = is_trained or any(tensor.requires_grad for tensor in given)
    if torch.is_grad_enabled() and needs_gradient:
        return _run_chunks(network, character_ids, mask, settings, max_tokens=math.inf)
    with ExitStack() as stack:
        # What is derived from the weights is kept for later calls in whatever mode.
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.autocast(character_ids.device.type, enabled=False))
        max_tokens = settings.max_batch_tokens
        if settings.state is not None or settings.dropout or len(mask) < 2:
            return _run_chunks(network, character_ids, mask, settings, max_tokens)
        # Sentences that the batch has several times are computed once.
        unique, which = unique_rows(character_ids.flatten(1))
        if len(unique) == len(mask):
            return _run_chunks(network, character_ids, mask, settings, max_tokens)
        unique = unique.view(len(unique), *character_ids.shape[1:])
        layers, mask, state = _run_chunks(network, unique, (unique > 0).any(dim=-1), settings, max_tokens)
        return BiLmOutput(layers[:, which], mask[which], state and select_state(state, which))


def _mask(network: BiLmNetwork, character_ids: Tensor) -> Tensor:
    """Returns where the words are, shape (batch, time)."""
    expected = network.options.char_cnn.max_characters_per_token
    if character_ids.dim() != 3 or character_ids.size(-1) != expected:
        shape = tuple(character_ids.shape)
        raise BiLmError(f"character ids must have the shape (batch, time, {expected}), not {shape}")
    with torch.inference_mode(False):  # the output may be kept for later calls in whatever mode
        mask = (character_ids > 0).any(dim=-1)
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise BiLmError("character ids have rows of zeros before a word: padding must come after the words")
    return mask


def _run_chunks(
    network: BiLmNetwork, character_ids: Tensor, mask: Tensor, settings: Settings, max_tokens: float
) -> BiLmOutput:
    """Computes at most `max_tokens` tokens at a time."""
    batch_size, time = mask.shape
    like = network.token_encoder.projection.weight
    layers = like.new_zeros(
        network.num_layers, batch_size, time + 2 * settings.boundaries, network.output_dim
    )
    zeros = network.zero_state(batch_size)
    initial = pad_state(settings.state, zeros) if settings.state else zeros
    lengths = mask.sum(dim=1)
    final_states = []
    for chunk in split_by_tokens(lengths.tolist(), max_tokens):
        longest = int(lengths[chunk].max())
        final = _run_chunk(
            network,
            character_ids[chunk, :longest],
            mask[chunk, :longest],
            select_state(initial, chunk),
            settings,
            layers[:, chunk],
        )
        final_states.append(final)
    if settings.boundaries:
        positions = torch.arange(time + 2, device=mask.device)
        mask = positions < lengths[:, None] + 2
    if not settings.keep_state:
        return BiLmOutput(layers, mask, None)
    final = concat_states([*final_states, network.zero_state(0)])
    return BiLmOutput(layers, mask, merge_state(settings.state, final) if settings.state else final)


def _run_chunk(
    network: BiLmNetwork,
    character_ids: Tensor,
    mask: Tensor,
    state: BiLmState,
    settings: Settings,
    layers: Tensor,
) -> BiLmState:
    """Writes the activations of sentences to the first time steps of `layers`, and returns the state."""
    if not settings.reads_boundaries:
        after_begin = network.state_after_boundary(settings.weights, settings.precision)
        state = map_state(lambda part: part.expand(-1, len(mask), -1), after_begin)
        return _run_tokens(network, character_ids, mask, state, settings, layers)
    ids, with_boundaries = add_boundaries(character_ids, mask, network.boundaries)
    if settings.boundaries:
        return _run_tokens(network, ids, with_boundaries, state, settings, layers)
    all_layers = layers.new_zeros(len(layers), *with_boundaries.shape, layers.size(-1))
    state = _run_tokens(network, ids, with_boundaries, state, settings, all_layers)
    layers[:, :, : mask.size(1)] = all_layers[:, :, 1:-1].masked_fill(~mask[..., None], 0.0)
    return state


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


def _run_tokens(
    network: BiLmNetwork,
    character_ids: Tensor,
    mask: Tensor,
    state: BiLmState,
    settings: Settings,
    layers: Tensor,
) -> BiLmState:
    lengths = mask.sum(dim=1)
    packing = pack(lengths)
    first = (lengths.cumsum(dim=0) - lengths)[packing.sentence]
    last = lengths[packing.sentence] - 1
    positions = (packing.time, last - packing.time)  # of each direction's rows in their sentences
    rows = [first + position for position in positions]
    output = network.run_packed(
        character_ids[mask], rows, packing, state, settings.weights, settings.precision, settings.dropout
    )
    # Shape: (num_layers, batch * time, directions, projection_dim)
    flat = layers.view(network.num_layers, layers.size(1) * layers.size(2), 2, network.output_dim // 2)
    for direction, position in enumerate(positions):
        places = packing.sentence * layers.size(2) + position
        for number, of_layer in enumerate(output.layers):
            flat[number, places, direction] = of_layer[direction]
    return output.state
