"""A biLM as a program of `torch.export`, for torch without this package."""

import copy
from typing import cast

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from elmo_plugin.bilm.bilm import BiLm
from elmo_plugin.bilm.lstm import DirectionalLstm, LstmLayer, LstmState
from elmo_plugin.bilm.lstm.layer import lstm_step
from elmo_plugin.bilm.options import LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError

MAX_SIZE = 65536
"""Of a batch, in sentences and in words."""


@torch.no_grad()
def export_program(bilm: BiLm) -> ExportedProgram:
    """
    Returns a program that computes a biLM's layers in float32, for batches of any size. It needs torch, but
    not this package. `torch.export.save` stores it, and `torch.export.load(file).module()` is a function from
    character ids to layers:

    - int64, shape (batch, time, characters). Rows of zeros after the last word are padding.
    - float32, shape (num_layers, batch, time, output_dim), with zeros at padding. A sentence's layers depend
      on nothing but the sentence.

    Raises `BiLmError` for a biLM that looks up words, as some of ELMoForManyLangs do.
    """
    if isinstance(bilm.options.char_cnn, LexiconCnnOptions):
        raise BiLmError("a biLM that looks up words cannot be exported as a program: it has a list of words")
    characters = bilm.options.char_cnn.max_characters_per_token
    example = torch.ones(3, 5, characters, dtype=torch.long, device=bilm.boundaries.device)
    sizes = {0: Dim("batch", min=1, max=MAX_SIZE), 1: Dim("time", min=1, max=MAX_SIZE)}
    network = copy.deepcopy(_PaddedBiLm(bilm)).eval().requires_grad_(False)
    return torch.export.export(network, (example,), dynamic_shapes={"character_ids": sizes})


class _PaddedBiLm(nn.Module):
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
    """Runs a layer over all time steps, in a loop that the program keeps as a loop."""
    from torch._higher_order_ops.scan import scan  # not public yet

    def step(state: tuple[Tensor, Tensor], gates: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        hidden, cell = state
        gates = gates + hidden @ layer.recurrent_weight.t()
        hidden, cell = lstm_step(gates, cell, layer.projection_weight, layer)
        return (hidden, cell), hidden.clone()

    gates = nn.functional.linear(inputs, layer.input_weight, layer.bias).transpose(0, 1).contiguous()
    batch = inputs.size(0)
    state = hidden.expand(batch, -1).clone(), cell.expand(batch, -1).clone()
    _, outputs = scan(step, state, gates)
    return outputs.transpose(0, 1)


def _reordered(vectors: Tensor, places: Tensor) -> Tensor:
    """Returns the vectors, shape (batch, time, dim), at these places of their sentences."""
    return vectors.gather(1, places[..., None].expand_as(vectors))
