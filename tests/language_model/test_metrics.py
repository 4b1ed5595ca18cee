import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.language_model.model import TokenAverage

NATS = st.floats(0, 100, width=32)


def add(average: TokenAverage, losses: list[float] | torch.Tensor) -> None:
    losses = torch.as_tensor(losses)
    average(losses, torch.ones_like(losses, dtype=torch.bool))


@given(st.lists(st.lists(st.tuples(NATS, st.booleans()), max_size=9), max_size=4))
def test_it_is_the_mean_of_all_tokens_that_count(batches: list[list[tuple[float, bool]]]) -> None:
    """However they are spread over batches."""
    average = TokenAverage()
    for batch in batches:
        losses, counts = torch.tensor(batch).reshape(-1, 2).unbind(dim=1)
        average(losses, counts.bool())
    counted = [loss for batch in batches for loss, counts in batch if counts]
    expected = math.fsum(counted) / len(counted) if counted else math.nan
    assert average.get_metric() == pytest.approx(expected, nan_ok=True)


def test_the_sum_of_many_tokens_is_exact() -> None:
    """In float32, no more than 16.7 million could be counted one by one."""
    average = TokenAverage()
    add(average, [2.0**30])
    for _ in range(100):
        add(average, torch.full((1000,), 0.25))
    assert average.state() == (2.0**30 + 25_000, 100_001)
    average.reset()
    add(average, torch.cat([torch.tensor([2.0**30]), torch.full((1000,), 0.25)]))
    assert average.state() == (2.0**30 + 250, 1001)
