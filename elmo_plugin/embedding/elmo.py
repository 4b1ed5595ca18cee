"""ELMo in plain torch: a biLM, and one or more learned mixes of its layers."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, BiLmState, Cache, check_precision
from elmo_plugin.bilm.lstm import map_state
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

    A frozen biLM runs without gradients and never in training mode; it is otherwise the given module itself,
    whose parameters are frozen or released here. Several `Elmo` may have the same biLM. They then run it once
    for the same batch if it is frozen, and its parameters are released if one of them trains it.

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
    requires_grad : `bool`
        Whether the biLM is trained with the task.
    stateful : `bool`
        Whether the LSTMs go on, row by row, where the last batch stopped, as published implementations do,
        instead of starting from zero. Gradients do not reach back into earlier batches. The state is no part
        of the `state_dict`, and copies of the module start without it.
    mixing_weights : `Sequence[float] | None`
        Shares of the mixed layers that stay as they are (see `ScalarMix`); `gamma` stays 1. `None` to learn
        both.
    precision : `str | None`
        In which numbers the biLM computes: "float32", "bfloat16" or "int8". `None` for those that it computes
        in already. A biLM that is trained computes in "float32".
    cache : `Cache | None`
        Where the layers of sentences are kept between batches and epochs, such as an `ActivationCache` (see
        `docs/cache.md`). The biLM must be frozen and not stateful.

    Raises `BiLmError` where `layers` or `mixing_weights` do not fit the biLM, where it cannot be trained in
    the precision, where another `Elmo` runs it in another precision, and where it cannot have a cache.
    """

    def __init__(
        self,
        bilm: BiLm,
        num_output_representations: int = 1,
        layers: str | int | Sequence[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        requires_grad: bool = False,
        stateful: bool = False,
        mixing_weights: Sequence[float] | None = None,
        precision: str | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__()
        if cache is not None and (requires_grad or stateful):
            raise BiLmError("a cache is for a biLM that is frozen (requires_grad is false) and not stateful")
        _set_precision(bilm, precision, requires_grad)
        self.requires_grad = requires_grad
        self.bilm = bilm
        self.layer_numbers = _layer_numbers(layers, bilm.num_layers)
        self.layer_norm = layer_norm
        self.stateful = stateful
        self.cache = cache
        self.mixes = nn.ModuleList(
            nn.Sequential(
                OrderedDict(
                    scalar_mix=ScalarMix(len(self.layer_numbers), mixing_weights is None, mixing_weights),
                    dropout=nn.Dropout(dropout),
                )
            )
            for _ in range(num_output_representations)
        )
        self._state: BiLmState | None = None
        bilm.memo.join(self)
        bilm.requires_grad_(self._bilm_is_trained())
        self.train(self.training)

    @property
    def output_dim(self) -> int:
        return self.bilm.output_dim

    @property
    def reads_memo(self) -> bool:
        """Whether what the biLM gives depends on nothing but its weights and the words."""
        return not self.requires_grad and not self.stateful

    def use_bilm(self, bilm: BiLm) -> None:
        """Runs this biLM from now on. It must be of the same sizes as the one before, and frozen like it."""
        self.bilm.memo.leave(self)
        self.bilm = bilm
        bilm.memo.join(self)

    def forward(self, character_ids: Tensor) -> ElmoOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), any integer type, rows of zeros behind a sentence's last word.

        # Returns

        `ElmoOutput`
            With zeros at padding in every representation. It is on the device of `character_ids`.
        """
        layers, mask = self._run_bilm(character_ids)
        layers = chosen_layers(layers, self.layer_numbers, self.layer_norm)
        return ElmoOutput([mix(layers) for mix in self.mixes], mask)

    def reset_state(self) -> None:
        """Lets a stateful biLM start the next batch from zero."""
        self._state = None

    def train(self, mode: bool = True) -> "Elmo":
        """Changes the mode of all parts but a frozen biLM, which is always in evaluation mode."""
        super().train(mode)
        self.bilm.train(mode and self._bilm_is_trained())
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.bilm.memo.join(self)

    def _bilm_is_trained(self) -> bool:
        """Whether this or another `Elmo` trains the biLM."""
        return any(user.requires_grad for user in self.bilm.memo.users())

    def _run_bilm(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """All layers, shape (num_layers, batch, time, output_dim), and the mask."""
        ids = character_ids.to(self.bilm.boundaries.device)  # where another model may have moved it
        if self.requires_grad:
            output = self.bilm(ids, self._state_for_bilm(), keep_state=self.stateful)
        else:
            with torch.no_grad(), self.bilm.in_evaluation_mode():
                if self.reads_memo:
                    output = self.bilm.memo.run(self.bilm, ids, self)
                else:
                    output = self.bilm(ids, self._state_for_bilm(), keep_state=self.stateful)
        if self.stateful:
            self._state = map_state(Tensor.detach, output.state)
        device = character_ids.device
        return output.layers.to(device), output.mask.to(device, copy=True)

    def _state_for_bilm(self) -> BiLmState | None:
        """The last batch's state, on the biLM's device and of its type, should they have changed."""
        weight = next(self.bilm.parameters())
        return None if self._state is None else map_state(lambda part: part.to(weight), self._state)


def chosen_layers(layers: Tensor, layer_numbers: list[int], layer_norm: bool) -> Tensor:
    """
    # Parameters

    layers : `Tensor`
        All layers, shape (num_layers, ..., dim).
    layer_numbers : `list[int]`
        Which of them are mixed.
    layer_norm : `bool`
        Whether each vector is normalised.

    # Returns

    `Tensor`
        What a `ScalarMix` weighs, shape (mixed layers, ..., dim).
    """
    if layer_numbers != list(range(len(layers))):
        layers = layers[layer_numbers]
    return nn.functional.layer_norm(layers, layers.shape[-1:]) if layer_norm else layers


def _set_precision(bilm: BiLm, precision: str | None, requires_grad: bool) -> None:
    precision = bilm.precision if precision is None else check_precision(precision)
    if requires_grad and precision != "float32":
        raise BiLmError(f"a biLM is fine-tuned in float32, not in {precision}")
    if precision != bilm.precision and bilm.memo.users():
        raise BiLmError(
            f"another Elmo runs this biLM in {bilm.precision}; load it once more to run it in {precision}"
        )
    bilm.precision = precision


def _layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """The numbers of the layers that are mixed."""
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
