"""`Elmo` and `ScalarMix` with the interface of AllenNLP's."""

from collections.abc import Mapping, Sequence
from math import isfinite
from os import PathLike
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, Cache
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import FiniteModule
from elmo_plugin.common.logs import get_logger
from elmo_plugin.embedding import weighted_sum
from elmo_plugin.migration.allennlp_api.elmo_bilm import ElmoBiLm

logger = get_logger(__name__)

SMALLEST_VARIANCE = 1e-13
WITHIN_A_CALL = "call"
"""The value of `stateful` with which each call of the model starts from a state of zeros."""


class AllenNlpScalarMix(FiniteModule):
    """
    Computes `gamma * sum_j s_j h_j` with `s = softmax(scalar_parameters)`, with the arguments of
    AllenNLP's `ScalarMix`. `do_layer_norm` normalizes each layer before it is mixed, by one mean
    and one variance over all features of all words and boundaries of the batch.

    Raises `BiLmError` if a layer lacks an initial parameter, or one is not finite.
    """

    def __init__(
        self,
        mixture_size: int,
        do_layer_norm: bool = False,
        initial_scalar_parameters: Sequence[float] | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__()
        if initial_scalar_parameters is None:
            values = [0.0] * mixture_size
        else:
            values = list(initial_scalar_parameters)
        if len(values) != mixture_size or not all(isfinite(value) for value in values):
            raise BiLmError(
                f"scalar mix parameters: expected {mixture_size} finite numbers, got {values}"
            )
        self.mixture_size = mixture_size
        self.do_layer_norm = do_layer_norm
        self.scalar_parameters = nn.ParameterList()
        for value in values:
            parameter = nn.Parameter(torch.tensor([float(value)]), requires_grad=trainable)
            self.scalar_parameters.append(parameter)
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=trainable)

    def forward(self, tensors: Tensor | Sequence[Tensor], mask: Tensor | None = None) -> Tensor:
        """
        Returns the mix of layers, shape (..., dim). The layers are one tensor of shape
        (mixture_size, ..., dim), or a sequence of `mixture_size` tensors of shape (..., dim).

        `mask`, shape (...), is true at the words and boundaries. Layer normalization needs it.
        """
        if len(tensors) != self.mixture_size:
            raise BiLmError(f"expected {self.mixture_size} layers, got {len(tensors)}")
        if self.do_layer_norm:
            if mask is None:
                raise BiLmError("do_layer_norm needs the mask of the words")
            tensors = [_normalize(layer, mask[..., None]) for layer in tensors]
        if isinstance(tensors, Tensor):
            layers = tensors
        else:
            layers = torch.stack(list(tensors))  # Shape: (mixture_size, ..., dim)
        weights = torch.softmax(torch.cat(list(self.scalar_parameters)), dim=0)
        return weighted_sum(self.gamma * weights, layers)


