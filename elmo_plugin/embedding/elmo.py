"""ELMo in plain torch: a biLM, and one or more learned mixes of its layers."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, BiLmState
from elmo_plugin.bilm.recurrence import LstmState
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
    whose parameters are frozen or released here.

    # Parameters

    bilm : `BiLm`
        The language model.
    num_output_representations : `int`
        How many mixes there are, each with weights of its own: one per place where ELMo enters a task model.
    layers : `str | int | Sequence[int]`
        What is mixed: `"all"` layers, the `"top"` one, the one with this number, or the ones with these
        numbers. Layer 0 is the token layer. A layer alone is only scaled by `gamma`.
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

    Raises `BiLmError` where `layers` or `mixing_weights` do not fit the biLM.
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
    ) -> None:
        super().__init__()
        self.bilm = bilm.requires_grad_(requires_grad)
        self.layer_numbers = _layer_numbers(layers, bilm.num_layers)
        self.layer_norm = layer_norm
        self.requires_grad = requires_grad
        self.stateful = stateful
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
        self.train(self.training)

    @property
    def output_dim(self) -> int:
        return self.bilm.output_dim

    def forward(self, character_ids: Tensor) -> ElmoOutput:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (batch, time, characters), any integer type, rows of zeros behind a sentence's last word.

        # Returns

        `ElmoOutput`
            With zeros at padding in every representation.
        """
        layers, mask = self._run_bilm(character_ids)
        if self.layer_norm:
            layers = nn.functional.layer_norm(layers, layers.shape[-1:])
        return ElmoOutput([mix(layers) for mix in self.mixes], mask)

    def reset_state(self) -> None:
        """Lets a stateful biLM start the next batch from zero."""
        self._state = None

    def train(self, mode: bool = True) -> "Elmo":
        """Changes the mode of all parts but a frozen biLM, which is always in evaluation mode."""
        super().train(mode)
        self.bilm.train(mode and self.requires_grad)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}

    def _run_bilm(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """The layers to be mixed, shape (mixed layers, batch, time, output_dim), and the mask."""
        weight = next(self.bilm.parameters())  # the module may have changed its device since the last batch
        state = None if self._state is None else _map_state(lambda part: part.to(weight), self._state)
        with torch.set_grad_enabled(self.requires_grad and torch.is_grad_enabled()):
            output = self.bilm(character_ids, state)
        if self.stateful:
            self._state = _map_state(Tensor.detach, output.state)
        if self.layer_numbers == list(range(self.bilm.num_layers)):
            return output.layers, output.mask
        return output.layers[self.layer_numbers], output.mask


def _layer_numbers(layers: str | int | Sequence[int], num_layers: int) -> list[int]:
    """The numbers of the layers that are mixed."""
    if layers == "all":
        return list(range(num_layers))
    if layers == "top":
        return [num_layers - 1]
    numbers: list[Any] = list(layers) if isinstance(layers, list | tuple) else [layers]
    valid = all(type(number) is int and 0 <= number < num_layers for number in numbers)
    if not valid or not numbers or len(set(numbers)) < len(numbers):
        raise BiLmError(
            f'layers must be "all", "top", a layer from 0 to {num_layers - 1} or a list of different such '
            f"layers, not {layers!r}"
        )
    return numbers


def _map_state(function: Callable[[Tensor], Tensor], state: BiLmState) -> BiLmState:
    return BiLmState(*(LstmState(*map(function, direction)) for direction in state))
