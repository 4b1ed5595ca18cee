"""Replaces AllenNLP's ELMo by ours when imported. A project lists this module in
`.allennlp_plugins`.

In configurations, `elmo_token_embedder` and `elmo_characters` become our classes. AllenNLP's `Elmo`
and `ElmoTokenEmbedder`, imported before or after, construct ours. `allennlp.commands.elmo`, dropped
by AllenNLP 1.0, is back with our `ElmoEmbedder`. A call of a model resets its ELMo if that carries
its state within a call only. The rest of AllenNLP gets the shims for a current torch.
"""

import inspect
import sys
from collections.abc import Callable
from threading import RLock
from types import ModuleType
from typing import Any

import numpy as np
from allennlp import commands
from allennlp.common import FromParams, Params
from allennlp.data import TokenIndexer
from allennlp.models import Model
from allennlp.modules import TokenEmbedder, elmo, token_embedders
from allennlp.nn import Initializer
from allennlp.nn.initializers import PretrainedModelInitializer
from torch.nn import Module

from elmo_plugin import shims
from elmo_plugin.migration.allennlp_api import Elmo, ElmoEmbedder, batch_to_ids
from elmo_plugin.migration.allennlp_api.embedder import OPTIONS_FILE, WEIGHT_FILE
from elmo_plugin.migration.allennlp_api.names import with_parameter_names
from elmo_plugin.migration.allennlp_api.token_embedder import (
    AllenNlpElmoTokenEmbedder,
    ElmoCharactersIndexer,
)

# AllenNLP's classes, and those that they construct.
REPLACED: dict[Any, Any] = {
    elmo.Elmo: Elmo,
    token_embedders.ElmoTokenEmbedder: AllenNlpElmoTokenEmbedder,
}
COMMANDS_ELMO = "allennlp.commands.elmo"
_one_call_at_a_time = RLock()


class PretrainedInitializer(PretrainedModelInitializer):
    """
    AllenNLP's initializer `pretrained`. It also finds the weights of a biLM under the names that
    our classes give them.
    """

    def __init__(
        self, weights_file_path: str, parameter_name_overrides: dict[str, str] | None = None
    ) -> None:
        super().__init__(weights_file_path, parameter_name_overrides)
        self.weights = with_parameter_names(self.weights)


def register() -> None:
    """
    Replaces AllenNLP's ELMo, which was registered when AllenNLP was imported above. Calling this
    twice is harmless.
    """
    shims.apply()
    TokenEmbedder.register("elmo_token_embedder", exist_ok=True)(AllenNlpElmoTokenEmbedder)
    TokenIndexer.register("elmo_characters", exist_ok=True)(ElmoCharactersIndexer)
    Initializer.register("pretrained", exist_ok=True)(PretrainedInitializer)
    for theirs, ours in REPLACED.items():
        theirs.__new__ = _maker(theirs, ours)
        theirs.from_params = _maker_from_params(theirs, ours)
    Model.__call__ = _call_model  # type: ignore[method-assign]
    module = _commands_elmo()
    sys.modules[COMMANDS_ELMO] = module
    commands.elmo = module  # type: ignore[attr-defined]


def _call_model(self: Model, *inputs: Any, **options: Any) -> Any:
    """
    Calls a model. Each `Elmo` in it whose `stateful` is "call" starts from zero, whatever came
    before.
    """
    elmos = []
    for module in self.modules():
        if isinstance(module, Elmo) and module.resets_with_each_call:
            elmos.append(module)
    if not elmos:
        return Module.__call__(self, *inputs, **options)
    with _one_call_at_a_time:  # or a thread would go on from the state that another one has left
        for stateful in elmos:
            stateful.reset_state()
        return Module.__call__(self, *inputs, **options)


def _commands_elmo() -> ModuleType:
    """
    Returns a module that has the names of `allennlp.commands.elmo` in AllenNLP 0.9, except for the
    command itself, now `elmo embed`.
    """
    module: Any = ModuleType(COMMANDS_ELMO, "AllenNLP 0.9's ElmoEmbedder, by elmo_plugin.")
    module.ElmoEmbedder = ElmoEmbedder
    module.batch_to_ids = batch_to_ids
    module.DEFAULT_OPTIONS_FILE = OPTIONS_FILE
    module.DEFAULT_WEIGHT_FILE = WEIGHT_FILE
    module.DEFAULT_BATCH_SIZE = 64
    module.empty_embedding = _empty_embedding
    return module


def _empty_embedding() -> np.ndarray:
    """Returns the vectors of a sentence without words, as AllenNLP 0.9 does."""
    return np.zeros((3, 0, 1024))


def _maker(theirs: type, ours: Callable[..., Any]) -> Callable[..., Any]:
    """
    Returns a `__new__` for the class `theirs` that constructs an object of `ours` instead. A
    subclass of `theirs` still constructs itself.
    """

    def make(cls: type, *args: Any, **options: Any) -> Any:
        """Takes the place of `__new__`."""
        is_copy = not args and not options  # `copy` and `pickle` call it without arguments
        if cls is not theirs or is_copy:
            return object.__new__(cls)
        return ours(*args, **options)

    return make


def _maker_from_params(theirs: type, ours: Any) -> Any:
    """
    Returns a `from_params` for the class `theirs` that constructs an object of `ours` instead. A
    subclass of `theirs` is still constructed as AllenNLP does it.
    """

    # The function itself: the class method, taken from `FromParams`, would construct `FromParams`.
    allennlp_from_params = inspect.getattr_static(FromParams, "from_params").__func__

    def make(cls: Any, params: Params, **extras: Any) -> Any:
        """Takes the place of `from_params`."""
        if cls is not theirs:
            return allennlp_from_params(cls, params, **extras)
        # AllenNLP may pass the constructor of `theirs`, but the one of `ours` has to be called.
        extras.pop("constructor_to_call", None)
        extras.pop("constructor_to_inspect", None)
        return ours.from_params(params, **extras)

    return classmethod(make)


register()
