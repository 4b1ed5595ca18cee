"""The Triton kernel of `triton_pointwise.py`, which imports this file only when it needs it."""

import triton
import triton.language as tl


@triton.jit
def lstm_pointwise_kernel(  # type: ignore[no-untyped-def]
    gates,
    cell,
    output,
    dim,
    gates_direction_stride,
    gates_row_stride,
    cell_direction_stride,
    cell_row_stride,
    cell_clip,
    HAS_CLIP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Each program computes BLOCK cells of one row of one direction, in float32. `output` is contiguous."""
    row = tl.program_id(0).to(tl.int64)
    direction = tl.program_id(2).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < dim

    gates += direction * gates_direction_stride + row * gates_row_stride + column
    cell += direction * cell_direction_stride + row * cell_row_stride + column
    output += (direction * tl.num_programs(0) + row) * dim + column

    i = tl.sigmoid(tl.load(gates, mask=inside).to(tl.float32))
    j = 2 * tl.sigmoid(tl.load(gates + dim, mask=inside).to(tl.float32)) - 1
    f = tl.sigmoid(tl.load(gates + 2 * dim, mask=inside).to(tl.float32))
    o = tl.sigmoid(tl.load(gates + 3 * dim, mask=inside).to(tl.float32))
    c = f * tl.load(cell, mask=inside) + i * j
    if HAS_CLIP:
        c = tl.minimum(c, cell_clip, propagate_nan=tl.PropagateNan.ALL)
        c = tl.maximum(c, -cell_clip, propagate_nan=tl.PropagateNan.ALL)
    tl.store(cell, c, mask=inside)
    tl.store(output, (o * (2 * tl.sigmoid(2 * c) - 1)).to(output.dtype.element_ty), mask=inside)
