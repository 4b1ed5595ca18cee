"""The one ELMo module of a model, as configurations and archives have it."""

from functools import lru_cache
from importlib.metadata import version
from os import PathLike
from typing import Any, cast

import torch
from allennlp.common import FromParams, Params, Registrable
from allennlp.common.checks import ConfigurationError
from overrides import overrides
from torch import Tensor

from elmo_plugin.bilm import MAX_BATCH_TOKENS, BiLm, BiLmError
from elmo_plugin.bilm.io import BUNDLED_MODELS, weights_digest
from elmo_plugin.common.errors import advise_version, as_configuration_error, check_at_least
from elmo_plugin.common.formats.torch_files import EXTRA_STATE, check_all_finite
from elmo_plugin.embedding.archive import ElmoMetadata, archived_bilm
from elmo_plugin.embedding.cache import ActivationCache, MemoryCache, SqliteCache
from elmo_plugin.embedding.representations import ElmoRepresentations, LayerMix, MixSettings


class RegisteredCache(Registrable, ActivationCache):
    """An `ActivationCache` of a configuration. See `docs/faster.md`."""

    @classmethod
    @overrides
    def from_params(cls, params: Params, **kwargs: Any) -> "RegisteredCache":  # type: ignore[override]
        with as_configuration_error("cache"):
            return super().from_params(params, **kwargs)


@RegisteredCache.register("memory")
class RegisteredMemoryCache(MemoryCache, RegisteredCache):
    """
    A `MemoryCache`, with its parameters.

    Registered as a `RegisteredCache` with name "memory".
    """


@RegisteredCache.register("sqlite")
class RegisteredSqliteCache(SqliteCache, RegisteredCache):
    """
    An `SqliteCache`, with its parameters.

    Registered as a `RegisteredCache` with name "sqlite".
    """


class ElmoPlacement(MixSettings, FromParams):
    """How ELMo enters a model at one place: `MixSettings`, with their parameters."""


