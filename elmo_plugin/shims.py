"""
Repairs AllenNLP 2.10.1: makes it work with current versions of torch and transformers, and stops it
from importing and installing more than it should.

`elmo_plugin.plugin` and `elmo_plugin.dropin` apply the shims; `docs/hardening.md` lists them.
"""

import codecs
import inspect
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import torch
from allennlp import commands
from allennlp.commands import test_install
from allennlp.common import cached_transformers, plugins, util
from allennlp.common.checks import ConfigurationError
from allennlp.training import gradient_descent_trainer
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.optimizers import Optimizer

from elmo_plugin import stand_ins
from elmo_plugin.common.formats.numpy_numbers import SAFE_GLOBALS, NumberType
from elmo_plugin.common.formats.torch_files import TORCH_VERSION
from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)

# Only the command `allennlp checklist` needs this package, and imports it itself.
_CHECKLIST_PACKAGE = "allennlp.confidence_checks.task_checklists"
_GET_TOKENIZER = cached_transformers.get_tokenizer

# The name of a model of spaCy, such as en_core_web_sm.
_SPACY_MODEL_NAME = re.compile(r"[a-z]{2,3}(_[a-z0-9]+)+", re.ASCII)


def restore_reduce_on_plateau() -> None:
    """
    Gives AllenNLP's `reduce_on_plateau` a constructor that works without torch's argument
    `verbose`, because newer versions of torch do not take it.
    """
    if "verbose" in inspect.signature(torch.optim.lr_scheduler.ReduceLROnPlateau).parameters:
        return  # this torch still takes it

    def init(
        self: ReduceOnPlateauLearningRateScheduler, optimizer: Optimizer, **options: Any
    ) -> None:
        """Wraps torch's scheduler, as AllenNLP's constructor does."""
        scheduler: Any = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        super(ReduceOnPlateauLearningRateScheduler, self).__init__(scheduler)

    signature = inspect.signature(ReduceOnPlateauLearningRateScheduler.__init__)
    parameters = [
        parameter for parameter in signature.parameters.values() if parameter.name != "verbose"
    ]
    # AllenNLP reads in this signature which options a configuration may have.
    init.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    ReduceOnPlateauLearningRateScheduler.__init__ = init  # type: ignore


def allow_numpy_scalars_in_checkpoints() -> None:
    """
    Lets `torch.load` read the numpy numbers in AllenNLP's training states, such as the cosine
    scheduler's learning rates and metrics that were computed with numpy. Newer versions of torch
    refuse them by default, and `--recover` would fail.
    """
    # `SAFE_GLOBALS` has pairs: a function of ours, and the name of numpy's function in the file.
    if TORCH_VERSION >= (2, 6):
        torch.serialization.add_safe_globals(list(SAFE_GLOBALS))
        return
    # An older torch takes functions only, and compares each function's own name with the file.
    safe_globals: list[Any] = [_renamed(function, name) for function, name in SAFE_GLOBALS]
    # Before it sets the state of an object, it asks whether the object's class is safe.
    safe_globals.append(NumberType)
    # In the file, the bytes of a number are written as text. This function turns text into bytes,
    # and torch 2.4 does not take it to be safe.
    safe_globals.append(codecs.encode)
    torch.serialization.add_safe_globals(safe_globals)


def _renamed(function: Callable[..., Any], full_name: str) -> Callable[..., Any]:
    """Returns a function that does the same, and whose own name is `full_name`."""

    def renamed(*args: Any) -> Any:
        """Calls the function."""
        return function(*args)

    module, _, name = full_name.rpartition(".")
    renamed.__module__ = module
    renamed.__name__ = name
    return renamed


def clip_sparse_gradients() -> None:
    """
    Makes AllenNLP's trainer clip gradients even if some of them are sparse, such as the gradient of
    an embedding with `sparse=True`. torch's own function refuses sparse gradients.
    """
    gradient_descent_trainer.clip_grad_norm_ = _clip_sparse_and_dense  # type: ignore[assignment]


class _WithGradient:
    """Stands for a parameter. torch's `clip_grad_norm_` reads only the gradient of a parameter."""

    def __init__(self, grad: torch.Tensor | None) -> None:
        self.grad = grad


def _clip_sparse_and_dense(parameters: list[torch.nn.Parameter], max_norm: float) -> torch.Tensor:
    """
    Scales all gradients so that their common norm is at most `max_norm`. Returns the norm that they
    had before.
    """
    with_dense_gradients: list[Any] = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is not None and gradient.is_sparse:
            # A coalesced gradient has the same norm as the tensor of its values. The two share
            # memory, so scaling the values scales the gradient.
            parameter.grad = gradient.coalesce()
            gradient = parameter.grad.values()
        with_dense_gradients.append(_WithGradient(gradient))
    return torch.nn.utils.clip_grad_norm_(with_dense_gradients, max_norm)


def silence_warnings_about_the_trainer() -> None:
    """
    Hides two warnings about AllenNLP's trainer. The same warnings about other code are shown.
    """
    deprecated = r"`torch\.cuda\.amp\.(autocast|GradScaler)\(args\.\.\.\)` is deprecated"
    # torch 2.4 and 2.5 warn that a file of weights may contain code. Here it is the file with the
    # best weights, and the trainer has written it itself.
    unsafe = r"You are using `torch\.load` with `weights_only=False`"
    for message in (deprecated, unsafe):
        warnings.filterwarnings(
            "ignore",
            message=message,
            category=FutureWarning,
            module=r"allennlp\.training\.gradient_descent_trainer",
        )


