"""What tests of configurations with ELMo share, whatever the task."""

from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.models import Model

import elmo_plugin.plugin  # noqa: F401 (registers what configurations name)

REPOSITORY = Path(__file__).parents[2]
FIXTURES = REPOSITORY / "tests" / "fixtures"
BILM = {
    name: str(FIXTURES / "bilm" / file)
    for name, file in (("options", "options.json"), ("weights", "weights.hdf5"))
}
PLACEMENTS = [[], ["input"], ["output"], ["input", "output"]]


def model_and_batch(config: dict[str, Any], data: Path) -> tuple[Model, dict[str, Any]]:
    """The model, untrained, and all of the data as one batch."""
    torch.manual_seed(0)
    batch = Batch(DatasetReader.from_params(Params(config["dataset_reader"])).read(data))
    vocab = Vocabulary.from_instances(batch.instances)
    batch.index_instances(vocab)
    return Model.from_params(Params(config["model"]), vocab=vocab), batch.as_tensor_dict()


def parameters(model: Model, end: str) -> dict[str, torch.Tensor]:
    """Those whose names end so."""
    return {name: weight for name, weight in model.named_parameters() if name.endswith(end)}


def read_config(path: str, **variables: str) -> dict[str, Any]:
    """A file of this repository."""
    return Params.from_file(REPOSITORY / path, ext_vars=variables).as_dict(quiet=True)
