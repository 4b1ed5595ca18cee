"""Imports the programs in `experiments/`, which are not a package."""

import importlib
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "experiments" / "data"


def experiment_module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Returns the module, in the folder that it is run from."""
    monkeypatch.syspath_prepend(REPOSITORY / "experiments")
    monkeypatch.chdir(REPOSITORY)
    return importlib.import_module(name)
