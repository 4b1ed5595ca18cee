"""Arguments of a `BiLm`: what may be given, and which error names a wrong value."""

from typing import Any

import numpy as np
import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from tests.small_bilm import loud_bilm


def test_the_similarity_of_arrays_is_an_array_and_of_tensors_a_tensor() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 4))
    norms = np.linalg.norm(rows, axis=1)
    expected = rows @ rows.T / norms / norms[:, None]
    for first in (rows, list(rows)):
        found = BiLm.similarity(first, rows)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    for second in (torch.from_numpy(rows), rows.tolist()):
        assert isinstance(BiLm.similarity(rows, second), torch.Tensor)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("encode", [["a", "b \ud800"]], r"texts\[1\]: '\\ud800' is half of a character"),
        ("embed", [[["a"]], "x"], "cache: expected a cache such as MemoryCache, got 'x'"),
        ("similarity", [[[1.0, float("nan")]], [[1.0, 2.0]]], "similarity: a vector has NaN"),
        ("similarity", [[[1.0, float("inf")]], [[1.0, 2.0]]], "similarity: a vector has NaN"),
    ],
)
def test_a_wrong_value_is_named(method: str, arguments: list[Any], message: str) -> None:
    with pytest.raises(BiLmError, match=f"^{message}"):
        getattr(loud_bilm(), method)(*arguments)


def test_a_bilm_tells_its_device() -> None:
    assert loud_bilm().device == torch.device("cpu")
    assert loud_bilm().to("meta").device == torch.device("meta")
