"""
Repairs AllenNLP 2.10.1 on a torch that is newer than the one it was written for.

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

# Only the command `allennlp checklist` needs it, and imports it itself.
_ONLY_FOR_CHECKLIST = "allennlp.confidence_checks.task_checklists"
_GET_TOKENIZER = cached_transformers.get_tokenizer

# Names of spaCy's models, such as en_core_web_sm.
_SPACY_MODEL = re.compile(r"[a-z]{2,3}(_[a-z0-9]+)+", re.ASCII)


def restore_reduce_on_plateau() -> None:
    """
    Gives `reduce_on_plateau` a constructor that does not pass `verbose` (torch has dropped it).
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
    # AllenNLP finds the options that a configuration may have in the constructor's signature.
    init.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    ReduceOnPlateauLearningRateScheduler.__init__ = init  # type: ignore


def allow_numpy_scalars_in_checkpoints() -> None:
    """
    Lets `torch.load` read the numpy numbers in AllenNLP's training states, such as the cosine
    scheduler's learning rates and metrics that were computed with numpy. Newer versions of torch
    refuse them by default, and `--recover` would fail.
    """
    safe_globals: list[Any] = list(SAFE_GLOBALS)
    if TORCH_VERSION < (2, 6):
        # An older torch takes no pairs of a function and a name: it asks a function for its name.
        safe_globals = [_named(function, name) for function, name in SAFE_GLOBALS]
        # An older torch also needs the class of an object to set the object's state.
        safe_globals.append(NumberType)
        # A file has the bytes of a number as a text, and torch 2.4 does not know the function that
        # turns it into bytes.
        safe_globals.append(codecs.encode)
    torch.serialization.add_safe_globals(safe_globals)


def _named(function: Callable[..., Any], full_name: str) -> Callable[..., Any]:
    """Returns a function that does the same, with the module and the name of `full_name`."""

    def renamed(*args: Any) -> Any:
        """Calls the function."""
        return function(*args)

    module, _, name = full_name.rpartition(".")
    renamed.__module__ = module
    renamed.__name__ = name
    return renamed


def clip_sparse_gradients() -> None:
    """
    Makes AllenNLP's trainer clip the norm of all gradients if some are sparse, as an embedding's
    are with `sparse=True`. torch's own function refuses them.
    """
    gradient_descent_trainer.clip_grad_norm_ = _clip_sparse_and_dense  # type: ignore[assignment]


class _WithGradient:
    """Stands for a parameter: `clip_grad_norm_` reads only its gradient."""

    def __init__(self, grad: torch.Tensor | None) -> None:
        self.grad = grad


def _clip_sparse_and_dense(parameters: list[torch.nn.Parameter], max_norm: float) -> torch.Tensor:
    """
    Scales all gradients so that their norm is at most `max_norm`, and returns the norm before. A
    sparse gradient is scaled by its values.
    """
    clipped: list[Any] = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is not None and gradient.is_sparse:
            # The values of a coalesced gradient share its memory, so they are clipped in place.
            parameter.grad = gradient.coalesce()
            gradient = parameter.grad.values()
        clipped.append(_WithGradient(gradient))
    return torch.nn.utils.clip_grad_norm_(clipped, max_norm)


def silence_warnings_about_the_trainer() -> None:
    """
    Hides two warnings about AllenNLP's trainer, and only there: that `torch.cuda.amp` is
    deprecated; and, in torch 2.4 and 2.5, that the best weights, written by the trainer itself, may
    contain code.
    """
    for message in (
        r"`torch\.cuda\.amp\.(autocast|GradScaler)\(args\.\.\.\)` is deprecated",
        r"You are using `torch\.load` with `weights_only=False`",
    ):
        warnings.filterwarnings(
            "ignore",
            message=message,
            category=FutureWarning,
            module=r"allennlp\.training\.gradient_descent_trainer",
        )


def import_submodules_by_their_full_names() -> None:
    """
    Makes AllenNLP import submodules by their full names. Its own function imports them by their
    last names first, which runs folders of the working directory that are called `data`, `models`
    or `training`, as AllenNLP's packages are.

    This shim can go when AllenNLP walks its packages with a prefix.
    """
    # Each of these modules has its own name for the function. `allennlp train --include-package`
    # calls that of `util`.
    modules: tuple[Any, ...] = (util, commands, test_install)
    for module in modules:
        module.import_module_and_submodules = _include_package
    # AllenNLP imports only itself and its default plugins by this one, and none of the user's.
    plugins.import_module_and_submodules = _import_with_submodules


