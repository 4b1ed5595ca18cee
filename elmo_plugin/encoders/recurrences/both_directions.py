"""torch's recurrent layers in both directions over sentences, with gradients that are fast on a CPU."""

from collections.abc import Callable

import torch
from torch import BoolTensor, Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_plugin.bilm import pack, rows_in_reverse


def read_both_ways(
    layer: nn.RNNBase,
    recurrence: Callable[..., Tensor],
    inputs: Tensor,
    mask: BoolTensor,
    recurrent_dropout: float = 0.0,
) -> Tensor:
    """
    Runs a layer of torch over sentences, each read from both of its ends. On a GPU, and without gradients,
    torch itself runs it, unless there is recurrent dropout, which torch lacks.

    # Parameters

    layer : `nn.RNNBase`
        One bidirectional layer, which has the weights.
    recurrence : `Recurrence`
        `LstmRecurrence.apply` or `GruRecurrence.apply`, as the layer is.
    inputs : `Tensor`
        Shape (batch, time, input_size).
    mask : `BoolTensor`
        Shape (batch, time), true at the words, which come before the padding.
    recurrent_dropout : `float`, optional (default = `0.0`)
        The rate of dropout on the hidden state that each time step takes from the one before, with one mask
        for all time steps of a sentence (Gal and Ghahramani, 2016). Only `LstmRecurrence` has it.

    # Returns

    `Tensor`
        Shape (batch, time, 2 * hidden_size), zeros at padding.
    """
    if not recurrent_dropout and (inputs.is_cuda or not torch.is_grad_enabled()):
        return read_by_torch(layer, inputs, mask)
    lengths = mask.sum(dim=1)
    packing = pack(lengths)
    # In the type of the parameters, whatever autocast has made of the inputs.
    inputs = inputs.to(next(layer.parameters()).dtype)
    outputs = inputs.new_zeros(*mask.shape, 2 * layer.hidden_size)
    if not packing.batch_sizes:
        return outputs
    reverse = rows_in_reverse(packing, lengths)
    rows = inputs[packing.sentence, packing.time]  # Shape: (rows, input_size)
    input_weight, input_bias, weight, bias = (
        torch.stack([getattr(layer, f"{name}_{suffix}") for suffix in ("l0", "l0_reverse")])
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    )
    dropout_masks = []
    if recurrent_dropout:
        ones = inputs.new_ones(2, packing.batch_sizes[0], layer.hidden_size)
        dropout_masks.append(nn.functional.dropout(ones, recurrent_dropout))
    projected = nn.functional.linear(rows, input_weight.flatten(0, 1), input_bias.flatten()).to(rows.dtype)
    forward, backward = projected.chunk(2, dim=1)
    both = torch.stack([forward, backward[reverse]])
    hidden = recurrence(both, weight, bias, packing.batch_sizes, *dropout_masks)
    outputs[packing.sentence, packing.time] = torch.cat([hidden[0], hidden[1][reverse]], dim=1)
    return outputs


def read_by_torch(layer: nn.RNNBase, inputs: Tensor, mask: BoolTensor) -> Tensor:
    """Computes the same with torch's own operations."""
    # It cannot run over nothing: a row of padding alone counts as one step, and is blanked below.
    lengths = mask.sum(dim=1).clamp(min=1).cpu()
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    outputs, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=mask.size(1))
    return outputs.masked_fill(~mask.unsqueeze(-1), 0.0)
