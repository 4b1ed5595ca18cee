"""
What a GPU must give. Each test runs on the CPU, too, so that it is known to be right before a GPU
is at hand. None needs AllenNLP: a machine with a GPU may have torch, numpy and h5py alone.
"""

from collections.abc import Callable, Iterator

import pytest
import torch

from tests.conftest import DEVICES


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def allow_tf32() -> Iterator[Callable[[bool], None]]:
    """
    Says whether a GPU may round the factors of float32 products to TF32; it may not after the test.
    """

    def allow(is_allowed: bool) -> None:
        torch.set_float32_matmul_precision("high" if is_allowed else "highest")
        torch.backends.cudnn.allow_tf32 = is_allowed

    before = torch.get_float32_matmul_precision()
    yield allow
    torch.set_float32_matmul_precision(before)
    torch.backends.cudnn.allow_tf32 = False