def _include_package(package_name: str, exclude: set[str] | None = None) -> None:
    """
    Imports a package with its submodules. A package of the user's may be in the working directory,
    AllenNLP's own never is.
    """
    invalidate_caches()  # the package may have been written a moment ago
    top_package, _, _ = package_name.partition(".")
    if top_package == "allennlp":
        _import_with_submodules(package_name, exclude)
        return
    with util.push_python_path("."):
        _import_with_submodules(package_name, exclude)


def _import_with_submodules(package_name: str, exclude: set[str] | None = None) -> None:
    """
    Imports a package and all its submodules, or a single module. As AllenNLP does, leaves out
    `exclude`, tests and names that begin with `_`.
    """
    if package_name in (exclude or ()) or package_name == _ONLY_FOR_CHECKLIST:
        return
    package = import_module(package_name)
    folders = list(getattr(package, "__path__", []))  # a module that is no package has none
    # As AllenNLP does, looks only into the first folder of a package that has several.
    for submodule in iter_modules(folders[:1]):
        if not submodule.name.startswith(("_", "test")):
            _import_with_submodules(f"{package_name}.{submodule.name}", exclude)


@cache
def import_plugins(here: str) -> None:
    """
    Imports AllenNLP and its plugins, as AllenNLP's own function does, once for each working
    directory `here`. That function also imports a folder in `here` that is called like one of
    AllenNLP's packages; this one imports it only if `.allennlp_plugins` names it. Afterwards
    `sys.path` has its earlier entries, then those that plugins have added.
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
        sys.path.append(here)
        for name in list(plugins.discover_plugins()):
            _import_or_log(import_module, name)
    finally:
        added_by_plugins = [entry for entry in sys.path if entry not in path and entry != here]
        sys.path[:] = path + added_by_plugins
        stand_ins.hide()  # AllenNLP has imported them by now, and nobody else should get them


def _import_or_log(import_it: Callable[[str], Any], name: str) -> None:
    """Imports a plugin by `import_it`, or logs that it, or a module that it needs, is missing."""
    try:
        import_it(name)
    except ModuleNotFoundError as error:
        logger.error("Plugin %s could not be loaded: %s", name, error)


def load_tokenizers_of_transformers() -> None:
    """
    Makes AllenNLP load tokenizers of transformers without the keyword `add_special_tokens`, because
    transformers 4.44 and later refuse it. It is not needed there: AllenNLP passes it again whenever
    it calls such a tokenizer.
    """
    cached_transformers.get_tokenizer = _get_tokenizer


def _get_tokenizer(model_name: str, **options: Any) -> Any:
    """
    Returns the tokenizer of a model of transformers, as AllenNLP's own function does, without
    `add_special_tokens`.
    """
    options.pop("add_special_tokens", None)
    return _GET_TOKENIZER(model_name, **options)


def never_install_spacy_models() -> None:
    """Makes AllenNLP say that a model of spaCy is not installed, instead of running pip."""
    util.spacy_download = _refuse_to_install  # type: ignore[assignment]


def _refuse_to_install(name: str, *_: Any) -> None:
    """
    Raises `ConfigurationError` because a model of spaCy is not installed. The message has the
    command that installs it.
    """
    advice = ""
    # The name may come from an untrusted file, so no command is made of just any text.
    if _SPACY_MODEL.fullmatch(name):
        advice = f"; python -m spacy download {name} installs it"
    raise ConfigurationError(
        f'spaCy\'s model {name!r} is not installed: "spacy_rules" of elmo_plugin.plugin needs '
        f"none{advice}"
    )


def apply() -> None:
    """Applies every shim. Applying them twice is harmless."""
    import_submodules_by_their_full_names()
    restore_reduce_on_plateau()
    allow_numpy_scalars_in_checkpoints()
    clip_sparse_gradients()
    silence_warnings_about_the_trainer()
    load_tokenizers_of_transformers()
    stand_ins.hide()
