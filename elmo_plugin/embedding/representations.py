"""ELMo in plain torch: a biLM, and one or more learned mixes of its layers."""

import copy
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, Cache, Dropout, weights_equal
from elmo_plugin.embedding.scalar_mix import ScalarMix
from elmo_plugin.embedding.session import BiLmSession


class ElmoOutput(NamedTuple):
    """
    representations: each (batch, time, output_dim), one per mix
    mask: (batch, time), true where there is a word
    """

    representations: list[Tensor]
    mask: Tensor


class ElmoRepresentations(nn.Module):
    """
    ELMo representations (Peters et al., 2018, section 3.2): each is a `ScalarMix` of the biLM's layers,
    followed by dropout. The biLM runs once for all of them.

    The biLM is trained if, and only if, its parameters require gradients (`requires_grad_`). Several
    `ElmoRepresentations` may have the same biLM: while it is frozen, it runs once for the same batch. The
    caller's biLM is never changed: if `requires_grad` differs from it, this trains or freezes a copy.

    # Parameters

    bilm : `BiLm`
        The language model.
    num_output_representations : `int`
        The number of mixes, each with its own weights: one for each place where ELMo enters a task model.
    layers : `str | int | Sequence[int]`
        Which layers are mixed: `"all"`, `"top"`, `"token"`, a layer's number or a list of numbers. Layer 0 is
        the token layer. A single layer is only scaled by `gamma`.
    layer_norm : `bool`
        Whether each vector of each layer is normalized over its own features to mean 0 and variance 1 before
        mixing. Published implementations normalize over all words of the batch, which makes a word's vector
        depend on the rest of its batch.
    dropout : `float`
        The rate of dropout on the representations, in training.
    requires_grad : `bool | None`
        Whether the biLM is trained with the task; `None` leaves it as it is. biLMs are loaded frozen.
    stateful : `bool`
        Whether the LSTMs continue, row by row, from their state after the last batch, as in published
        implementations, instead of starting from zero. Gradients do not flow into earlier batches. The state
        is not in the `state_dict`, and copies of the module start without it.
    mixing_weights : `Sequence[float] | None`
        Fixed weights of the mixed layers (see `ScalarMix`), with a fixed `gamma` of 1; `None` to learn both.
    precision : `str | None`
        The precision of the frozen biLM: "float32", "bfloat16" or "int8"; `None` for the biLM's own. A biLM
        that is trained computes in "float32".
    cache : `Cache | None`
        Stores the layers of sentences between batches and epochs, such as an `ActivationCache` (see
        `docs/cache.md`). The biLM must be frozen and not stateful.
    max_batch_tokens : `int | None`
        The size of the chunks in which a frozen biLM computes a batch; `None` for the biLM's own.

    Raises `BiLmError` if `bilm` is not a `BiLm`, if `layers` or `mixing_weights` do not fit it, if it cannot
    be trained in the precision, or if it cannot have a cache.
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
        if not isinstance(bilm, BiLm):
            raise BiLmError(f"expected a BiLm, such as BiLm.from_pretrained('tiny'), not {bilm!r}")
        if requires_grad is not None and requires_grad != bilm.is_trainable:
            bilm = copy.deepcopy(bilm).requires_grad_(requires_grad)
        self.session = BiLmSession(stateful, precision, cache, max_batch_tokens)
        self.session.check(bilm)
        self.bilm = bilm
        self.borrows_bilm = False  # from another placement, see `share_frozen_bilms`
        self.layer_numbers = _layer_numbers(layers, bilm.num_layers)
        self.layer_norm = layer_norm
        self.mixes = nn.ModuleList(
            nn.Sequential(
                OrderedDict(
                    scalar_mix=ScalarMix(len(self.layer_numbers), mixing_weights is None, mixing_weights),
                    dropout=Dropout(dropout),
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
            On the device of `character_ids`, with zeros at padding.
        """
        layers, mask, _ = self.session.run(self.bilm, character_ids)
        layers = chosen_layers(layers, self.layer_numbers, self.layer_norm)
        return ElmoOutput([mix(layers) for mix in self.mixes], mask)

    def reset_state(self) -> None:
        """Makes a stateful biLM start the next batch from zero."""
        self.session.reset_state()


def share_frozen_bilms(module: nn.Module) -> None:
    """
    Replaces equal frozen biLMs in a model by one of them, so that it is in memory once and runs once for a
    batch. A model that is being built, such as a `ContextualEncoder` with two placements or an ensemble,
    calls this for its own parts: no other model is changed.
    """
    kept: list[BiLm] = []
    for elmo in module.modules():
        if isinstance(elmo, ElmoRepresentations) and not elmo.bilm.is_trainable:
            own = elmo.bilm
            elmo.bilm = next((bilm for bilm in kept if bilm is own or _are_equal(bilm, own)), own)
            elmo.borrows_bilm = elmo.bilm in kept
            if not elmo.borrows_bilm:
                kept.append(own)


def _are_equal(one: BiLm, other: BiLm) -> bool:
    """Returns whether both have the same weights and settings."""
    kinds = [
        (type(bilm), bilm.options, bilm.precision, bilm.max_batch_tokens, bilm.recurrence)
        for bilm in (one, other)
    ]
    dtypes = [bilm.token_encoder.projection.weight.dtype for bilm in (one, other)]
    return kinds[0] == kinds[1] and dtypes[0] == dtypes[1] and weights_equal(one, other.state_dict())


def chosen_layers(layers: Tensor, layer_numbers: list[int], layer_norm: bool) -> Tensor:
    """
    Returns the layers that a `ScalarMix` weighs.

    # Parameters

    layers : `Tensor`
        All layers, shape (num_layers, ..., dim).
    layer_numbers : `list[int]`
        Which of them are mixed.
    layer_norm : `bool`
        Whether each vector is normalized.

    # Returns

    `Tensor`
        Shape (mixed layers, ..., dim).
    """
    if layer_numbers != list(range(len(layers))):
        layers = layers[layer_numbers]
    return nn.functional.layer_norm(layers, layers.shape[-1:]) if layer_norm else layers


def _layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
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
