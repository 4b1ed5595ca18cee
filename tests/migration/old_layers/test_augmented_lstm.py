"""`old_augmented_lstm` against its recurrence, step by step."""

from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.modules import Seq2SeqEncoder, Seq2VecEncoder
from torch import Tensor

import elmo_plugin.register  # noqa: F401

INPUT, HIDDEN = 3, 4


def recurrence(cell: Any, inputs: Tensor) -> Tensor:
    """Returns the hidden states of one text, shape (time, hidden), with a highway."""
    hidden = memory = torch.zeros(HIDDEN)
    states = []
    for vector in inputs:
        from_input = cell.input_linearity(vector).split(HIDDEN)
        from_state = cell.state_linearity(hidden).split(HIDDEN)
        gates = [one + other for one, other in zip(from_input[:5], from_state, strict=True)]
        kept, forgotten, output, highway = (torch.sigmoid(gates[number]) for number in (0, 1, 3, 4))
        memory = kept * torch.tanh(gates[2]) + forgotten * memory
        hidden = highway * output * torch.tanh(memory) + (1 - highway) * from_input[5]
        states.append(hidden)
    return torch.stack(states)


@pytest.mark.parametrize("go_forward", [True, False])
def test_the_sequence_and_its_vector_equal_the_recurrence(go_forward: bool) -> None:
    torch.manual_seed(0)
    params = {"type": "old_augmented_lstm", "input_size": INPUT, "hidden_size": HIDDEN}
    params["go_forward"] = go_forward
    sequence = Seq2SeqEncoder.from_params(Params(dict(params))).eval()
    vector = Seq2VecEncoder.from_params(Params(dict(params))).eval()
    vector.load_state_dict(sequence.state_dict())
    sizes = [(each.get_input_dim(), each.get_output_dim()) for each in (sequence, vector)]
    assert sizes == [(INPUT, HIDDEN)] * 2
    inputs = torch.randn(2, 5, INPUT)
    lengths = [5, 3]
    mask = torch.arange(5) < torch.tensor(lengths)[:, None]
    states, last = sequence(inputs, mask), vector(inputs, mask)
    for row, length in enumerate(lengths):
        text = inputs[row, :length]
        if go_forward:
            expected = recurrence(sequence._module.cell, text)
            final = expected[-1]
        else:
            expected = recurrence(sequence._module.cell, text.flip(0)).flip(0)
            final = expected[0]
        torch.testing.assert_close(states[row, :length], expected)
        torch.testing.assert_close(last[row], final)