class Elmo(nn.Module):
    """
    Takes the arguments of `allennlp.modules.elmo.Elmo`, in their order, returns the same outputs,
    and has a `state_dict` that each of the two can load from the other. It needs no AllenNLP.

    By default, a sentence's vectors depend only on the sentence. AllenNLP's class keeps the LSTMs'
    state from batch to batch, and so does this one if `stateful` is true. If `stateful` is "call",
    the state is kept within a call of the model, as from the premises to the hypotheses, and each
    call starts from zero.

    New code should use `elmo_plugin.embedding.ElmoRepresentations`: it mixes any of the layers and
    normalizes each vector separately.

    # Parameters

    options_file, weight_file : `str | PathLike | None`
        The biLM in the published layout: paths or URLs.
    num_output_representations : `int`
        The number of mixes, each with its own weights.
    requires_grad : `bool`
        Whether the biLM is trained with the task.
    do_layer_norm : `bool`
        Whether each layer is normalized before it is mixed, by the mean and the variance of all its
        values in the batch, boundaries included. A word's vector then depends on the rest of its
        batch.
    dropout : `float`
        The rate of dropout on the representations, in training.
    vocab_to_cache : `Sequence[str] | None`
        The words to which `word_inputs` refer by number. Vectors of words are also reused without
        it.
    keep_sentence_boundaries : `bool`
        Whether the output includes the vectors of the sentence boundaries.
    scalar_mix_parameters : `Sequence[float] | None`
        Fixed weights of the layers, before the softmax.
    module : `nn.Module | None`
        Instead of a biLM: a module with the attribute `num_layers` that returns `activations` and
        `mask`, such as AllenNLP's `_ElmoBiLm`.
    bilm : `str | Mapping[str, str] | BiLm | None`
        Instead of the two files: a source of `BiLm.from_pretrained`, such as "tiny", or a biLM
        (copied).
    stateful : `bool | str`
        Whether the LSTMs continue, row by row, from their state after the last batch. With "call"
        each call of the AllenNLP model that contains this module begins with `reset_state`, which
        needs `elmo_plugin.dropin`.
    precision : `str | None`
        The precision of a frozen biLM: "float32", "bfloat16" or "int8".
    cache : `Cache | None`
        Stores the output of a frozen biLM for each sentence, such as an `ActivationCache` (see
        `docs/faster.md`). It does not store the vectors of boundaries, which `do_layer_norm` needs.

    Raises `BiLmError` if no biLM or module is given, or more than one, if it cannot be loaded, or
    if the other parameters do not fit it.
    """

    def __init__(
        self,
        options_file: str | PathLike[str] | None = None,
        weight_file: str | PathLike[str] | None = None,
        num_output_representations: int = 1,
        requires_grad: bool = False,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        vocab_to_cache: Sequence[str] | None = None,
        keep_sentence_boundaries: bool = False,
        scalar_mix_parameters: Sequence[float] | None = None,
        module: nn.Module | None = None,
        *,
        bilm: str | Mapping[str, str] | BiLm | None = None,
        stateful: bool | str = False,
        precision: str | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__()
        _check_stateful(stateful)
        _check_one_source(options_file, weight_file, bilm, module)
        # A `module` always returns vectors of the boundaries.
        needs_boundaries = module is not None or keep_sentence_boundaries or do_layer_norm
        if cache is not None and needs_boundaries:
            raise BiLmError(
                "cache cannot be combined with module, keep_sentence_boundaries or do_layer_norm: "
                "it stores no vectors of sentence boundaries"
            )
        if module is None:
            if bilm is None:
                bilm = {"options": str(options_file), "weights": str(weight_file)}
            module = ElmoBiLm(
                cast(Any, bilm),
                requires_grad=requires_grad,
                stateful=bool(stateful),
                precision=precision,
                vocab_to_cache=vocab_to_cache,
                cache=cache,
            )
        # The attribute has AllenNLP's name, because the names of the weights begin with it.
        self._elmo_lstm = cast(Any, module)
        # `elmo_plugin.dropin` reads this, and then resets the state before each call of the model.
        self.resets_with_each_call = stateful == WITHIN_A_CALL
        self._has_cached_vocab = vocab_to_cache is not None
        self._keep_sentence_boundaries = keep_sentence_boundaries
        self._dropout = nn.Dropout(dropout)
        # AllenNLP's class has this list too. Only its length is used here, because a script may
        # later replace a mix by setting the attribute: see `_mixes`.
        self._scalar_mixes: list[nn.Module] = []
        for number in range(num_output_representations):
            mix = AllenNlpScalarMix(
                self._elmo_lstm.num_layers,
                do_layer_norm,
                scalar_mix_parameters,
                trainable=scalar_mix_parameters is None,
            )
            self.add_module(f"scalar_mix_{number}", mix)
            self._scalar_mixes.append(mix)

    @classmethod
    def from_params(cls, params: Any, **extras: Any) -> "Elmo":
        """
        Constructs an `Elmo` from the part of a configuration that describes it. AllenNLP calls this
        for a model with an argument of this type. All arguments except `module` may be given.

        Raises `ConfigurationError` if an argument is unknown, or the constructor raises
        `BiLmError`.
        """
        from allennlp.common import Params
        from allennlp.common.checks import ConfigurationError
        from allennlp.common.from_params import create_kwargs

        from elmo_plugin.embedding import RegisteredCache

        if not isinstance(params, Params):
            raise ConfigurationError(
                f"{cls.__name__} is configured by its arguments, not by {params!r}"
            )
        if "module" in params:
            raise ConfigurationError(f"{cls.__name__}: a configuration cannot contain a module")
        # The constructor accepts any `Cache`, but a configuration can only name a registered one.
        if "cache" in params:
            extras["cache"] = RegisteredCache.from_params(params.pop("cache"))
        # AllenNLP declares that it constructs only its own `FromParams`, but it takes any class.
        any_class: Any = cls
        with as_configuration_error():
            arguments = create_kwargs(any_class.__init__, any_class, params, **extras)
            return cls(**arguments)

    @property
    def _mixes(self) -> list[nn.Module]:
        """The mixes, looked up by name, because a script may have replaced one of them."""
        return [getattr(self, f"scalar_mix_{number}") for number in range(len(self._scalar_mixes))]

    def get_output_dim(self) -> int:
        return self._elmo_lstm.get_output_dim()

    def reset_state(self) -> None:
        """Makes a stateful biLM start the next batch from zero."""
        # Both attributes have AllenNLP's names, because `module` may be AllenNLP's biLM. The outer
        # one is the biLM, and the inner one its stack of LSTMs.
        self._elmo_lstm._elmo_lstm.reset_states()

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Any]:
        """
        Embeds sentences.

        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, ..., time, characters), as `batch_to_ids` returns them.
        word_inputs : `Tensor | None`
            The number of each word in `vocab_to_cache`, shape (batch, ..., time). Its characters in
            `inputs` are not read. A word that is not in `vocab_to_cache` has a number greater than
            all of these, and its characters are read from `inputs`.

        # Returns

        `dict[str, Any]` `elmo_representations`: for each mix a tensor of shape (batch, ..., time,
            output_dim), zeros at padding; `mask`: shape (batch, ..., time), true at the words. With
            sentence boundaries time is longer by 2.
        """
        # The dimensions before time: the batch, and others, such as one over a list of texts.
        batch_shape = inputs.shape[:-2]
        if not batch_shape:
            shape = tuple(inputs.shape)
            raise BiLmError(f"expected character ids of shape (batch, …, time, 50), got {shape}")
        if word_inputs is not None and not self._has_cached_vocab:
            logger.warning("Elmo ignores word_inputs, because vocab_to_cache is missing")
            word_inputs = None
        if word_inputs is not None:
            word_inputs = word_inputs.flatten(0, -2)  # Shape: (sentences, time)
        inputs = inputs.flatten(0, -3)  # Shape: (sentences, time, characters)
        output = self._run_bilm(inputs, word_inputs)
        mask = output.mask
        mixed = [mix(output.layers, mask) for mix in self._mixes]
        if output.has_boundaries:
            if not self._keep_sentence_boundaries:
                # Each row of the mask is true at the words and the two boundaries, then false. With
                # two columns less, it is true as often as the sentence has words.
                mask = mask[:, 2:]
                # The words come after the first boundary.
                mixed = [vectors[:, 1:-1] for vectors in mixed]
            # Sets padding to zero. This also removes the second boundary of sentences that are
            # shorter than the longest one, if only words are returned.
            mixed = [vectors * mask[..., None] for vectors in mixed]
        representations = [self._dropout(vectors).unflatten(0, batch_shape) for vectors in mixed]
        return {"elmo_representations": representations, "mask": mask.unflatten(0, batch_shape)}

    def _run_bilm(self, inputs: Tensor, word_inputs: Tensor | None) -> "_BiLmOutput":
        """
        Runs the biLM, with sentence boundaries only if something needs them. AllenNLP's class
        always adds them.
        """
        bilm = self._elmo_lstm
        mixes = self._mixes
        mixes_are_unchanged = all(_is_unchanged(mix, AllenNlpScalarMix) for mix in mixes)
        if not mixes_are_unchanged or not _is_unchanged(bilm, ElmoBiLm):
            # A hook, or a part that a script has replaced, needs the output of AllenNLP's class.
            output = bilm(inputs, word_inputs)
            return _BiLmOutput(list(output["activations"]), output["mask"], has_boundaries=True)
        boundaries = self._keep_sentence_boundaries or any(mix.do_layer_norm for mix in mixes)
        layers, mask = bilm.run(inputs, word_inputs, boundaries=boundaries)
        return _BiLmOutput(layers, mask, has_boundaries=boundaries)


