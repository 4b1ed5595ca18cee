"""A biLM as one network over padded batches, as `torch.export` wants it."""

from typing import cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.lstm import DirectionalLstm, LstmLayer, LstmState
from elmo_plugin.bilm.lstm.layer import FORGET_BIAS, clip


class PaddedBiLm(nn.Module):
    """The formulas of a frozen biLM over padded batches, without packing, caches or branches."""

    def __init__(self, bilm: BiLm) -> None:
        super().__init__()
        encoder = bilm.token_encoder
        self.character_embedding = encoder.character_embedding
        self.convolutions = nn.ModuleList(encoder.convolutions)
        self.highways = nn.ModuleList(encoder.highways)
        self.activation = encoder.activation
        self.projection = encoder.projection
        after = bilm.state_after_boundary(bilm.inference_weights(), "float32")
        self.forward_lm = _PaddedLstm(bilm.forward_lm, after.forward)
        self.backward_lm = _PaddedLstm(bilm.backward_lm, after.backward)

    def forward(self, character_ids: Tensor) -> Tensor:
        is_word = (character_ids > 0).any(dim=-1)
        vectors = self._encode(character_ids)
        # Shape: (batch, time), the place of each word counted from the end of its sentence; padding stays.
        places = torch.arange(character_ids.size(1), device=character_ids.device)
        lengths = is_word.sum(dim=1, keepdim=True)
        reverse = torch.where(places < lengths, lengths - 1 - places, places)
        onward = self.forward_lm(vectors)
        back = self.backward_lm(_reordered(vectors, reverse))
        layers = [torch.cat([vectors, vectors], dim=-1)]
        for one, other in zip(onward, back, strict=True):
            layers.append(torch.cat([one, _reordered(other, reverse)], dim=-1))
        return torch.stack(layers).masked_fill(~is_word[..., None], 0.0)

    def _encode(self, character_ids: Tensor) -> Tensor:
        # Shape: (batch * time, embedding_dim, characters)
        characters = self.character_embedding(character_ids.flatten(0, 1)).transpose(1, 2)
        maxima = [convolution(characters).amax(dim=-1) for convolution in self.convolutions]
        features = self.activation(torch.cat(maxima, dim=-1))
        for highway in self.highways:
            features = highway(features)
        return self.projection(features).unflatten(0, (character_ids.size(0), character_ids.size(1)))


class _PaddedLstm(nn.Module):
    hidden: Tensor
    cell: Tensor

    def __init__(self, lstm: DirectionalLstm, state: LstmState) -> None:
        super().__init__()
        self.layers = nn.ModuleList(lstm.layers)
        self.use_skip_connections = lstm.options.use_skip_connections
        self.register_buffer("hidden", state.hidden.clone())
        self.register_buffer("cell", state.cell.clone())

    def forward(self, inputs: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            result = _run(cast(LstmLayer, layer), inputs, self.hidden[number], self.cell[number])
            inputs = result + inputs if number > 0 and self.use_skip_connections else result
            outputs.append(inputs)
        return outputs


def _run(layer: LstmLayer, inputs: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
    """Runs a layer (see `LstmLayer`) over all time steps, in a loop that the program keeps as such."""
    from torch._higher_order_ops.scan import scan  # not public yet

    def step(state: tuple[Tensor, Tensor], gates: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        hidden, cell = state
        gates = gates + hidden @ layer.recurrent_weight.t()
        input_gate, new, forget_gate, output_gate = gates.chunk(4, dim=1)
        cell = torch.sigmoid(forget_gate + FORGET_BIAS) * cell + torch.sigmoid(input_gate) * torch.tanh(new)
        cell = clip(cell, layer.cell_clip)
        hidden = (torch.sigmoid(output_gate) * torch.tanh(cell)) @ layer.projection_weight.t()
        hidden = clip(hidden, layer.proj_clip)
        return (hidden, cell), hidden.clone()

    gates = nn.functional.linear(inputs, layer.input_weight, layer.bias).transpose(0, 1).contiguous()
    batch = inputs.size(0)
    state = hidden.expand(batch, -1).clone(), cell.expand(batch, -1).clone()
    _, outputs = scan(step, state, gates)
    return outputs.transpose(0, 1)


def _reordered(vectors: Tensor, places: Tensor) -> Tensor:
    """Returns the vectors, shape (batch, time, dim), at these places of their sentences."""
    return vectors.gather(1, places[..., None].expand_as(vectors))
