"""
Averages the weights of trainings that went on from one checkpoint:

    python experiments/average.py A/model.tar.gz B/model.tar.gz MEAN.tar.gz
"""

import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.formats.archives import unpack


def average(sources: Sequence[str | Path], output: str | Path) -> None:
    """
    Writes a copy of the first archive with the means of all weights, summed in float64.
    """
    states = [read_state(source) for source in sources]
    mean = {
        name: torch.stack([state[name].double() for state in states]).mean(dim=0).to(tensor.dtype)
        for name, tensor in states[0].items()
        if tensor.is_floating_point()
    }
    with tempfile.TemporaryDirectory() as name, tarfile.open(output, "w:gz") as archive:
        unpack(sources[0], Path(name))
        torch.save(states[0] | mean, Path(name) / "weights.th")
        for path in Path(name).iterdir():
            archive.add(path, arcname=path.name)


if __name__ == "__main__":
    average(sys.argv[1:-1], sys.argv[-1])