class _BiLmOutput(NamedTuple):
    """
    The output of a biLM for sentences.

    layers: the activations of each layer, shape (batch, time, output_dim)
    mask: (batch, time)
    has_boundaries: whether both include the sentence boundaries
    """

    layers: Tensor | list[Tensor]
    mask: Tensor
    has_boundaries: bool


def _check_stateful(stateful: object) -> None:
    """Raises `BiLmError` if the argument `stateful` is not one of its three values."""
    if stateful not in (True, False, WITHIN_A_CALL):
        raise BiLmError(f'stateful: expected true, false or "{WITHIN_A_CALL}", got {stateful!r}')


def _check_one_source(
    options_file: object, weight_file: object, bilm: object, module: object
) -> None:
    """
    Raises `BiLmError` unless the biLM is given in exactly one of three ways: as two files, as
    `bilm`, or as `module`.
    """
    has_both_files = options_file is not None and weight_file is not None
    has_one_file = (options_file is None) != (weight_file is None)
    is_given = [has_both_files, bilm is not None, module is not None]
    if has_one_file or is_given.count(True) != 1:
        raise BiLmError("Elmo needs either options_file and weight_file, or bilm, or module")


def _is_unchanged(module: nn.Module, our_class: type[nn.Module]) -> bool:
    """
    Returns whether a module is of our class, without hooks, and with the `forward` of the class.
    """
    if type(module) is not our_class or "forward" in vars(module):
        return False
    if module._forward_pre_hooks or module._forward_hooks:
        return False
    if module._backward_pre_hooks or module._backward_hooks:
        return False
    return not _is_any_module_hooked()


def _is_any_module_hooked() -> bool:
    """Returns whether this process has a global hook: one that torch calls for every module."""
    module = nn.modules.module  # its own `_has_any_global_hook` is new in torch 2.7
    if module._global_forward_pre_hooks or module._global_forward_hooks:
        return True
    return bool(module._global_backward_pre_hooks or module._global_backward_hooks)


def _normalize(layer: Tensor, mask: Tensor) -> Tensor:
    """
    Subtracts the mean of all values where the mask is true, and divides by their standard
    deviation. Computes in float32, or in the layer's type if it is more precise.
    """
    layer = layer.to(torch.promote_types(layer.dtype, torch.float32))
    num_values = mask.sum() * layer.size(-1)
    mean = (layer * mask).sum() / num_values
    centred = layer - mean
    variance = (centred * mask).square().sum() / num_values
    return centred / (variance + SMALLEST_VARIANCE).sqrt()
