"""ELMo in plain torch: a biLM, and one or more learned mixes of its layers."""

import copy
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, Cache, bilm_with_weights, has_weights
from elmo_plugin.embedding.runner import BiLmRunner
from elmo_plugin.embedding.scalar_mix import ScalarMix


class ElmoOutput(NamedTuple):
    """
    representations: each (batch, time, output_dim), one per mix
    mask: (batch, time), true where there is a word
    """

    representations: list[Tensor]
    mask: Tensor


class Elmo(nn.Module):
    """
    ELMo representations (Peters et al., 2018, section 3.2): each is a `ScalarMix` of the biLM's layers, then
    dropout. The biLM runs once for all of them.

    It trains the biLM if, and only if, parameters of the biLM ask for gradients, now or later
    (`requires_grad_`). Several `Elmo` may have the same biLM: while it is frozen, it runs once for the same
    batch. The caller's biLM is never changed: where `requires_grad` asks for another one, this is a copy.

    # Parameters

    bilm : `BiLm`
        The language model.
    num_output_representations : `int`
        How many mixes there are, each with weights of its own: one per place where ELMo enters a task model.
    layers : `str | int | Sequence[int]`
        What is mixed: `"all"` layers, the `"top"` one, the `"token"` layer, the one with this number, or the
        ones with these numbers. Layer 0 is the token layer. A layer alone is only scaled by `gamma`.
    layer_norm : `bool`
        Whether each vector of each layer is normalised to mean 0 and variance 1 before mixing. Mean and
        variance are those of the vector's own features. Published implementations take them over all words
        of the batch instead, which makes a word's vector depend on the rest of its batch.
    dropout : `float`
        The rate of dropout on the representations, in training.
    requires_grad : `bool | None`
        Whether the biLM is trained with the task. `None` to leave it as it is: biLMs are loaded frozen.
    stateful : `bool`
        Whether the LSTMs go on, row by row, where the last batch stopped, as published implementations do,
        instead of starting from zero. Gradients do not reach back into earlier batches. The state is no part
        of the `state_dict`, and copies of the module start without it.
    mixing_weights : `Sequence[float] | None`
        Weights of the mixed layers that stay as they are (see `ScalarMix`); `gamma` stays 1. `None` to learn
        both.
    precision : `str | None`
        The numbers in which the biLM computes here: "float32", "bfloat16" or "int8". `None` for the biLM's
        own. A biLM that is trained computes in "float32".
    cache : `Cache | None`
        Where the layers of sentences are kept between batches and epochs, such as an `ActivationCache` (see
        `docs/cache.md`). The biLM must be frozen and not stateful.
    max_batch_tokens : `int | None`
        The size of the chunks in which a frozen biLM computes a batch; `None` for the biLM's own.

    Raises `BiLmError` where `layers` or `mixing_weights` do not fit the biLM, where it cannot be trained in
    the precision, and where it cannot have a cache.
    """

    def __init__(
        self,
        bilm: BiLm,
        num_output_representations: int = 1,
        *,
        layers: str | int | Sequence[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        requires_grad: bool | None = None,
        stateful: bool = False,
        mixing_weights: Sequence[float] | None = None,
        precision: str | None = None,
        cache: Cache | None = None,
        max_batch_tokens: int | None = None,
    ) -> None:
        super().__init__()
        if requires_grad is not None and requires_grad != bilm.is_trained:
            bilm = copy.deepcopy(bilm).requires_grad_(requires_grad)
        self.runner = BiLmRunner(stateful, precision, cache, max_batch_tokens)
        self.runner.check(bilm)
        self.bilm = bilm
        self.layer_numbers = _layer_numbers(layers, bilm.num_layers)
        self.layer_norm = layer_norm
        self.mixes = nn.ModuleList(
            nn.Sequential(
                OrderedDict(
                    scalar_mix=ScalarMix(len(self.layer_numbers), mixing_weights is None, mixing_weights),
                    dropout=nn.Dropout(dropout),
                )
            )
            for _ in range(num_output_representations)
        )

    @property
    def output_dim(self) -> int:
        return self.bilm.output_dim

    def forward(self, character_ids: Tensor) -> ElmoOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), any integer type, rows of zeros after a sentence's last word.

        # Returns

        `ElmoOutput`
            With zeros at padding in every representation. It is on the device of `character_ids`.
        """
        layers, mask, _ = self.runner.run(self.bilm, character_ids)
        layers = chosen_layers(layers, self.layer_numbers, self.layer_norm)
        return ElmoOutput([mix(layers) for mix in self.mixes], mask)

    def reset_state(self) -> None:
        """Lets a stateful biLM start the next batch from zero."""
        self.runner.reset_state()

    @property
    def _weight(self) -> Tensor:
        """Has the biLM's type and device."""
        return self.bilm.token_encoder.projection.weight

    def _load_bilm_weights(self, weights: Mapping[str, Tensor]) -> None:
        """
        Takes a biLM that has these weights in the place of a frozen one, which others may hold too. torch
        then loads the weights into it once more.
        """
        if not weights or self.bilm.is_trained or has_weights(self.bilm, weights):
            return
        bilm = self.bilm
        try:
            self.bilm = bilm_with_weights(bilm.options, weights, bilm.precision, self._weight)
        except BiLmError:  # weights that do not fit: torch says so
            self.bilm = copy.deepcopy(bilm)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        start = f"{prefix}bilm."
        self._load_bilm_weights(
            {name[len(start) :]: state_dict[name] for name in state_dict if name.startswith(start)}
        )
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _apply(self, function: Callable[[Tensor], Tensor], *args: Any) -> nn.Module:
        """A frozen biLM moves to other devices, but the numbers of another type are those of a copy."""
        if function(self._weight.new_empty(0)).dtype != self._weight.dtype and not self.bilm.is_trained:
            self.bilm = copy.deepcopy(self.bilm)
        return super()._apply(function, *args)


def chosen_layers(layers: Tensor, layer_numbers: list[int], layer_norm: bool) -> Tensor:
    """
    Returns the layers that a `ScalarMix` weighs.

    # Parameters

    layers : `Tensor`
        All layers, shape (num_layers, ..., dim).
    layer_numbers : `list[int]`
        Which of them are mixed.
    layer_norm : `bool`
        Whether each vector is normalised.

    # Returns

    `Tensor`
        Shape (mixed layers, ..., dim).
    """
    if layer_numbers != list(range(len(layers))):
        layers = layers[layer_numbers]
    return nn.functional.layer_norm(layers, layers.shape[-1:]) if layer_norm else layers


def _layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """Returns the numbers of the layers that are mixed."""
    if layers == "all":
        return list(range(num_layers))
    if layers == "top":
        return [num_layers - 1]
    if layers == "token":
        return [0]
    numbers: list[Any] = list(layers) if isinstance(layers, list | tuple) else [layers]
    valid = all(type(number) is int and 0 <= number < num_layers for number in numbers)
    if not valid or not numbers or len(set(numbers)) < len(numbers):
        raise BiLmError(
            f'layers must be "all", "top", "token", a layer from 0 to {num_layers - 1} or a list of '
            f"different such layers, not {layers!r}"
        )
    return numbers
