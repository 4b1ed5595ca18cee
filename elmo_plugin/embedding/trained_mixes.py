"""The mixes of a trained model as modules, with the biLM whose layers they mix."""

from pathlib import Path
from typing import NamedTuple

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.process import import_all_plugins
from elmo_plugin.embedding.mixing_weights import read_mixes
from elmo_plugin.embedding.representations import ElmoRepresentations
from elmo_plugin.embedding.scalar_mix import ScalarMix


class TrainedMix(NamedTuple):
    """
    placement: as in `Mix`
    elmo: the biLM, its layers, and whether they are normalized
    scalar_mix: their weights
    """

    placement: str
    elmo: ElmoRepresentations
    scalar_mix: ScalarMix


def load_mixes(archive: str | Path) -> list[TrainedMix]:
    """
    Loads a trained model on the CPU, and returns its mixes in the order of `read_mixes`.

    # Parameters

    archive : `str | Path`
        A `model.tar.gz`, or the directory of a training.

    Raises `BiLmError` if it has no weights of ELMo, or if AllenNLP is not installed.
    """
    import_all_plugins("the mixture of a trained model")
    from allennlp.models import load_archive

    if not read_mixes(read_state(archive)):
        raise BiLmError(f"archive {archive}: its model has no ELMo of elmo_plugin")
    model = load_archive(archive).model
    modules = (module for _, module in model.named_modules(remove_duplicate=False))
    elmos = (module for module in modules if isinstance(module, ElmoRepresentations))
    pairs = [(elmo, mix) for elmo in elmos for mix in elmo.mixes.modules() if isinstance(mix, ScalarMix)]
    mixes = read_mixes(model.state_dict())
    return [TrainedMix(mix.placement, *pair) for mix, pair in zip(mixes, pairs, strict=True)]
