"""ELMo as a token embedder, for any model of AllenNLP."""

from os import PathLike

from allennlp.modules import TokenEmbedder
from overrides import overrides
from torch import Tensor

from elmo_plugin.bilm import MAX_BATCH_TOKENS
from elmo_plugin.embedding.cache.registered_cache import RegisteredCache
from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement


@TokenEmbedder.register("elmo")
class ElmoTokenEmbedder(TokenEmbedder):
    """
    Embeds tokens with a mix of a biLM's layers: a `ContextualElmo` with one placement.

    Registered as a `TokenEmbedder` with name "elmo". Its token indexer is `elmo`, or AllenNLP's
    `elmo_characters`. The parameters to regularize are `….scalar_mix.weights`.

    # Parameters

    bilm : `str | dict[str, str]`
        See `ContextualElmo`, also for `requires_grad`, `stateful`, `precision`, `max_batch_tokens`, `cache`
        and `serialization_dir`.
    layers : `str | int | list[int]`, optional (default = `"all"`)
        See `ElmoPlacement`, also for `layer_norm`, `dropout` and `mixing_weights`.

    Raises `ConfigurationError` if `bilm` is not a usable model, or the other parameters do not fit it.
    """

    def __init__(
        self,
        bilm: str | dict[str, str],
        *,
        layers: str | int | list[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        mixing_weights: list[float] | None = None,
        requires_grad: bool = False,
        stateful: bool = False,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._elmo = ContextualElmo(
            bilm,
            input=ElmoPlacement(layers, layer_norm, dropout, mixing_weights),
            requires_grad=requires_grad,
            stateful=stateful,
            precision=precision,
            max_batch_tokens=max_batch_tokens,
            cache=cache,
            serialization_dir=serialization_dir,
        )

    @overrides
    def get_output_dim(self) -> int:
        return self._elmo.output_dim

    def forward(self, elmo_tokens: Tensor) -> Tensor:
        """
        Returns shape (batch, time, output_dim) for character ids of shape (batch, time, characters), of any
        integer type; both have zeros at padding. Raises `ConfigurationError` if the token indexer does not
        fit the biLM.
        """
        return self._elmo(elmo_tokens).representations[0]
