"""Fixtures that every test may use."""

from pathlib import Path
from typing import Any

import pytest

from tests.small_bilm import small_options

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"
BILM_SENTENCES = [
    "the cat sat on the mat .",
    "a dog ran",
    "why did the cat run away ?",
    "dogs sat .",
    "the mat sat",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: give --slow to run it"))


@pytest.fixture
def shared() -> Path:
    """The folder of real data and outside figures that lies beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared (real data and outside figures), which is not here")
    return SHARED


@pytest.fixture
def bilm_config(tmp_path: Path) -> dict[str, Any]:
    """What `training_config/bilm_tiny.jsonnet` gives, with small sizes."""
    text = tmp_path / "text.txt"
    text.write_text("\n".join(BILM_SENTENCES * 4) + "\n")
    return {
        "dataset_reader": {"type": "bilm_text"},
        "train_data_path": str(text),
        "validation_data_path": str(text),
        "vocabulary": {"max_vocab_size": {"words": 10}},
        "data_loader": {"type": "bilm_stream", "batch_size": 3, "unroll_steps": 4},
        "model": {
            "type": "bilm",
            "options": small_options(),
            "num_negatives": 5,
        },
        "trainer": {
            "num_epochs": 2,
            "optimizer": {"type": "adam", "lr": 0.01},
            "callbacks": [{"type": "matmul_precision", "precision": "medium"}],
            "validation_metric": "-perplexity",
            "enable_default_callbacks": False,
        },
    }
