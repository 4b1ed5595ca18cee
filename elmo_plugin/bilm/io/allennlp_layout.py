"""How AllenNLP's modules, and the models that were trained with them, arrange the numbers of a biLM.

A highway layer has its two matrices one above the other, and its gate is for the input, ours for what is
made of it: the sign is the other one. The gates of an LSTM lie in the order input, forget, new, output (here
input, new, forget, output), and the forget gate's bias has the 1 in it that is added here at run time.
"""

import torch
from torch import Tensor

from elmo_plugin.bilm.lstm.layer import FORGET_BIAS


def split_highway(joined: Tensor) -> tuple[Tensor, Tensor]:
    """From theirs, weight or bias, to transform and carry."""
    transform, carry = joined.chunk(2)
    return transform, -carry


def join_highway(transform: Tensor, carry: Tensor) -> Tensor:
    """The way back."""
    return torch.cat([transform, -carry])


def swap_gates(gates: Tensor) -> Tensor:
    """The rows of a weight, from theirs to ours or back."""
    first, second, third, last = gates.chunk(4)
    return torch.cat([first, third, second, last])


def bias_from_allennlp(bias: Tensor) -> Tensor:
    """Of an LSTM, from theirs to ours."""
    first, forget, new, last = bias.chunk(4)
    return torch.cat([first, new, forget - FORGET_BIAS, last])


def bias_to_allennlp(bias: Tensor) -> Tensor:
    """The way back."""
    first, new, forget, last = bias.chunk(4)
    return torch.cat([first, forget + FORGET_BIAS, new, last])
