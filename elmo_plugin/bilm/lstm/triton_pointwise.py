"""The point-wise part of one LSTM time step as one fused kernel: each number is read and written once."""

import functools
import importlib.util
import warnings

import torch
from torch import Tensor

BLOCK = 512  # cells that one program of the kernel computes


def triton_lstm_pointwise(gates: Tensor, cell: Tensor, cell_clip: float | None) -> Tensor:
    """
    Computes the same as `lstm_pointwise`, in float32.

    # Parameters

    gates : `Tensor`
        Shape (rows, 4 * dim) or (directions, rows, 4 * dim); consecutive in the last dimension.
    cell : `Tensor`
        Shape (rows, dim) or (directions, rows, dim), float32, consecutive in the last dimension; it gets
        the new values.
    cell_clip : `float | None`
        The bound of the cell's absolute values.

    # Returns

    `Tensor`
        The shape of `cell`, the type of `gates`.
    """
    from elmo_plugin.bilm.lstm.triton_kernel import lstm_pointwise_kernel

    output = torch.empty(cell.shape, dtype=gates.dtype, device=gates.device)
    if cell.dim() == 2:
        gates, cell = gates.unsqueeze(0), cell.unsqueeze(0)
    directions, rows, dim = cell.shape
    with torch.cuda.device_of(gates):  # Triton takes the current device, not the one of the tensors
        lstm_pointwise_kernel[rows, -(-dim // BLOCK), directions](
            gates,
            cell,
            output,
            dim,
            gates.stride(0),
            gates.stride(1),
            cell.stride(0),
            cell.stride(1),
            float(cell_clip or 0),
            HAS_CLIP=bool(cell_clip),
            BLOCK=BLOCK,
        )
    return output


def triton_is_available(cell: Tensor) -> bool:
    """Whether `triton_lstm_pointwise` works for such a cell: a float32 one, on a GPU that Triton works on."""
    return cell.is_cuda and cell.dtype == torch.float32 and _triton_works_on(cell.device)


@functools.cache
def _triton_works_on(device: torch.device) -> bool:
    """Triton needs more than itself, such as a C compiler: so try it."""
    if importlib.util.find_spec("triton") is None:
        return False
    try:
        triton_lstm_pointwise(torch.zeros(1, 4, device=device), torch.zeros(1, 1, device=device), None)
    except Exception as error:  # whatever Triton, the compiler or the driver raises
        warnings.warn(f"Triton does not work on {device}, plain torch is slower: {error}", stacklevel=2)
        return False
    return True
