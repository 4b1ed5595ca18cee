"""LSTM layers with gradients: one autograd function a layer, its gradient by hand.

Under autocast, products are computed in autocast's type; gates and cells stay in the parameters'
type.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.lstm_cell import (
    LayerOutput,
    LstmLayer,
    LstmWeights,
    double_candidate_gate,
)
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.packing import input_gates, last_rows, mean_rows_of_a_step, rows_before
from elmo_plugin.bilm.precision import FLOAT32, Precision
from elmo_plugin.bilm.products import (
    PackedLinear,
    autocast_dtype,
    has_avx2_but_not_avx512,
    pack_for_training,
    torch_linear,
)


class TrainingRecurrence:
    """
    Computes gradients of inputs, state and parameters. On a GPU, where starting an operation is
    slow, all directions run as one batch; on a CPU they run one after the other, to fit into its
    cache.
    """

    has_gradients = True

    def pack(self, layers: Sequence[LstmLayer], precision: Precision) -> Sequence[LstmLayer]:
        """Returns the layers unchanged: with gradients, the parameters themselves are used."""
        return layers

    def run(
        self,
        packed: Sequence[LstmLayer],
        inputs: Sequence[Tensor],
        batch_sizes: Sequence[int],
        state: LstmState,
        keep_state: bool,
    ) -> LayerOutput:
        """Runs the directions together or one by one, and puts their results together."""
        directions_at_a_time = 1
        if _is_one_batch_faster(packed, inputs, batch_sizes):
            directions_at_a_time = len(packed)
        outputs: list[Tensor] = []
        final_hidden = []
        final_cell = []
        for start in range(0, len(packed), directions_at_a_time):
            directions = slice(start, start + directions_at_a_time)
            layers = packed[directions]
            hidden, last_hidden, last_cell = _ProjectedLstm.apply(
                _stack(inputs[directions]),
                state.hidden[directions],
                state.cell[directions],
                _stack([layer.input_weight for layer in layers]),
                _stack([layer.recurrent_weight for layer in layers]),
                _stack([layer.bias for layer in layers]),
                _stack([layer.projection_weight for layer in layers]),
                list(batch_sizes),
                layers[0].cell_clip,
                layers[0].proj_clip,
            )
            outputs += hidden.unbind()  # one for each direction
            final_hidden.append(last_hidden)
            final_cell.append(last_cell)
        if not keep_state:
            return outputs, None
        return outputs, LstmState(torch.cat(final_hidden), torch.cat(final_cell))


def _is_one_batch_faster(
    layers: Sequence[LstmLayer], inputs: Sequence[Tensor], batch_sizes: Sequence[int]
) -> bool:
    """
    Returns whether all directions run faster in one batch than one after the other. They do on a
    GPU, and on a CPU with AVX2 but not AVX-512 if the recurrent product of a time step is small.
    The limit was measured without gradients, and is used with gradients as well.
    """
    if inputs[0].is_cuda:
        return True
    rows_of_a_step = mean_rows_of_a_step(inputs[0], batch_sizes)
    multiplications = rows_of_a_step * layers[0].recurrent_weight.numel()
    is_small = multiplications <= FLOAT32.most_batched_multiplications_avx2
    return has_avx2_but_not_avx512() and is_small


def _stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stacks the tensors of the directions; a single one is not copied."""
    if len(tensors) == 1:
        return tensors[0].unsqueeze(0)
    return torch.stack(tuple(tensors))


class _RowValues(NamedTuple):
    """
    The values of the packed rows of all time steps, see `Packing`, as the forward pass computes
    them. Every shape begins with the directions.

    gates: the sigmoids of i, 2j, f and o, (directions, rows, 4 * dim)
    cells: c after it was clipped, (directions, rows, dim)
    cell_sigmoids: sigmoid(-2c), (directions, rows, dim)
    hiddens: h after it was clipped, (directions, rows, projection_dim)
    """

    gates: Tensor
    cells: Tensor
    cell_sigmoids: Tensor
    hiddens: Tensor


