"""Trained models that the slow tests of this folder share."""

import os
from pathlib import Path

import pytest

from tests.demo.archives import train_all


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """
    Returns the archives by their names, such as "ner_elmo". Those of a folder that `DEMO_ARCHIVES` names, as
    `experiments/` has them, are for screenshots that show something.
    """
    folder = os.environ.get("DEMO_ARCHIVES")
    if folder:
        return {file.parent.name: file for file in sorted(Path(folder).glob("*/model.tar.gz"))}
    return train_all(tmp_path_factory.mktemp("demo"))