def import_submodules_by_their_full_names() -> None:
    """
    Makes AllenNLP import submodules by their full names, such as `allennlp.data`. Its own function
    first imports them by the last part of the name. This runs the user's code if the working
    directory has a folder that is called `data`, `models` or `training`.

    This shim can go when AllenNLP passes `prefix` to `pkgutil.walk_packages`.
    """
    # Each of these modules has imported the function under its own name.
    # `allennlp train --include-package` calls the function of `util`.
    modules: tuple[Any, ...] = (util, commands, test_install)
    for module in modules:
        module.import_module_and_submodules = _include_package
    # The function of `plugins` imports AllenNLP and its default plugins, but no package of the
    # user's. So it need not look into the working directory.
    plugins.import_module_and_submodules = _import_with_submodules


def _include_package(package_name: str, exclude: set[str] | None = None) -> None:
    """
    Imports a package with its submodules. A package of the user's may be in the working directory.
    AllenNLP is not looked for there, so that no folder `allennlp` is taken for it.
    """
    invalidate_caches()  # the package may have been written a moment ago
    top_package, _, _ = package_name.partition(".")
    if top_package == "allennlp":
        _import_with_submodules(package_name, exclude)
    else:
        with util.push_python_path("."):
            _import_with_submodules(package_name, exclude)


def _import_with_submodules(package_name: str, exclude: set[str] | None = None) -> None:
    """
    Imports a package and all its submodules, or a single module. As AllenNLP does, this leaves out
    the names in `exclude`, all names that begin with `test` or `_`, and AllenNLP's package for
    checklists.
    """
    is_excluded = exclude is not None and package_name in exclude
    if is_excluded or package_name == _CHECKLIST_PACKAGE:
        return
    package = import_module(package_name)
    folders = list(getattr(package, "__path__", []))  # only packages have a `__path__`
    # As AllenNLP does, looks only into the first folder of a package that has several.
    for submodule in iter_modules(folders[:1]):
        if not submodule.name.startswith(("_", "test")):
            _import_with_submodules(f"{package_name}.{submodule.name}", exclude)


@cache
def import_plugins(here: str) -> None:
    """
    Imports AllenNLP and its plugins, as AllenNLP's own function does, once for each working
    directory `here`.

    In one case it does something else: if the working directory has a folder that is called like
    one of AllenNLP's packages, such as `data`, AllenNLP's function imports that folder. This
    function imports it only if `.allennlp_plugins` names it.
    """
    invalidate_caches()  # a plugin may have been written a moment ago
    path = sys.path[:]
    working_directory = Path(here).resolve()
    sys.path[:] = [entry for entry in path if Path(entry).resolve() != working_directory]
    try:
        _import_with_submodules("allennlp", exclude={"allennlp.sanity_checks", "allennlp.tools"})
        for name in plugins.DEFAULT_PLUGINS:
            if find_spec(name):
                _import_or_log(_import_with_submodules, name)
        # The plugins that `.allennlp_plugins` names may be in the working directory.
        sys.path.append(here)
        for name in list(plugins.discover_plugins()):
            _import_or_log(import_module, name)
    finally:
        # Entries of `sys.path` that the plugins have added stay there.
        added_by_plugins = [entry for entry in sys.path if entry not in path and entry != here]
        sys.path[:] = path + added_by_plugins
        stand_ins.hide()  # AllenNLP has imported them by now, and no other code should get them


def _import_or_log(import_function: Callable[[str], Any], name: str) -> None:
    """
    Imports a plugin. Logs an error if the plugin is missing, or if it imports a missing module.
    """
    try:
        import_function(name)
    except ModuleNotFoundError as error:
        logger.error("Plugin %s could not be loaded: %s", name, error)


def load_tokenizers_of_transformers() -> None:
    """
    Makes AllenNLP load tokenizers of transformers without the keyword `add_special_tokens`, because
    transformers 4.44 and later refuse it. Nothing changes without it, because AllenNLP also passes
    it whenever it calls such a tokenizer.
    """
    cached_transformers.get_tokenizer = _get_tokenizer


def _get_tokenizer(model_name: str, **options: Any) -> Any:
    """Loads the tokenizer of a model as AllenNLP does, but without `add_special_tokens`."""
    options.pop("add_special_tokens", None)
    return _GET_TOKENIZER(model_name, **options)


def never_install_spacy_models() -> None:
    """Makes AllenNLP say that a model of spaCy is not installed, instead of running pip."""
    util.spacy_download = _refuse_to_install  # type: ignore[assignment]


def _refuse_to_install(name: str, *_: Any) -> None:
    """
    Raises `ConfigurationError` in place of installing a model of spaCy. The message says how to
    install it.
    """
    advice = ""
    # The name may come from an untrusted file, and people copy commands from messages. So only a
    # name that looks like one of spaCy's goes into a command.
    if _SPACY_MODEL_NAME.fullmatch(name):
        advice = f"; python -m spacy download {name} installs it"
    raise ConfigurationError(
        f'spaCy\'s model {name!r} is not installed: "spacy_rules" of elmo_plugin.plugin needs '
        f"none{advice}"
    )


def apply() -> None:
    """Applies the shims that every use of AllenNLP needs. Applying them twice is harmless."""
    import_submodules_by_their_full_names()
    restore_reduce_on_plateau()
    allow_numpy_scalars_in_checkpoints()
    clip_sparse_gradients()
    silence_warnings_about_the_trainer()
    load_tokenizers_of_transformers()
    stand_ins.hide()
