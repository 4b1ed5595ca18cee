"""The arguments of `Elmo` from the configurations of AllenNLP."""

from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import create_kwargs

from elmo_plugin.embedding.cache import ActivationCache


def arguments_of_elmo(kind: Any, params: Params, extras: dict[str, Any]) -> dict[str, Any]:
    """
    # Parameters

    kind : `Any`
        The class, for messages.
    params : `Params`
        The configuration. It is empty afterwards.
    extras : `dict[str, Any]`
        What AllenNLP gives in addition. No argument is among them.

    # Returns

    `dict[str, Any]`
        Those arguments that are not the default.

    Raises `ConfigurationError` where there are other arguments, or some of the wrong type.
    """
    if not isinstance(params, Params):
        raise ConfigurationError(f"{kind.__name__} is configured by its arguments, not by {params!r}")
    return create_kwargs(_typed_for_allennlp, kind, params, **extras)


def _typed_for_allennlp(
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
) -> None:
    """Declares the arguments that a configuration may have, with types that AllenNLP can construct."""
