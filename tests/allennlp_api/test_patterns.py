"""Each pattern of public use gives the same with our names as with AllenNLP's."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import allennlp.modules.elmo as peer
import numpy as np
import pytest
import torch
from allennlp.modules import ScalarMix
from allennlp.modules.token_embedders import ElmoTokenEmbedder

import elmo_plugin
from tests.allennlp_api.conftest import write_bilm
from tests.allennlp_api.patterns import Library, Pattern, Place, applications, reading, training


def theirs_batch_to_ids(batch: Sequence[Sequence[Any]]) -> torch.Tensor:
    """AllenNLP's takes strings alone."""
    return peer.batch_to_ids([[getattr(word, "text", word) for word in words] for words in batch])


THEIRS = Library(peer.Elmo, ElmoTokenEmbedder, ScalarMix, theirs_batch_to_ids)
OURS = Library(*(getattr(elmo_plugin, name) for name in Library.__dataclass_fields__))


def patterns_in(module: ModuleType) -> list[Pattern]:
    functions = [each for _, each in inspect.getmembers(module, inspect.isfunction)]
    return [each for each in functions if list(inspect.signature(each).parameters) == ["library", "place"]]


PATTERNS = [pattern for module in (reading, training, applications) for pattern in patterns_in(module)]


def assert_same(actual: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), where
        for name, value in expected.items():
            assert_same(actual[name], value, f"{where}[{name!r}]")
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), where
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(expected, torch.Tensor):
        torch.testing.assert_close(
            actual, expected, atol=1e-5, rtol=1e-5, msg=lambda message: f"{where}: {message}"
        )
    elif isinstance(expected, np.ndarray | float):
        np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5, err_msg=where)
    else:
        assert actual == expected, where


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_a_pattern_of_public_use_gives_what_it_gives_with_allennlp(
    pattern: Pattern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, weights = write_bilm(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    results = []
    for library in (THEIRS, OURS):
        folder = tmp_path / str(len(results))
        folder.mkdir()
        results.append(pattern(library, Place(options, weights, folder)))
    assert_same(results[1], results[0])
