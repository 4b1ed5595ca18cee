"""The mixes of a trained model, with what they mix: more than `read_mixes` tells of the weights alone."""

from pathlib import Path
from typing import NamedTuple

from torch import nn

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.errors import NEEDS_ALLENNLP
from elmo_plugin.embedding.elmo import Elmo
from elmo_plugin.embedding.mixing_weights import read_mixes
from elmo_plugin.embedding.scalar_mix import ScalarMix


class TrainedMix(NamedTuple):
    """
    placement: as in `Mix`
    elmo: whose layers it mixes, of which biLM, and whether they are normalised before
    scalar_mix: how it weighs them
    """

    placement: str
    elmo: Elmo
    scalar_mix: ScalarMix


def find_mixes(model: nn.Module) -> list[TrainedMix]:
    """Returns the mixes of a model in its order, that of `read_mixes`."""
    elmos = (elmo for _, elmo in model.named_modules(remove_duplicate=False) if isinstance(elmo, Elmo))
    pairs = [(elmo, mix) for elmo in elmos for mix in elmo.mixes.modules() if isinstance(mix, ScalarMix)]
    mixes = read_mixes(model.state_dict())
    return [TrainedMix(mix.placement, *pair) for mix, pair in zip(mixes, pairs, strict=True)]


def load_mixes(archive: str | Path) -> list[TrainedMix]:
    """
    Loads a trained model, on the CPU, for the mixes of its ELMo.

    # Parameters

    archive : `str | Path`
        A `model.tar.gz`, or the directory of a training.

    Raises `BiLmError` where it has no weights, or none of ELMo, or where AllenNLP is not installed.
    """
    try:  # it takes seconds to import, for which nothing else waits
        from allennlp.common.plugins import import_plugins
        from allennlp.common.util import import_module_and_submodules
        from allennlp.models import load_archive
    except ModuleNotFoundError:
        raise BiLmError(f"the mixture of a trained model {NEEDS_ALLENNLP}") from None
    if not read_mixes(read_state(archive)):
        raise BiLmError(f"archive {archive}: its model has no ELMo of elmo_plugin")
    import_module_and_submodules("elmo_plugin.plugin")  # registers the models of this package
    import_plugins()  # and those of others
    return find_mixes(load_archive(archive).model)
