"""A small biLM in the published layout, whose activations are large enough to tell right from wrong."""

from pathlib import Path

import pytest
import torch

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.weights import write_weights
from tests.small_bilm import small_options

Files = tuple[str, str]


def write_bilm(folder: Path, seed: int = 0) -> Files:
    """Writes options and weights, drawn at random."""
    torch.manual_seed(seed)
    bilm = BiLm(BiLmOptions.from_dict(small_options()))
    with torch.no_grad():
        for parameter in bilm.parameters():
            parameter.normal_(std=0.5)
    folder.mkdir(exist_ok=True)
    options, weights = folder / "options.json", folder / "weights.hdf5"
    bilm.options.to_file(options)
    write_weights(weights, bilm.state_dict(), bilm.options)
    return str(options), str(weights)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_bilm(tmp_path / "bilm")
