"""`elmo average`: writes the mean of the weights of several trainings of a biLM."""

import argparse
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import ArchivedBiLm, SoftmaxWeights, read_archive, replace_weights
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> None:
    models = {str(path): read_archive(path) for path in args.archives}
    if len(models) < 2:
        raise BiLmError(f"ARCHIVE: expected two or more, got {', '.join(models)}")
    softmaxes = [_matching_softmax(path, models) for path in models]
    weights = [weights for _, weights, _ in models.values()]
    replace_weights(
        next(iter(models)),
        args.output,
        {name: mean([each[name] for each in weights]) for name in weights[0]},
        SoftmaxWeights(
            mean([softmax.weight for softmax in softmaxes]),
            mean([softmax.bias for softmax in softmaxes]),
            softmaxes[0].words,
        ),
    )
    show(f"wrote {args.output}, the mean of {len(models)} biLMs")


def _matching_softmax(path: str, models: Mapping[str, ArchivedBiLm]) -> SoftmaxWeights:
    """Returns a model's softmax. Raises `BiLmError` unless all sizes and vocabularies are equal."""
    first, (first_options, _, first_softmax) = next(iter(models.items()))
    options, _, softmax = models[path]
    if softmax is None or first_softmax is None:
        raise BiLmError(f"archive {path if softmax is None else first}: softmax missing")
    if options != first_options:
        raise BiLmError(f"archive {path}: its biLM has other sizes than {first}")
    if softmax.words != first_softmax.words:
        raise BiLmError(f"archive {path}: its vocabulary differs from {first}")
    return softmax


def mean(tensors: Sequence[Tensor]) -> Tensor:
    """Averages tensors, summed in float64."""
    return torch.stack([tensor.double() for tensor in tensors]).mean(dim=0).to(tensors[0].dtype)
