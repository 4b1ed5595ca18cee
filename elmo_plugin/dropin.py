"""Replaces AllenNLP's ELMo by ours when imported. A project lists this module in
`.allennlp_plugins`.

- In configurations, `elmo_token_embedder` and `elmo_characters` stand for our classes.
- AllenNLP's `Elmo` and `ElmoTokenEmbedder` construct objects of our classes, also in modules that
  imported them earlier.
- The module `allennlp.commands.elmo`, which AllenNLP 1.0 dropped, exists again, with our
  `ElmoEmbedder`.
- When a model is called, each ELMo in it that keeps its state only within a call is reset.
- The rest of AllenNLP gets the shims for a current torch.
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

# AllenNLP's classes, each with the class of ours that it constructs instead.
REPLACED: dict[Any, Any] = {
    elmo.Elmo: Elmo,
    token_embedders.ElmoTokenEmbedder: AllenNlpElmoTokenEmbedder,
}
COMMANDS_ELMO = "allennlp.commands.elmo"
_stateful_call_lock = RLock()
"""Held while a model with a stateful ELMo is called. A model may call another one: reentrant."""


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
    Replaces AllenNLP's ELMo. AllenNLP registered it when this module imported AllenNLP above.
    Calling this twice is harmless.
    """
    shims.apply()
    TokenEmbedder.register("elmo_token_embedder", exist_ok=True)(AllenNlpElmoTokenEmbedder)
    TokenIndexer.register("elmo_characters", exist_ok=True)(ElmoCharactersIndexer)
    Initializer.register("pretrained", exist_ok=True)(PretrainedInitializer)
    for theirs, ours in REPLACED.items():
        theirs.__new__ = _new_that_constructs_ours(theirs, ours)
        theirs.from_params = _from_params_that_constructs_ours(theirs, ours)
    Model.__call__ = _call_model  # type: ignore[method-assign]
    module = _module_commands_elmo()
    sys.modules[COMMANDS_ELMO] = module
    commands.elmo = module  # type: ignore[attr-defined]


def _call_model(self: Model, *inputs: Any, **options: Any) -> Any:
    """
    Takes the place of `Model.__call__`. Resets each `Elmo` in the model whose `stateful` is "call",
    so that it does not go on from the state of an earlier call.
    """
    stateful_elmos = []
    for module in self.modules():
        if isinstance(module, Elmo) and module.resets_with_each_call:
            stateful_elmos.append(module)
    if not stateful_elmos:
        return Module.__call__(self, *inputs, **options)
    # Without the lock, two threads could mix their states: both would use the state of one `Elmo`.
    with _stateful_call_lock:
        for elmo_of_model in stateful_elmos:
            elmo_of_model.reset_state()
        return Module.__call__(self, *inputs, **options)


def _module_commands_elmo() -> ModuleType:
    """
    Returns a module with the names that `allennlp.commands.elmo` had in AllenNLP 0.9. Only the
    command itself is left out: it is `elmo embed` now.
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


def _new_that_constructs_ours(theirs: type, ours: Callable[..., Any]) -> Callable[..., Any]:
    """
    Returns a `__new__` for the class `theirs` that constructs an object of `ours` instead. A
    subclass of `theirs` still constructs itself.
    """

    def new(cls: type, *args: Any, **options: Any) -> Any:
        """Takes the place of `__new__`."""
        # `copy` and `pickle` call `__new__` without arguments, to fill the new object themselves.
        is_for_copy = not args and not options
        if cls is not theirs or is_for_copy:
            return object.__new__(cls)
        return ours(*args, **options)

    return new


def _from_params_that_constructs_ours(theirs: type, ours: Any) -> Any:
    """
    Returns a `from_params` for the class `theirs` that constructs an object of `ours` instead. A
    subclass of `theirs` is still constructed as AllenNLP does it.
    """

    # `FromParams.from_params` is bound to the class `FromParams`. This is the function under it,
    # so that it can be called for any class.
    allennlp_from_params = inspect.getattr_static(FromParams, "from_params").__func__

    def from_params(cls: Any, params: Params, **extras: Any) -> Any:
        """Takes the place of `from_params`."""
        if cls is not theirs:
            return allennlp_from_params(cls, params, **extras)
        # AllenNLP may pass the constructor of `theirs`, but the one of `ours` has to be called.
        extras.pop("constructor_to_call", None)
        extras.pop("constructor_to_inspect", None)
        return ours.from_params(params, **extras)

    return classmethod(from_params)


register()
