"""The recurrence for a biLM that is being trained: one autograd function a layer, its gradient by hand."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from elmo_plugin.bilm.products import prepare_product
from elmo_plugin.bilm.recurrence.layers import (
    FORGET_BIAS,
    LstmState,
    ProjectedLstmLayer,
    clip,
    each_by_itself,
)


def _run(
    layer: ProjectedLstmLayer, inputs: Tensor, batch_sizes: Sequence[int], state: LstmState
) -> tuple[Tensor, LstmState]:
    """With gradients for inputs, state and parameters, in the parameters' own precision."""
    output, hidden, cell = _ProjectedLstm.apply(
        inputs,
        state.hidden,
        state.cell,
        layer.input_weight,
        layer.recurrent_weight,
        layer.bias,
        layer.projection_weight,
        list(batch_sizes),
        layer.cell_clip,
        layer.proj_clip,
    )
    return output, LstmState(hidden, cell)


training_recurrence = each_by_itself(_run)


class _ProjectedLstm(Function):
    """
    One layer in one direction. Per time step the gates after their non-linearities, the cell and the hidden
    state before their clips are kept for the gradient; everything else is computed again from them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        first_hidden: Tensor,
        first_cell: Tensor,
        input_weight: Tensor,
        recurrent_weight: Tensor,
        bias: Tensor,
        projection_weight: Tensor,
        batch_sizes: list[int],
        cell_clip: float | None,
        proj_clip: float | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        dim, projection_dim = first_cell.size(1), first_hidden.size(1)
        recurrent = prepare_product(recurrent_weight, None, "float32")
        project = prepare_product(projection_weight, None, "float32")
        all_gates = _matmul(inputs, input_weight.t()).add_(bias)
        all_gates[:, 2 * dim : 3 * dim] += FORGET_BIAS
        cells = inputs.new_empty(len(inputs), dim)  # before the clip
        hiddens = inputs.new_empty(len(inputs), projection_dim)  # before the clip
        hidden, cell = first_hidden.clone(), first_cell.clone()
        for start, size in _steps(batch_sizes):
            step = slice(start, start + size)
            gates = all_gates[step]
            gates.copy_(recurrent(hidden[:size], gates))
            input_gate, new, forget_gate, output_gate = _activate_(gates).chunk(4, dim=1)
            torch.addcmul(forget_gate * cell[:size], input_gate, new, out=cells[step])
            cell[:size] = clip(cells[step], cell_clip)
            hiddens[step] = project(output_gate * torch.tanh(cell[:size]))
            hidden[:size] = clip(hiddens[step], proj_clip)
        ctx.save_for_backward(
            inputs, first_hidden, first_cell, input_weight, recurrent_weight, projection_weight,
            all_gates, cells, hiddens,
        )  # fmt: skip
        ctx.batch_sizes, ctx.cell_clip, ctx.proj_clip = batch_sizes, cell_clip, proj_clip
        return clip(hiddens, proj_clip) if proj_clip else hiddens.clone(), hidden, cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_outputs: Tensor, d_hidden: Tensor, d_cell: Tensor) -> tuple[Tensor | None, ...]:
        (
            inputs, first_hidden, first_cell, input_weight, recurrent_weight, projection_weight,
            all_gates, cells, hiddens,
        ) = ctx.saved_tensors  # fmt: skip
        cells_before = _before(first_cell, clip(cells, ctx.cell_clip), ctx.batch_sizes)
        tanh_cells = torch.tanh(clip(cells, ctx.cell_clip))
        recurrent = prepare_product(recurrent_weight.t(), None, "float32")
        project = prepare_product(projection_weight.t(), None, "float32")
        d_hidden, d_cell = d_hidden.clone(), d_cell.clone()
        d_all_gates, d_hiddens = torch.empty_like(all_gates), torch.empty_like(hiddens)
        for start, size in reversed(_steps(ctx.batch_sizes)):
            step = slice(start, start + size)
            input_gate, new, forget_gate, output_gate = all_gates[step].chunk(4, dim=1)
            tanh_cell = tanh_cells[step]
            d_hiddens[step] = _unclip(d_outputs[step] + d_hidden[:size], hiddens[step], ctx.proj_clip)
            d_activated = project(d_hiddens[step])
            d_clipped = d_cell[:size] + d_activated * output_gate * (1 - tanh_cell * tanh_cell)
            d_now = _unclip(d_clipped, cells[step], ctx.cell_clip)
            d_gates = d_all_gates[step]
            d_input_gate, d_new, d_forget_gate, d_output_gate = d_gates.chunk(4, dim=1)
            torch.mul(d_now * new, input_gate * (1 - input_gate), out=d_input_gate)
            torch.mul(d_now * input_gate, 1 - new * new, out=d_new)
            torch.mul(d_now * cells_before[step], forget_gate * (1 - forget_gate), out=d_forget_gate)
            torch.mul(d_activated * tanh_cell, output_gate * (1 - output_gate), out=d_output_gate)
            d_cell[:size] = d_now * forget_gate
            d_hidden[:size] = recurrent(d_gates)
        needs_inputs, _, _, needs_input_weight, needs_recurrent_weight, needs_bias, needs_projection, *_ = (
            ctx.needs_input_grad
        )
        d_inputs = _matmul(d_all_gates, input_weight) if needs_inputs else None
        d_input_weight = _matmul(d_all_gates.t(), inputs) if needs_input_weight else None
        d_recurrent_weight = d_projection_weight = None
        if needs_recurrent_weight:
            hiddens_before = _before(first_hidden, clip(hiddens, ctx.proj_clip), ctx.batch_sizes)
            d_recurrent_weight = _matmul(d_all_gates.t(), hiddens_before)
        if needs_projection:
            activated = all_gates.chunk(4, dim=1)[3] * tanh_cells
            d_projection_weight = _matmul(d_hiddens.t(), activated)
        d_bias = d_all_gates.sum(dim=0) if needs_bias else None
        return (
            d_inputs, d_hidden, d_cell, d_input_weight, d_recurrent_weight, d_bias, d_projection_weight,
            None, None, None,
        )  # fmt: skip


def _activate_(gates: Tensor) -> Tensor:
    """Non-linearities in place: tanh for the new values, sigmoid for the gates around them."""
    dim = gates.size(1) // 4
    gates[:, :dim].sigmoid_()
    gates[:, dim : 2 * dim].tanh_()
    gates[:, 2 * dim :].sigmoid_()
    return gates


def _steps(batch_sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where each time step's rows begin, and how many they are."""
    return list(zip(accumulate(batch_sizes, initial=0), batch_sizes, strict=False))


def _before(first: Tensor, values: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """Each row's value one time step earlier."""
    parts = [first[: batch_sizes[0]]] if batch_sizes else []
    for (start, _), size in zip(_steps(batch_sizes), batch_sizes[1:], strict=False):
        parts.append(values[start : start + size])
    return torch.cat(parts) if parts else values


def _unclip(gradient: Tensor, values: Tensor, bound: float | None) -> Tensor:
    """The gradient of `clip` at `values`."""
    return gradient * (values.abs() <= bound) if bound else gradient


def _matmul(left: Tensor, right: Tensor) -> Tensor:
    return prepare_product(right.t(), None, "float32")(left)
