"""What allenai/bilm-tf computed on TensorFlow 1.15.5 (`../shared/parity/originals`)."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_plugin import BiLm


def folders(shared: Path) -> list[Path]:
    found = sorted((shared / "parity" / "originals" / "bilm-tf").glob("*/options.json"))
    if not found:
        pytest.skip("needs ../shared/parity/originals/bilm-tf, which is not here")
    return [path.parent for path in found]


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_activations_equal_those_computed_by_bilm_tf(shared: Path, batch_size: int) -> None:
    for folder in folders(shared):
        expected = np.load(folder / "activations.npz")
        sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
        bilm = BiLm.from_files(folder / "options.json", folder / "weights.hdf5")
        for start in range(0, len(sentences), batch_size):
            embedded = bilm.embed(sentences[start : start + batch_size])
            for number, layers in enumerate(embedded, start):
                published = torch.from_numpy(expected[f"fresh/{number}"])
                torch.testing.assert_close(layers, published, atol=1e-4, rtol=0, msg=f"{folder}")
