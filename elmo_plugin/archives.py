"""Trained models: importing what they are made of, and the mixes in them."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io import read_state
from elmo_plugin.common.errors import NEEDS_ALLENNLP
from elmo_plugin.embedding import ElmoRepresentations, ScalarMix, read_mixes


class TrainedMix(NamedTuple):
    """
    placement: as in `Mix`
    elmo: the biLM, its layers, and whether they are normalized
    scalar_mix: their weights
    """

    placement: str
    elmo: ElmoRepresentations
    scalar_mix: ScalarMix


def import_all_plugins(subject: str) -> None:
    """
    Registers this package's classes, then those of the user's plugins. This takes seconds.

    Raises `BiLmError`, which says that `subject` needs AllenNLP, if AllenNLP is not installed.
    """
    try:
        import_module("allennlp.models")  # needs the most of AllenNLP's dependencies
        from allennlp.common.plugins import import_plugins
    except ModuleNotFoundError:
        raise BiLmError(f"{subject} {NEEDS_ALLENNLP}") from None
    import_module("elmo_plugin.register")
    import_plugins()


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