class ContextualElmo(ElmoRepresentations, FromParams):
    """
    One biLM, run once for a batch, and a mix of its layers for each placement of ELMo: `input` is
    [x ; ELMo] before the encoder, `output` is [h ; ELMo] after it (Peters et al., 2018, section
    3.3). The parameters to regularize are `….mixes.input.scalar_mix.weights` and
    `….mixes.output.scalar_mix.weights`.

    An archive needs no other file and no network: it stores the biLM's sizes and weights. For a
    frozen biLM that comes with this package, it stores only the name and a digest.

    # Parameters

    bilm : `str | dict[str, str]`
        The name of a pretrained biLM ("tiny", …), an archive that was trained with this package,
        the folder of a model of ELMoForManyLangs, or `{"options": …, "weights": …}` with the paths
        or URLs of a model in the published layout.
    input, output : `ElmoPlacement`, optional (default = `None`)
        The mix of each placement.
    requires_grad : `bool`, optional (default = `False`)
        Whether the biLM is trained with the task.
    stateful : `bool`, optional (default = `False`)
        Whether the biLM's state is carried from batch to batch, as in published implementations.
    precision : `str`, optional (default = `"float32"`)
        The precision of a frozen biLM: "float32", "bfloat16" or "int8", see `docs/faster.md`.
    max_batch_tokens : `int`, optional (default = `8192`)
        A batch with more tokens than this, padding included, is computed by a frozen biLM in
        chunks, to bound the memory with the same vectors.
    cache : `RegisteredCache`, optional (default = `None`)
        Stores the output of a frozen biLM, so that it computes each sentence once: in all epochs,
        or in all trainings. See `docs/faster.md`.
    serialization_dir : `str`, optional (default = `None`)
        Given by AllenNLP, not by a configuration. If the weights of a trained model are there, and
        contain this biLM, it is made from them.

    Raises `ConfigurationError` if `bilm` is not a usable model, or the other parameters do not fit
    it.
    """

    def __init__(
        self,
        bilm: str | dict[str, str],
        *,
        input: ElmoPlacement = None,
        output: ElmoPlacement = None,
        requires_grad: bool = False,
        stateful: bool = False,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        # Checked before the biLM is loaded, because that may be a large download.
        check_at_least("max_batch_tokens", max_batch_tokens, least=1, error=ConfigurationError)
        if input is None and output is None:
            raise ConfigurationError("elmo: expected a placement: input, output or both")
        with as_configuration_error():
            loaded = archived_bilm(serialization_dir, bilm, precision)
            if loaded is None:
                loaded = BiLm.from_pretrained(bilm, precision)
            loaded.requires_grad_(requires_grad)
            # `precision` is not passed on: the biLM was made with it.
            super().__init__(
                loaded,
                num_mixes=0,  # they are added below, by the names of their placements
                stateful=stateful,
                cache=cache,
                max_batch_tokens=max_batch_tokens,
            )
            if input is not None:
                self.mixes["input"] = LayerMix(settings=input, num_layers=loaded.num_layers)
            if output is not None:
                self.mixes["output"] = LayerMix(settings=output, num_layers=loaded.num_layers)
        self._source = bilm

    @overrides
    def get_extra_state(self) -> torch.Tensor:
        """
        Returns an `ElmoMetadata` as a tensor, to be stored with the weights. A trained model needs
        it to make the biLM without other files, and to say which layers it mixes.
        """
        layers = {name: cast(LayerMix, mix).layer_numbers for name, mix in self.mixes.items()}
        digest = ""  # without a digest, the biLM's weights are stored
        if self._source in BUNDLED_MODELS and not self.bilm.is_trainable:
            current_digest = _digest(self.bilm)
            # If the biLM was trained before it was frozen, the digests differ.
            if current_digest == _bundled_digest(self._source):
                digest = current_digest
        metadata = ElmoMetadata(
            source=self._source,
            options=self.bilm.options.to_dict(),
            layers=layers,
            digest=digest,
            version=version("elmo_plugin"),
        )
        return metadata.to_tensor()

    @overrides
    def set_extra_state(self, state: Any) -> None:
        """Does nothing: `archived_bilm` has read the state to make the biLM."""

    @overrides
    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """
        Returns the state. If the biLM is frozen and comes with this package, its weights are left
        out, and its digest in the extra state stands for them.
        """
        state = super().state_dict(*args, **kwargs)
        prefix = kwargs.get("prefix", "")  # torch passes it by name
        metadata = ElmoMetadata.from_tensor(state[prefix + EXTRA_STATE])
        if metadata.digest:
            for name in self.bilm.state_dict():
                del state[f"{prefix}bilm.{name}"]
        return state

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """
        Adds the biLM's weights to `state_dict` if only their digest is stored. The biLM loads them
        next, because torch calls this method before it loads the modules within this one. Raises
        `ConfigurationError` if a number is not finite, or the digest is of other weights.
        """
        with as_configuration_error():
            entries = []  # of this module and the modules within it
            for name, values in state_dict.items():
                if name.startswith(prefix):
                    entries.append((name, values))
            check_all_finite(entries)
            extra_state = state_dict.get(prefix + EXTRA_STATE)
            if extra_state is not None:
                weights = self._weights_left_out(ElmoMetadata.from_tensor(extra_state))
                for name, values in weights.items():
                    state_dict[f"{prefix}bilm.{name}"] = values
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _weights_left_out(self, metadata: ElmoMetadata) -> dict[str, Tensor]:
        """
        Returns the biLM's weights if `state_dict` left them out, and only their digest is stored.
        Otherwise returns nothing. Raises `BiLmError` if this package has other weights than the
        version that the model was trained with.
        """
        if not metadata.digest:
            return {}
        if _digest(self.bilm) == metadata.digest:
            return self.bilm.state_dict()
        # `self.bilm` may have been trained since it was loaded. Then its weights are loaded again.
        if self._source in BUNDLED_MODELS and _bundled_digest(self._source) == metadata.digest:
            return BiLm.from_pretrained(self._source).state_dict()
        raise BiLmError(
            f"the model was trained with other weights of the biLM {self._source!r}: "
            f"{advise_version(metadata.version)}"
        )


def _digest(bilm: BiLm) -> str:
    """Returns a digest of the current weights, read afresh from the parameters."""
    return weights_digest(bilm.options, "float32", bilm.state_dict().items()).hex()


@lru_cache
def _bundled_digest(name: str) -> str:
    """Returns the digest of a biLM of this package."""
    return _digest(BiLm.from_pretrained(name))
