"""Tests draw the same random numbers, whichever tests have run before them in the same process."""

import random

import numpy as np
import pytest
import torch

from tests.conftest import set_seeds


def draw() -> list[float]:
    return [random.random(), float(np.random.rand()), float(torch.rand(()))]


@pytest.fixture(scope="module", params=["one", "other"])
def shared_numbers() -> list[float]:
    return draw()


def test_a_test_draws_numbers_of_its_own(request: pytest.FixtureRequest) -> None:
    drawn = draw()
    set_seeds(request.node.nodeid)
    assert draw() == drawn


def test_what_tests_share_does_not_depend_on_earlier_tests(shared_numbers: list[float]) -> None:
    set_seeds("tests/test_random_numbers.py::shared_numbers")
    assert draw() == shared_numbers
