"""Machines whose products of 8-bit integers overflow are found out."""

import pytest

from elmo_plugin.bilm import int8


@pytest.mark.skipif(not int8.has_int8(), reason="needs a torch with oneDNN's 8-bit products")
def test_int8_support_is_tested_with_the_products_that_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A weight whose products are wrong makes the answer no."""
    is_exact = int8.int8_is_exact.__wrapped__
    monkeypatch.setattr(
        int8.Int8Linear, "__call__", lambda linear, inputs, added=None: inputs[:, :16]
    )
    assert not is_exact()
