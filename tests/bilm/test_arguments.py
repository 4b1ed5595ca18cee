"""Arguments that other libraries have lead to ours."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.bilm.inputs import can_be_given
from elmo_plugin.common.meanings import meanings
from tests.small_bilm import loud_bilm

METHODS = {
    name: getattr(BiLm, name)
    for name in ("from_pretrained", "from_files", "encode", "embed", "similarity")
}


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        (
            "from_pretrained",
            {"model_name_or_path": "base"},
            "did you mean source, the first argument?",
        ),
        (
            "from_pretrained",
            {"source": "tiny", "torch_dtype": "half"},
            'did you mean precision="bfloat16"?',
        ),
        (
            "from_pretrained",
            {"source": "tiny", "cache_dir": "a"},
            "; the variable ALLENNLP_CACHE_ROOT names",
        ),
        (
            "encode",
            {"texts": "a", "layer": 2},
            """'layer'; did you mean layers="top" or layers=2?""",
        ),
        ("encode", {"texts": "a", "convert_to_numpy": True}, 'did you mean output="numpy"?'),
        (
            "encode",
            {"texts": "a", "normalize_embeddings": True},
            "did you mean torch.nn.functional.normalize(",
        ),
        (
            "encode",
            {"texts": "a", "max_length": 9},
            "'max_length'; texts of any length are read whole",
        ),
        ("encode", {"texts": "a", "poolng": "mean"}, "did you mean pooling?"),
        (
            "encode",
            {"texts": "a", "xyz": 1},
            "unknown argument 'xyz'; the arguments are texts, layers, pooling,",
        ),
        ("embed", {"sentences": [], "layers": 0}, "did you mean bilm.encode(sentences, layers="),
    ],
)
def test_a_wrong_argument_is_a_type_error_that_names_ours(
    method: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as error:
        getattr(loud_bilm(), method)(**arguments)
    assert str(error.value).startswith(f"{method}: ") and message in str(error.value)


def test_every_proposed_argument_exists_in_the_method() -> None:
    names = [inspect.signature(method).parameters for method in METHODS.values()]
    assert [
        target
        for target in meanings()["arguments"]
        if not any(can_be_given(target, each) for each in names)
    ] == []


def test_a_type_error_in_the_users_function_is_passed_on() -> None:
    def split(text: str) -> list[str]:
        return 1 + text  # type: ignore

    with pytest.raises(TypeError, match="unsupported operand"):
        loud_bilm().encode("a", tokenizer=split)


def test_similarity_returns_an_array_for_arrays_and_a_tensor_for_tensors() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 4))
    norms = np.linalg.norm(rows, axis=1)
    expected = rows @ rows.T / norms / norms[:, None]
    found = BiLm.similarity(rows, rows)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    for second in (torch.from_numpy(rows), rows.tolist(), list(rows)):
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
