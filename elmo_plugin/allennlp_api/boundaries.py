"""The activations of the sentence boundaries, which a `BiLm` reads but does not give."""

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOutput, BiLmState
from elmo_plugin.bilm.lstm import initial_state, map_state, select


def with_boundaries(bilm: BiLm, output: BiLmOutput, before: BiLmState | None) -> tuple[Tensor, Tensor]:
    """
    # Parameters

    bilm : `BiLm`
        The biLM.
    output : `BiLmOutput`
        What it gave for a batch of sentences, with its state.
    before : `BiLmState | None`
        The state that it was given.

    # Returns

    `Tensor`
        Shape (num_layers, batch, time + 2, output_dim): each sentence between its boundaries, zeros behind.
    `Tensor`
        Shape (batch, time + 2), true where there is a word or a boundary.
    """
    assert output.state is not None
    lengths = output.mask.sum(dim=1)
    zeros = bilm.zero_state(len(lengths))
    begun = bilm.read_boundary(0, initial_state(before, zeros) if before else zeros)
    behind = select(output.state, slice(len(lengths)))
    if not lengths.all():  # a sentence without words has the state before it
        empty = (lengths == 0)[:, None]
        ends = bilm.read_boundary(1, begun)
        behind = map_state(lambda end, other: torch.where(empty, end, other), ends, behind)
    begin_vector, end_vector = bilm.token_encoder(bilm.boundaries)
    num_layers, sentences, time, dim = output.layers.shape
    layers = output.layers.new_zeros(num_layers, sentences, time + 2, dim)
    layers[:, :, 1:-1] = output.layers
    layers[:, :, 0] = _activations(bilm, begin_vector, begun.forward.hidden, behind.backward.hidden)
    rows = torch.arange(sentences, device=lengths.device)
    last = _activations(bilm, end_vector, behind.forward.hidden, begun.backward.hidden)
    layers[:, rows, lengths + 1] = last
    return layers, torch.arange(time + 2, device=lengths.device) < lengths[:, None] + 2


def _activations(bilm: BiLm, vector: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
    """
    From a boundary's vector, shape (dim,), and the hidden states behind it, shape (layers, batch, dim), to
    its activations in all layers, shape (1 + layers, batch, 2 * dim).
    """
    directions = []
    for hidden in (forward, backward):
        outputs = hidden.cumsum(dim=0) if bilm.options.lstm.use_skip_connections else hidden
        directions.append(torch.cat([vector.expand(1, *hidden.shape[1:]), outputs]))
    return torch.cat(directions, dim=-1)
