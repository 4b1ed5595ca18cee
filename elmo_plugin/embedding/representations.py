"""ELMo in plain torch: a biLM, and one or more learned mixes of its layers (Peters et al., 2018,
eq. 1).
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import (
    BiLm,
    BiLmError,
    Cache,
    Dropout,
    LstmState,
    check_cache,
    get_precision,
    layer_numbers,
    mixing_weights,
)
from elmo_plugin.bilm.io import Source
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.common.formats.torch_files import FiniteModule


class ScalarMix(FiniteModule):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(w)`, eq. (1) of Peters et al. (2018).

    Initially all layers have the same weight and `gamma` is 1.

    # Parameters

    num_layers : `int`
        The number of layers `h_j`.
    trainable : `bool`
        Whether `w` (the parameter `weights`) and `gamma` are learned.
    initial_weights : `Sequence[float] | None`
        The initial `s_j`: one for each layer, not negative, of sum one. Unlike the pre-softmax
        values that other implementations take, `[0, 1, 0]` means only the middle layer.

    Raises `BiLmError` for other `initial_weights`, and if `load_state_dict` reads NaN or infinity.
    """

    def __init__(
        self,
        num_layers: int,
        trainable: bool = True,
        initial_weights: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        if initial_weights is None:
            logits = torch.zeros(num_layers)
        else:
            weights = torch.tensor(mixing_weights(initial_weights, num_layers))
            # The softmax of the logarithms gives the weights back. A weight of zero becomes the
            # least positive number, because its logarithm would be infinite.
            least = torch.finfo(weights.dtype).tiny
            logits = weights.clamp_min(least).log()
        self.weights = nn.Parameter(logits, requires_grad=trainable)
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=trainable)

    def normalized_weights(self) -> Tensor:
        """Returns the weights `s`, shape (num_layers,): positive, of sum one."""
        return torch.softmax(self.weights, dim=0)

    def forward(self, layers: Tensor) -> Tensor:
        """
        Mixes `layers`, shape (num_layers, ...). The result has the shape (...), and the type of the
        weights.
        """
        return weighted_sum(self.gamma * self.normalized_weights(), layers)


@dataclass
class MixSettings:
    """
    How one ELMo representation is made of a biLM's layers.

    # Parameters

    layers : `str | int | list[int]`, optional (default = `"all"`)
        "all", "top" or "token", a layer's number, or a list of such numbers; 0 is the token layer.
    layer_norm : `bool`, optional (default = `False`)
        Whether each vector is normalized over its own features before mixing.
    dropout : `float`, optional (default = `0.5`)
        The rate of dropout on the mixed vectors.
    mixing_weights : `list[float]`, optional (default = `None`)
        Fixed weights of the mixed layers, such as `[0.2, 0.5, 0.3]`, of sum 1. They are learned if
        not given.
    """

    layers: str | int | list[int] = "all"
    layer_norm: bool = False
    dropout: float = 0.5
    mixing_weights: list[float] | None = None


class LayerMix(nn.Module):
    """
    Makes one ELMo representation, vectors of shape (..., dim), from all layers of a biLM, shape
    (num_layers, ..., dim). It selects the layers `layer_numbers`, normalizes them if `layer_norm`
    is true, mixes them, and applies dropout.

    Raises `BiLmError` if the settings do not fit a biLM with `num_layers` layers.
    """

    def __init__(self, settings: MixSettings, num_layers: int) -> None:
        super().__init__()
        self.layer_numbers = layer_numbers(settings.layers, num_layers)
        self.layer_norm = settings.layer_norm
        self.scalar_mix = ScalarMix(
            len(self.layer_numbers),
            trainable=settings.mixing_weights is None,
            initial_weights=settings.mixing_weights,
        )
        self.dropout = Dropout(settings.dropout)

    def forward(self, layers: Tensor) -> Tensor:
        """Returns the representation that is made of all layers of the biLM."""
        are_all_mixed = self.layer_numbers == list(range(len(layers)))
        if not are_all_mixed:  # to select all of them would only make a copy
            layers = layers[self.layer_numbers]  # Shape: (mixed layers, ..., dim)
        if self.layer_norm:
            layers = nn.functional.layer_norm(layers, layers.shape[-1:])
        return self.dropout(self.scalar_mix(layers))  # Shape: (..., dim)


def weighted_sum(weights: Tensor, layers: Tensor) -> Tensor:
    """
    Returns `sum_j weights_j layers_j`, in the type of the weights. Autocast is switched off: it
    would round the vectors, and the gradients of the weights, to 16 bits.
    """
    with torch.autocast(layers.device.type, enabled=False):
        return torch.tensordot(weights, layers.to(weights.dtype), dims=1)


class ElmoOutput(NamedTuple):
    """The output of `ElmoRepresentations`."""

    representations: list[Tensor]  # one for each mix; shape of each: (batch, time, output_dim)
    mask: Tensor  # Shape: (batch, time), true at the words