class _Saved(NamedTuple):
    """
    The tensors that the forward pass saves for the backward pass, in this order.

    inputs: (directions, rows, input_dim)
    first_hidden, first_cell: the state of each sentence before its first token
    input_weight, recurrent_weight: W and R of `LstmLayer`, with the rows of the gate j doubled
    projection_weight: P of `LstmLayer`
    gates, cells, cell_sigmoids, hiddens: see `_RowValues`
    """

    inputs: Tensor
    first_hidden: Tensor
    first_cell: Tensor
    input_weight: Tensor
    recurrent_weight: Tensor
    projection_weight: Tensor
    gates: Tensor
    cells: Tensor
    cell_sigmoids: Tensor
    hiddens: Tensor


class _LayerSettings(NamedTuple):
    """
    How a layer runs over the packed rows.

    batch_sizes: the number of sentences of each time step
    cell_clip, proj_clip: the bounds of `LstmLayer`
    dtype: the type of products
    """

    batch_sizes: list[int]
    cell_clip: float
    proj_clip: float
    dtype: torch.dtype


class _ProjectedLstm(Function):
    """
    Computes one layer, of one direction or of several at once.

    Both passes are written with sigmoids alone: tanh(x) = 2 sigmoid(2x) - 1 = 1 - 2 sigmoid(-2x).
    The forward pass saves its sigmoids, cells and hidden states; the backward pass computes
    everything else from them by products and sums.
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
        cell_clip: float,
        proj_clip: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """
        Returns the outputs, shape (directions, rows, projection_dim), and the last hidden state and
        cell of each sentence.

        `inputs` are packed, shape (directions, rows, input_dim). The weights are
        `LstmLayer`'s, with the directions as an additional first dimension.
        """
        settings = _LayerSettings(batch_sizes, cell_clip, proj_clip, autocast_dtype(input_weight))
        parameters = LstmWeights(input_weight, recurrent_weight, bias, projection_weight)
        weights = parameters.with_folded_constants()
        first = LstmState(first_hidden, first_cell)
        values = _forward_through_time(inputs, first, weights, settings)
        saved = _Saved(
            inputs=inputs,
            first_hidden=first_hidden,
            first_cell=first_cell,
            input_weight=weights.input_weight,
            recurrent_weight=weights.recurrent_weight,
            projection_weight=weights.projection_weight,
            gates=values.gates,
            cells=values.cells,
            cell_sigmoids=values.cell_sigmoids,
            hiddens=values.hiddens,
        )
        ctx.save_for_backward(*saved)
        ctx.settings = settings
        final_hidden = last_rows(values.hiddens, batch_sizes, first_hidden)
        final_cell = last_rows(values.cells, batch_sizes, first_cell)
        return values.hiddens, final_hidden, final_cell

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_cell: Tensor
    ) -> tuple[Tensor | None, ...]:
        """
        Returns the gradients of `forward`'s arguments, given the gradients of its results.

        `_back_through_time` goes step by step, because the gradients of a step depend on the next
        one. The gradients of the inputs and of the weights follow from its results in a few large
        products over all rows.
        """
        saved = _Saved(*ctx.saved_tensors)
        settings = ctx.settings
        d_rows = _back_through_time(saved, settings, d_outputs, d_last_hidden, d_last_cell)
        # A flag for each argument of `forward`: the inputs come first, the four parameters after
        # the hidden state and the cell.
        needs_inputs, _, _, *needs_others = ctx.needs_input_grad
        needs_parameters = any(needs_others)
        d_inputs = None  # for the first layer, if the token encoder is frozen
        if needs_inputs:
            back_to_inputs = _pack_directions(saved.input_weight.transpose(1, 2), settings.dtype)
            d_inputs = back_to_inputs(d_rows.gates).to(saved.inputs.dtype)
        d_parameters: Sequence[Tensor | None] = [None, None, None, None]
        if needs_parameters:
            d_parameters = _gradients_of_parameters(saved, settings, d_rows)
        return (
            d_inputs,
            d_rows.first_hidden,
            d_rows.first_cell,
            *d_parameters,
            None,  # the batch sizes and the two bounds are not tensors
            None,
            None,
        )


def _forward_through_time(
    inputs: Tensor, first: LstmState, weights: LstmWeights, settings: _LayerSettings
) -> _RowValues:
    """
    Goes from the first time step to the last, beginning with the state `first` of each sentence.
    Constants are folded into the weights, see `LstmWeights.with_folded_constants`.
    """
    recur = _pack_directions(weights.recurrent_weight, settings.dtype)
    project = _pack_directions(weights.projection_weight, settings.dtype)
    shape = inputs.shape[:2]  # (directions, rows)
    dim = first.cell.size(-1)
    values = _RowValues(
        gates=inputs.new_empty(*shape, 4 * dim),
        cells=inputs.new_empty(*shape, dim),
        cell_sigmoids=inputs.new_empty(*shape, dim),
        hiddens=inputs.new_empty(*shape, first.hidden.size(-1)),
    )
    hidden = first.hidden
    cell = first.cell
    steps = _steps(settings.batch_sizes)
    gates_from_inputs = _gates_from_inputs(inputs, weights, settings)
    for rows, from_inputs in zip(steps, gates_from_inputs, strict=True):
        # Longer sentences come first, so the sentences that go on are the first `size` ones.
        size = rows.stop - rows.start
        gates = values.gates[:, rows]  # Shape: (directions, size, 4 * dim)
        cell_sigmoid = values.cell_sigmoids[:, rows]
        products = recur(hidden[:, :size], from_inputs)
        torch.sigmoid(products.to(gates.dtype), out=gates)
        i, j, f, o = gates.chunk(4, dim=-1)
        # c = clip(f * c + i * (2 j - 1)), in which 2 j - 1 is a tanh
        cell = torch.mul(cell[:, :size], f, out=values.cells[:, rows])
        cell.addcmul_(i, j, value=2).sub_(i).clamp_(-settings.cell_clip, settings.cell_clip)
        # o * tanh(c) = o * (1 - 2 sigmoid(-2c))
        torch.mul(cell, -2, out=cell_sigmoid).sigmoid_()
        activated = torch.addcmul(o, o, cell_sigmoid, value=-2)
        values.hiddens[:, rows] = project(activated)
        hidden = values.hiddens[:, rows].clamp_(-settings.proj_clip, settings.proj_clip)
    return values


def _gates_from_inputs(
    inputs: Tensor, weights: LstmWeights, settings: _LayerSettings
) -> Iterator[Tensor]:
    """Yields `W x_t + b` of each time step, shape (directions, sentences, 4 * dim)."""
    multiply_by_weight = _pack_directions(weights.input_weight, settings.dtype)
    bias = weights.bias[:, None].to(settings.dtype)  # Shape: (directions, 1, 4 * dim)

    def project(start: int, stop: int) -> Tensor:
        return multiply_by_weight(inputs[:, start:stop]).add_(bias)

    return input_gates(project, settings.batch_sizes)


class _RowGradients(NamedTuple):
    """
    The result of the loop back through time. The first three have the type of products.

    gates: the gradients of the gates before their sigmoids, (directions, rows, 4 * dim)
    hiddens: the gradients of the hidden states before they were clipped, (directions, rows,
        projection_dim)
    activated: no gradient, but the input of the projection, o * tanh(c), (directions, rows, dim)
    bias: the sum of `gates` over the rows, (directions, 4 * dim)
    first_hidden, first_cell: the gradients of the state before the first token
    """

    gates: Tensor
    hiddens: Tensor
    activated: Tensor
    bias: Tensor
    first_hidden: Tensor
    first_cell: Tensor


class _Step(NamedTuple):
    """
    The values of one time step, shape (directions, sentences, ...).

    gates, cell, cell_sigmoid, hidden: its rows of `_RowValues`
    cell_before: the cell of the same sentences before this time step
    """

    gates: Tensor
    cell: Tensor
    cell_sigmoid: Tensor
    hidden: Tensor
    cell_before: Tensor


def _read_step(saved: _Saved, steps: Sequence[slice], number: int) -> _Step:
    """Returns views of the saved rows of a time step."""
    rows = steps[number]
    if number == 0:
        cells_before = saved.first_cell
    else:
        cells_before = saved.cells[:, steps[number - 1]]
    size = rows.stop - rows.start
    return _Step(
        gates=saved.gates[:, rows],
        cell=saved.cells[:, rows],
        cell_sigmoid=saved.cell_sigmoids[:, rows],
        hidden=saved.hiddens[:, rows],
        cell_before=cells_before[:, :size],
    )


def _back_through_time(
    saved: _Saved,
    settings: _LayerSettings,
    d_outputs: Tensor,
    d_last_hidden: Tensor,
    d_last_cell: Tensor,
) -> _RowGradients:
    """
    Goes from the last time step to the first. `d_outputs` are the gradients of the hidden states of
    all rows, and `d_last_hidden` and `d_last_cell` belong to each sentence's last state.
    """
    project_back = _pack_directions(saved.projection_weight.transpose(1, 2), settings.dtype)
    recur_back = _pack_directions(saved.recurrent_weight.transpose(1, 2), settings.dtype)
    # The gradients of each sentence's state after the current time step. A sentence that ends at
    # this step is then in its last state.
    d_hidden = d_last_hidden.clone()
    d_cell = d_last_cell.clone()
    d_all_gates = torch.empty_like(saved.gates, dtype=settings.dtype)
    d_hiddens = torch.empty_like(saved.hiddens, dtype=settings.dtype)
    activated = torch.empty_like(saved.cells, dtype=settings.dtype)
    d_bias = saved.gates.new_zeros(len(saved.gates), saved.gates.size(-1))
    most_sentences = max(settings.batch_sizes, default=0)
    # Every time step writes to the same memory, so that it stays in the processor's cache.
    d_step_gates = torch.empty_like(saved.gates[:, :most_sentences])
    steps = _steps(settings.batch_sizes)
    for number in reversed(range(len(steps))):
        rows = steps[number]
        size = rows.stop - rows.start
        step = _read_step(saved, steps, number)
        d_gates = d_step_gates[:, :size]
        # Back through the projection. The hidden state is an output, and the next step reads it.
        d_clipped = d_outputs[:, rows] + d_hidden[:, :size]
        d_hiddens[:, rows] = _unclip(d_clipped, step.hidden, settings.proj_clip)
        _, _, _, o = step.gates.chunk(4, dim=-1)
        activated[:, rows] = torch.addcmul(o, o, step.cell_sigmoid, value=-2)
        d_activated = project_back(d_hiddens[:, rows]).to(o.dtype)
        _back_through_cell(step, settings.cell_clip, d_activated, d_cell[:, :size], d_gates)
        # Back through the sigmoids of the gates, and to the hidden state of the step before.
        torch.ops.aten.sigmoid_backward.grad_input(d_gates, step.gates, grad_input=d_gates)
        d_bias += d_gates.sum(dim=1)
        d_all_gates[:, rows] = d_gates
        d_hidden[:, :size] = recur_back(d_all_gates[:, rows])
    return _RowGradients(
        gates=d_all_gates,
        hiddens=d_hiddens,
        activated=activated,
        bias=d_bias,
        first_hidden=d_hidden,
        first_cell=d_cell,
    )


def _back_through_cell(
    step: _Step, cell_clip: float, d_activated: Tensor, d_cell: Tensor, d_gates: Tensor
) -> None:
    """
    Goes back through the cell of one time step, in which s is sigmoid(-2c):

        c = clip(f * c_before + i * (2 j - 1))
        activated = o * tanh(c) = o * (1 - 2 s)

    Writes the gradients of the sigmoids i, j, f and o to `d_gates`. `d_cell` holds the gradient of
    c from the next time step, and gets the gradient of `c_before`. `d_activated` is overwritten.
    """
    i, j, f, o = step.gates.chunk(4, dim=-1)
    d_i, d_j, d_f, d_o = d_gates.chunk(4, dim=-1)
    torch.addcmul(d_activated, d_activated, step.cell_sigmoid, value=-2, out=d_o)
    # The derivative of tanh(c) = 1 - 2 s is 4 s (1 - s), and `sigmoid_backward` multiplies by
    # s (1 - s).
    d_tanh = d_activated.mul_(o)
    quarter_of_gradient = torch.ops.aten.sigmoid_backward(d_tanh, step.cell_sigmoid)
    d_clipped_cell = d_cell.add_(quarter_of_gradient, alpha=4)
    # The clip is of the sum f * c_before + i * (2 j - 1).
    d_sum = _unclip(d_clipped_cell, step.cell, cell_clip)
    torch.mul(d_sum, step.cell_before, out=d_f)
    doubled_d_sum = d_sum + d_sum
    torch.mul(doubled_d_sum, i, out=d_j)
    torch.mul(doubled_d_sum, j, out=d_i).sub_(d_sum)
    torch.mul(d_sum, f, out=d_cell)


def _gradients_of_parameters(
    saved: _Saved, settings: _LayerSettings, d_rows: _RowGradients
) -> LstmWeights:
    """
    Returns the gradients of the four parameters of each direction. The forward pass doubled the
    rows of the gate j, so their gradients are doubled as well.
    """
    dtype = settings.dtype
    hiddens_before = rows_before(saved.hiddens, settings.batch_sizes, saved.first_hidden)
    # Both the inputs and the hidden states of the step before are multiplied by a weight and added
    # to the gates. So one product gives the gradients of both weights.
    factors = torch.cat([saved.inputs.to(dtype), hiddens_before.to(dtype)], dim=-1)
    d_folded_weights = _sum_of_outer_products(d_rows.gates, factors).to(saved.inputs.dtype)
    d_weights = double_candidate_gate(d_folded_weights, gates_dim=-2)
    sizes = [saved.inputs.size(-1), hiddens_before.size(-1)]
    d_input_weight, d_recurrent_weight = d_weights.split(sizes, dim=-1)
    d_projection_weight = _sum_of_outer_products(d_rows.hiddens, d_rows.activated)
    return LstmWeights(
        input_weight=d_input_weight,
        recurrent_weight=d_recurrent_weight,
        bias=double_candidate_gate(d_rows.bias, gates_dim=-1),
        projection_weight=d_projection_weight.to(saved.inputs.dtype),
    )


def _pack_directions(weights: Tensor, dtype: torch.dtype) -> PackedLinear:
    """
    Packs the weights of all directions, shape (directions, outputs, inputs), for products in
    `dtype`.
    """
    if len(weights) > 1:
        # One batched product for all directions. `pack_for_training` packs a single matrix alone.
        return torch_linear(weights.to(dtype).transpose(1, 2).contiguous())
    product = pack_for_training(weights[0], dtype)

    def product_of_one_direction(rows: Tensor, added: Tensor | None = None) -> Tensor:
        """Returns the product, plus `added`, with the dimension of the only direction."""
        if added is None:
            return product(rows[0]).unsqueeze(0)
        return product(rows[0], added[0]).unsqueeze(0)

    return product_of_one_direction


def _sum_of_outer_products(left: Tensor, right: Tensor) -> Tensor:
    """
    Returns, for each direction, the sum over rows of the outer products of `left` and `right`.
    """
    if len(left) == 1:  # on a CPU, this is faster than a batched product
        return torch.mm(left[0].t(), right[0]).unsqueeze(0)
    return torch.bmm(left.transpose(1, 2), right)


def _steps(batch_sizes: Sequence[int]) -> list[slice]:
    """Returns the slice of the packed rows that belongs to each time step."""
    steps = []
    start = 0
    for size in batch_sizes:
        steps.append(slice(start, start + size))
        start += size
    return steps


def _unclip(gradient: Tensor, clipped: Tensor, bound: float) -> Tensor:
    """Returns the gradient of a value before it was clipped, given the clipped value's gradient."""
    return torch.ops.aten.hardtanh_backward(gradient, clipped, -bound, bound)
