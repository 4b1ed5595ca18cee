"""ELMo at the input, or anywhere, of an AllenNLP model."""

import copy
from collections.abc import Mapping
from os import PathLike
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules import TokenEmbedder
from overrides import overrides

from elmo_plugin.bilm import MAX_BATCH_TOKENS, BiLm, weights_equal
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import check_all_finite
from elmo_plugin.embedding.archive_restore import BILM, EmbedderMetadata, archived_bilm
from elmo_plugin.embedding.cache import RegisteredCache
from elmo_plugin.embedding.representations import ElmoRepresentations


@TokenEmbedder.register("elmo")
class ElmoTokenEmbedder(TokenEmbedder):
    """
    Embeds tokens with a mix of a biLM's layers, by `ElmoRepresentations` with one representation.

    Registered as a `TokenEmbedder` with name "elmo". Its token indexer is `elmo`, or AllenNLP's
    `elmo_characters`. The parameters to regularize are `….scalar_mix.weights`.

    Each embedder has its own biLM. Two placements in one `contextual_encoder`, and the members of an
    ensemble, share an equal frozen one: it is in memory once, and runs once for the same batch. In a
    configuration of a `contextual_encoder` it is also read once.

    An archive needs no other file and no network: the biLM is made from the archive's weights, with which its
    sizes are stored.

    # Parameters

    bilm : `str | dict[str, str]`
        The name of a pretrained biLM ("tiny", …), an archive that was trained with this package, the folder
        of a model of ELMoForManyLangs, or `{"options": …, "weights": …}` with the paths or URLs of a model in
        the published layout.
    layers : `str | int | list[int]`, optional (default = `"all"`)
        "all", "top" or "token", a layer's number, or a list of such numbers; 0 is the token layer.
    layer_norm : `bool`, optional (default = `False`)
        Whether each vector is normalized over its own features before mixing.
    dropout : `float`, optional (default = `0.5`)
        The rate of dropout on the mixed vectors.
    requires_grad : `bool`, optional (default = `False`)
        Whether the biLM is trained with the task.
    stateful : `bool`, optional (default = `False`)
        Whether the biLM's state is carried from batch to batch, as in published implementations.
    mixing_weights : `list[float]`, optional (default = `None`)
        Fixed weights of the mixed layers, such as `[0.2, 0.5, 0.3]`, of sum 1. They are learned if not given.
    precision : `str`, optional (default = `"float32"`)
        The precision of a frozen biLM: "float32", "bfloat16" or "int8", see `docs/precision.md`.
    max_batch_tokens : `int`, optional (default = `8192`)
        A batch with more tokens than this, padding included, is computed by a frozen biLM in chunks, which
        bounds the memory and does not change the vectors.
    cache : `RegisteredCache`, optional (default = `None`)
        Stores the output of a frozen biLM, so that it computes each sentence once: in all epochs, or in all
        trainings. See `docs/cache.md`.
    serialization_dir : `str`, optional (default = `None`)
        Given by AllenNLP, not by a configuration. If the weights of a trained model are there, and contain
        this biLM, it is made from them.
    loaded_bilms : `dict[str, BiLm]`, optional (default = `None`)
        Given by a `ContextualEncoder`, not by a configuration: the frozen biLMs of its placements, by their
        source and precision. This embedder takes its biLM from there, or adds it.

    Raises `ConfigurationError` if `bilm` is not a usable model, or the other parameters do not fit it.
    """

    def __init__(
        self,
        bilm: str | dict[str, str],
        *,
        layers: str | int | list[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        requires_grad: bool = False,
        stateful: bool = False,
        mixing_weights: list[float] | None = None,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
        loaded_bilms: dict[str, BiLm] | None = None,
    ) -> None:
        super().__init__()
        if max_batch_tokens < 1:
            raise ConfigurationError(f"max_batch_tokens must be at least 1, not {max_batch_tokens}")
        with as_configuration_error():
            loaded = {} if loaded_bilms is None or requires_grad else loaded_bilms
            key = f"{bilm!r} in {precision}"
            if key not in loaded:
                archived = archived_bilm(serialization_dir, bilm, precision)
                loaded[key] = (archived or BiLm.from_pretrained(bilm, precision)).requires_grad_(
                    requires_grad
                )
            self._elmo = ElmoRepresentations(
                loaded[key],
                layers=layers,
                layer_norm=layer_norm,
                dropout=dropout,
                max_batch_tokens=max_batch_tokens,
                stateful=stateful,
                mixing_weights=mixing_weights,
                cache=cache,
            )
        self._source = bilm

    @overrides
    def get_output_dim(self) -> int:
        return self._elmo.output_dim

    def forward(self, elmo_tokens: torch.Tensor) -> torch.Tensor:
        """
        # Parameters

        elmo_tokens : `torch.Tensor`
            Shape (batch, time, characters), any integer type, zeros at padding.

        # Returns

        `torch.Tensor`
            Shape (batch, time, output_dim), zeros at padding.

        Raises `ConfigurationError` if the token indexer does not fit the biLM, or this machine cannot compute
        in the precision.
        """
        expected = self._elmo.bilm.options.char_cnn.max_characters_per_token
        if elmo_tokens.size(-1) != expected:
            raise ConfigurationError(
                f"the biLM reads {expected} characters per token, but the token indexer gave "
                f"{elmo_tokens.size(-1)}: give the indexer max_characters_per_token {expected}"
            )
        with as_configuration_error():
            return self._elmo(elmo_tokens).representations[0]

    @overrides
    def get_extra_state(self) -> torch.Tensor:
        """Returns what is stored with the weights, for `archived_bilm`."""
        options = self._elmo.bilm.options.to_dict()
        return EmbedderMetadata(self._source, options, self._elmo.layer_numbers).to_tensor()

    @overrides
    def set_extra_state(self, state: Any) -> None:
        """Does nothing: `archived_bilm` has read the state to make the biLM."""

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *args: Any) -> None:
        with as_configuration_error():
            check_all_finite(item for item in state_dict.items() if item[0].startswith(prefix))
        bilm, start = self._elmo.bilm, prefix + BILM
        weights = {key.removeprefix(start): state_dict[key] for key in state_dict if key.startswith(start)}
        if self._elmo.borrows_bilm and not weights_equal(bilm, weights):
            self._elmo.bilm = copy.deepcopy(bilm)  # the embedder that owns it keeps its weights
            self._elmo.borrows_bilm = False
        super()._load_from_state_dict(state_dict, prefix, *args)