class ElmoRepresentations(nn.Module):
    """
    ELMo representations (Peters et al., 2018, section 3.2): each is a `ScalarMix` of the biLM's
    layers, followed by dropout. The biLM runs once for all of them.

    The biLM is trained if, and only if, its parameters require gradients (`requires_grad_`). The
    caller's biLM is never changed: if `requires_grad` asks for something else, a copy is trained or
    frozen.

    # Parameters

    bilm : `BiLm | str | Path | Mapping[str, str]`
        The language model, or a source of `BiLm.from_pretrained`, such as "base".
    num_mixes : `int`
        The number of representations, each with its own weights, such as one for each place in a
        model.
    layers : `str | int | list[int]`
        Which layers are mixed: `"all"`, `"top"`, `"token"`, a layer's number or a list of numbers.
        Layer 0 is the token layer. A single layer is only scaled by `gamma`.
    layer_norm : `bool`
        Whether each vector of each layer is normalized over its own features to mean 0 and variance
        1 before mixing. Published implementations normalize over all words of the batch, so a
        word's vector depends on the rest of its batch.
    dropout : `float`
        The rate of dropout on the representations, in training.
    mixing_weights : `list[float] | None`
        Fixed weights of the mixed layers, with a fixed `gamma` of 1; `None` to learn both.
    requires_grad : `bool | None`
        Whether the biLM is trained with the task; `None` leaves it unchanged. biLMs are loaded
        frozen.
    stateful : `bool`
        Whether the LSTMs continue, row by row, from their state after the last batch, as in
        published implementations, instead of starting from zero. Gradients do not flow into earlier
        batches. The state is not in the `state_dict`, and copies of the module start without it.
    precision : `str | None`
        The precision of the frozen biLM: "float32", "bfloat16" or "int8"; `None` for the biLM's
        own. A biLM that is trained computes in "float32".
    cache : `Cache | None`
        Stores the layers of sentences between batches and epochs, such as a `MemoryCache` (see
        `docs/faster.md`). The biLM must be frozen and not stateful.
    max_batch_tokens : `int | None`
        The size of the chunks in which a frozen biLM computes a batch; `None` for the biLM's own.

    Raises `BiLmError` if the biLM does not exist, if `layers` or `mixing_weights` do not fit it, if
    it cannot be trained in the precision, or if it cannot have a cache.
    """

    __call__: Callable[..., ElmoOutput]

    def __init__(
        self,
        bilm: BiLm | Source,
        num_mixes: int = 1,
        *,
        layers: str | int | list[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        mixing_weights: list[float] | None = None,
        requires_grad: bool | None = None,
        stateful: bool = False,
        precision: str | None = None,
        cache: Cache | None = None,
        max_batch_tokens: int | None = None,
    ) -> None:
        super().__init__()
        check_at_least("num_mixes", num_mixes, least=0)
        if max_batch_tokens is not None:
            check_at_least("max_batch_tokens", max_batch_tokens, least=1)
        bilm = _load_or_copy(bilm, requires_grad)
        _check_precision(bilm, precision)
        check_cache(cache)
        if cache is not None and (bilm.is_trainable or stateful):
            raise BiLmError("a cache requires a frozen (requires_grad is false), stateless biLM")
        self.bilm = bilm
        self.stateful = stateful
        self.precision = precision
        self.cache = cache
        self.max_batch_tokens = max_batch_tokens
        self._state: LstmState | None = None
        settings = MixSettings(layers, layer_norm, dropout, mixing_weights)
        # A `ModuleDict`, because `ContextualElmo` names its mixes "input" and "output". Its
        # `num_mixes` is 0, so none is made here.
        self.mixes = nn.ModuleDict()
        for number in range(num_mixes):
            self.mixes[str(number)] = LayerMix(settings, bilm.num_layers)

    @property
    def output_dim(self) -> int:
        """The size of a representation."""
        return self.bilm.output_dim

    def forward(self, character_ids: Tensor) -> ElmoOutput:
        """
        Returns the representations of words, zeros at padding. The character ids have the shape
        (batch, time, characters), any integer type, and rows of zeros after a sentence's last word.
        """
        layers, mask = self.run_bilm(character_ids)
        representations = [mix(layers) for mix in self.mixes.values()]
        return ElmoOutput(representations, mask)

    def run_bilm(self, character_ids: Tensor, boundaries: bool = False) -> tuple[Tensor, Tensor]:
        """
        Returns all layers of the biLM, shape (num_layers, batch, time, output_dim), and the mask.
        Both include the sentence boundaries if `boundaries` is true. Then the cache is not used,
        because it does not store them. A stateful biLM continues from its state after the batch
        before.
        """
        if self.cache is not None and not boundaries:
            output = self.bilm.forward_cached(
                character_ids,
                precision=self.precision,
                max_batch_tokens=self.max_batch_tokens,
                cache=self.cache,
            )
            return output.layers, output.mask
        state = None
        if self.stateful and self._state is not None:
            # The biLM may have changed its device or type since the batch before.
            any_weight = self.bilm.token_encoder.projection.weight
            state = self._state.to(any_weight)
        output = self.bilm(
            character_ids,
            state,
            keep_state=self.stateful,
            boundaries=boundaries,
            precision=self.precision,
            max_batch_tokens=self.max_batch_tokens,
        )
        if output.state is not None:
            self._state = output.state.detach()
        return output.layers, output.mask

    def reset_state(self) -> None:
        """Makes a stateful biLM start the next batch from zero."""
        self._state = None

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes that copies get. The state is left out: they start from zero."""
        return {**self.__dict__, "_state": None}


def _load_or_copy(bilm: BiLm | Source, requires_grad: bool | None) -> BiLm:
    """
    Loads the biLM if it is given by its source. If it is frozen but should be trained, or is
    trained but should be frozen, returns a copy, so that the caller's biLM is not changed.
    """
    if not isinstance(bilm, BiLm):
        bilm = BiLm.from_pretrained(bilm)
    if requires_grad is None or requires_grad == bilm.is_trainable:
        return bilm
    return copy.deepcopy(bilm).requires_grad_(requires_grad)


def _check_precision(bilm: BiLm, precision: str | None) -> None:
    """Raises `BiLmError` if a biLM cannot compute, or cannot be trained, in this precision."""
    name = get_precision(precision or bilm.precision).name
    if bilm.is_trainable and name != "float32":
        raise BiLmError(f"a biLM is fine-tuned in float32, not in {name}")
