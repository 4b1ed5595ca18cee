import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import batching
from elmo_plugin.bilm.batching import unique_rows
from tests.conftest import at_most


@st.composite
def _matrices(draw: st.DrawFn) -> Tensor:
    columns, dtype = (
        draw(st.integers(0, 4)),
        draw(st.sampled_from([torch.int16, torch.int32, torch.int64])),
    )
    number = st.integers(-2, 2) | st.integers(torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    rows = draw(st.lists(st.lists(number, min_size=columns, max_size=columns), max_size=12))
    repeated = [row for row in rows for _ in range(draw(st.integers(1, 2)))]
    return torch.tensor(draw(st.permutations(repeated)), dtype=dtype).view(len(repeated), columns)


def _check(rows: Tensor) -> None:
    found, which = unique_rows(rows)
    assert found.dtype == rows.dtype
    assert torch.equal(found[which], rows)
    assert sorted(found.tolist()) == sorted(map(list, {tuple(row) for row in rows.tolist()}))


@at_most(50)
@given(_matrices())
def test_unique_rows_are_distinct_and_restore_the_input(rows: Tensor) -> None:
    _check(rows)


@at_most(50)
@given(_matrices())
def test_rows_with_colliding_hashes_stay_distinct(rows: Tensor) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            batching, "row_hashes", lambda rows: torch.zeros(len(rows), dtype=torch.int64)
        )
        _check(rows)
