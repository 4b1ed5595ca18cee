"""The mixture of a biLM's layers that a trained task model has learned."""

from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.embedding import Elmo, ScalarMix, chosen_layers


class Mixture(nn.Module):
    """
    What `Elmo` does with the layers, without dropout.

    # Parameters

    layer_numbers : `list[int]`
        Which layers are mixed.
    layer_norm : `bool`
        Whether each vector of each layer is normalised before.
    scalar_mix : `ScalarMix`
        Weighs them.
    """

    def __init__(self, layer_numbers: list[int], layer_norm: bool, scalar_mix: ScalarMix) -> None:
        super().__init__()
        self.layer_numbers = layer_numbers
        self.layer_norm = layer_norm
        self.scalar_mix = scalar_mix

    def extra_repr(self) -> str:
        return f"layer_numbers={self.layer_numbers}, layer_norm={self.layer_norm}"

    def forward(self, layers: Tensor) -> Tensor:
        """From (num_layers, words, dim) to (words, dim)."""
        return self.scalar_mix(chosen_layers(layers, self.layer_numbers, self.layer_norm))


def load_mixture(archive: str, placement: str | None, precision: str) -> tuple[BiLm, Mixture]:
    """
    # Parameters

    archive : `str`
        A `model.tar.gz`, or the directory of a training, of a model with ELMo.
    placement : `str`, optional
        Where in the model, if ELMo is at several places: see `Mix`.
    precision : `str`
        In which the biLM computes, whatever it was in training.

    # Returns

    `BiLm`, `Mixture`
        Frozen, on the CPU.

    Raises `BiLmError` where the model has no ELMo, or not at that place.
    """
    # These take ten seconds, for which no other layout waits, and register the model.
    from allennlp.common.plugins import import_plugins
    from allennlp.models import load_archive

    import elmo_plugin.plugin  # noqa: F401
    from elmo_plugin.embedding import read_mixes

    import_plugins()
    model = load_archive(archive).model
    elmos = [module for module in model.modules() if isinstance(module, Elmo)]
    places = [(elmo, mix) for elmo in elmos for mix in elmo.mixes.modules() if isinstance(mix, ScalarMix)]
    names = [mix.placement for mix in read_mixes(model.state_dict())]
    found = {name: place for name, place in zip(names, places, strict=True) if placement in (None, name)}
    if len(found) != 1:
        raise BiLmError(_which(archive, placement, names))
    ((elmo, scalar_mix),) = found.values()
    bilm = elmo.bilm.float().eval().requires_grad_(False)
    bilm.precision = precision
    return bilm, Mixture(elmo.layer_numbers, elmo.layer_norm, scalar_mix.requires_grad_(False))


def _which(archive: str, placement: str | None, names: list[str]) -> str:
    if not names:
        return f"archive {archive}: its model has no ELMo of elmo_plugin"
    places = ", ".join(names)
    if placement is None:
        return f"archive {archive}: its model has ELMo at several places, {places}; name one as --placement"
    return f"archive {archive}: its model has no ELMo at {placement!r}, but at {places}"
