"""`Elmo` from the configurations of AllenNLP."""

from typing import Any, cast

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import create_kwargs

from elmo_plugin.allennlp_api.elmo import Elmo
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.embedding.cache import ActivationCache


def elmo_from_params(params: Params, extras: dict[str, Any]) -> Elmo:
    """
    Makes an `Elmo` of the arguments in `params`. AllenNLP may give `extras`, of which it needs none.

    Raises `ConfigurationError` where there are other arguments, or the rest does not fit them.
    """
    if not isinstance(params, Params):
        raise ConfigurationError(f"an Elmo is configured by its arguments, not by {params!r}")
    with as_configuration_error():
        return _make_elmo(**create_kwargs(_make_elmo, cast(Any, Elmo), params, **extras))


def _make_elmo(
    options_file: str | None = None,
    weight_file: str | None = None,
    num_output_representations: int = 1,
    requires_grad: bool = False,
    do_layer_norm: bool = False,
    dropout: float = 0.5,
    vocab_to_cache: list[str] | None = None,
    keep_sentence_boundaries: bool = False,
    scalar_mix_parameters: list[float] | None = None,
    bilm: str | dict[str, str] | None = None,
    stateful: bool = False,
    precision: str | None = None,
    cache: ActivationCache = None,
) -> Elmo:
    """Has the arguments of `Elmo` in types that AllenNLP makes of a configuration."""
    return Elmo(**locals())
