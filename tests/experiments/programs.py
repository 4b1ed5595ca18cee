"""The experiments are programs and no package: how tests reach into them."""

import contextlib
import importlib
import io
import runpy
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "experiments" / "data"


def experiment_module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Returns the module, in the folder that it is run from."""
    monkeypatch.syspath_prepend(REPOSITORY / "experiments")
    monkeypatch.chdir(REPOSITORY)
    return importlib.import_module(name)


def draw_data(task: str, folder: Path) -> str:
    """Runs the program that draws a task's example data, with the documented seed; returns what it prints."""
    program = str(DATA / f"make_{task}.py")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.syspath_prepend(DATA)
        patch.setattr("sys.argv", [program, "--seed", "13", "--out", str(folder)])
        runpy.run_path(program, run_name="__main__")
    return printed.getvalue()
