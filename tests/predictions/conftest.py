"""The trained models of the package, which the slow tests of this folder share."""

from pathlib import Path

import pytest

from elmo_plugin.common.bundled import trained_models


@pytest.fixture(scope="session")
def archives() -> dict[str, Path]:
    """Returns the archives by their names, such as "ner"."""
    return {name: model.file for name, model in trained_models().items()}
