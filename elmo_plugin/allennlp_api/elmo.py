"""`Elmo` with the interface of AllenNLP's."""

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, cast

import torch
from torch import Tensor, nn

from elmo_plugin.allennlp_api.bilm import AllenNlpBiLm, ElmoBiLm
from elmo_plugin.allennlp_api.scalar_mix import ScalarMix
from elmo_plugin.bilm import BiLm, BiLmError, Cache
from elmo_plugin.common.errors import as_configuration_error

logger = logging.getLogger(__name__)


class Elmo(nn.Module):
    """
    Takes the arguments of `allennlp.modules.elmo.Elmo`, in their order, returns the same outputs, and has a
    `state_dict` that each of the two can load from the other. It needs no AllenNLP.

    A sentence's vectors depend only on the sentence. AllenNLP's class carries the LSTMs' state from batch to
    batch; with `stateful` this one does, too.

    New code should use `elmo_plugin.embedding.ElmoRepresentations`, which mixes any of the layers and
    normalizes each vector by itself.

    # Parameters

    options_file, weight_file : `str | PathLike | None`
        The biLM in the published layout: paths or URLs.
    num_output_representations : `int`
        How many mixes there are, each with weights of its own.
    requires_grad : `bool`
        Whether the biLM is trained with the task.
    do_layer_norm : `bool`
        Whether each layer is normalized before it is mixed, by the mean and the variance of all its values
        in the batch, boundaries included. A word's vector then depends on the rest of its batch.
    dropout : `float`
        The rate of dropout on the representations, in training.
    vocab_to_cache : `Sequence[str] | None`
        The words that `word_inputs` are the numbers of. Vectors of words are reused without it, too.
    keep_sentence_boundaries : `bool`
        Whether the vectors of the sentence boundaries stay around those of the words.
    scalar_mix_parameters : `Sequence[float] | None`
        Weights of the layers, before the softmax, that stay as they are.
    module : `nn.Module | None`
        Instead of a biLM: a module with the attribute `num_layers` that returns `activations` and `mask`, as
        `ElmoBiLm` does.
    bilm : `str | Mapping[str, str] | BiLm | None`
        Instead of the two files: a source of `BiLm.from_pretrained`, such as "tiny", or a biLM.
    stateful : `bool`
        Whether the LSTMs continue, row by row, from their state after the last batch.
    precision : `str | None`
        The precision of a frozen biLM: "float32", "bfloat16" or "int8".
    cache : `Cache | None`
        Stores the output of a frozen biLM for each sentence, such as an `ActivationCache` (see
        `docs/cache.md`). It has no vectors of boundaries, which `do_layer_norm` also needs.

    Raises `BiLmError` unless exactly one biLM or module is given, if it cannot be loaded, or if the other
    parameters do not fit it.
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
        stateful: bool = False,
        precision: str | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__()
        files = [file for file in (options_file, weight_file) if file is not None]
        if [len(files) == 2, bilm is not None, module is not None].count(True) != 1 or len(files) == 1:
            raise BiLmError("an Elmo is given either options_file and weight_file, or bilm, or module")
        if module is None:
            if files:
                bilm = {"options": str(options_file), "weights": str(weight_file)}
            loaded = AllenNlpBiLm.from_source(cast(Any, bilm), precision or "float32")
            module = ElmoBiLm(
                loaded.requires_grad_(requires_grad),
                stateful=stateful,
                precision=precision,
                vocab_to_cache=vocab_to_cache,
                cache=cache,
            )
        elif cache is not None:
            raise BiLmError("a cache has no vectors of a module")
        self._elmo_lstm = cast(Any, module)
        self._has_cached_vocab = vocab_to_cache is not None
        self._keep_sentence_boundaries = keep_sentence_boundaries
        self._reads_boundaries = keep_sentence_boundaries or do_layer_norm
        if self._reads_boundaries and isinstance(module, ElmoBiLm) and module.session.cache is not None:
            raise BiLmError(
                "a cache has no vectors of sentence boundaries: it goes with neither "
                "keep_sentence_boundaries nor do_layer_norm"
            )
        self._dropout = nn.Dropout(dropout)
        self._num_mixes = num_output_representations
        for number in range(num_output_representations):
            mix = ScalarMix(
                self._elmo_lstm.num_layers,
                do_layer_norm,
                scalar_mix_parameters,
                trainable=scalar_mix_parameters is None,
            )
            self.add_module(f"scalar_mix_{number}", mix)

    @classmethod
    def from_params(cls, params: Any, **extras: Any) -> "Elmo":
        """
        Constructs it from a configuration, as AllenNLP does for a model with an `Elmo`. All arguments except
        `module` may be given.

        Raises `ConfigurationError` if there are other arguments, and where the constructor raises
        `BiLmError`.
        """
        from allennlp.common import Params
        from allennlp.common.checks import ConfigurationError
        from allennlp.common.from_params import create_kwargs

        from elmo_plugin.embedding.cache import RegisteredCache

        if not isinstance(params, Params):
            raise ConfigurationError(f"{cls.__name__} is configured by its arguments, not by {params!r}")
        if "module" in params:
            raise ConfigurationError(f"{cls.__name__}: a configuration cannot contain a module")
        if "cache" in params:
            extras["cache"] = RegisteredCache.from_params(params.pop("cache"))
        untyped: Any = cls
        with as_configuration_error():
            return cls(**create_kwargs(untyped.__init__, untyped, params, **extras))

    @property
    def _scalar_mixes(self) -> list[ScalarMix]:
        return [getattr(self, f"scalar_mix_{number}") for number in range(self._num_mixes)]

    def get_output_dim(self) -> int:
        return self._elmo_lstm.get_output_dim()

    def reset_state(self) -> None:
        """Lets a stateful biLM start the next batch from zero."""
        self._elmo_lstm._elmo_lstm.reset_states()

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Any]:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, ..., time, characters), as `batch_to_ids` gives them.
        word_inputs : `Tensor | None`
            Numbers of words of `vocab_to_cache`, shape (batch, ..., time), in place of their characters.
            Words whose numbers are beyond it are read from `inputs`.

        # Returns

        `dict[str, Any]`
            `elmo_representations`: for each mix a tensor of shape (batch, ..., time, output_dim), zeros at
            padding; `mask`: shape (batch, ..., time), true where there is a word. With sentence boundaries
            time is longer by 2.
        """
        wrapping = inputs.shape[:-2]
        if word_inputs is not None:
            word_inputs = word_inputs.flatten(0, -2)
        if word_inputs is not None and not self._has_cached_vocab:
            logger.warning("Elmo was given numbers of words, but has no vocab_to_cache: they are ignored.")
            word_inputs = None
        layers, mask, has_boundaries = self._run(inputs.flatten(0, -3), word_inputs)
        mixed = [mix(layers, mask) for mix in self._scalar_mixes]
        if has_boundaries and not self._keep_sentence_boundaries:
            mask = mask[:, 2:]  # as many as there are words
            mixed = [vectors[:, 1:-1] for vectors in mixed]
        if has_boundaries:  # there may be numbers at padding, and at the second boundary's place
            mixed = [vectors * mask[..., None] for vectors in mixed]
        representations = [self._dropout(vectors).unflatten(0, wrapping) for vectors in mixed]
        return {"elmo_representations": representations, "mask": mask.unflatten(0, wrapping)}

    def _run(self, inputs: Tensor, word_inputs: Tensor | None) -> tuple[Tensor, Tensor, bool]:
        """
        Returns layers, shape (num_layers, batch, time, output_dim), mask, and whether boundaries are in them.
        """
        bilm = self._elmo_lstm
        if isinstance(bilm, ElmoBiLm):
            layers, mask, _ = bilm.run(inputs, word_inputs, boundaries=self._reads_boundaries)
            return layers, mask, self._reads_boundaries
        output = bilm(inputs, word_inputs)
        return torch.stack(list(output["activations"])), output["mask"], True
