"""
Lets AllenNLP import packages that are not installed, and that only its vision, transformer,
sharding, hub and callback parts use.

AllenNLP imports them all whenever it starts. A stand-in is a module in which every name is a class.
It can be imported, subclassed and asked for in `isinstance`; whoever uses it otherwise gets one
sentence that says what to install. A package that is installed is used as ever, and only
AllenNLP's own modules get stand-ins: for all others a missing package stays missing.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType


class Package:
    """
    A package that AllenNLP imports, and none of our tasks uses.

    # Parameters

    name : `str`
        As it is imported.
    imported_by : `str`
        The module of AllenNLP that imports it first.
    needed_for : `str`
        What does not work without it.
    install : `str`
        What pip installs for it.
    """

    def __init__(self, name: str, imported_by: str, needed_for: str, install: str) -> None:
        self.name = name
        self.imported_by = imported_by
        self.needed_for = needed_for
        self.install = install


_EXTRA = "elmo_plugin[transformers]"  # versions that work with AllenNLP
PACKAGES = [
    Package(
        "transformers", "allennlp", "models, tokenizers and optimizers of transformers", _EXTRA
    ),
    Package("torchvision", "allennlp.data.image_loader", "images", _EXTRA),
    Package("fairscale", "allennlp.nn.parallel", "models spread over several GPUs", _EXTRA),
    Package("sklearn", "allennlp.training.metrics.auc", "the metric `auc` and bias", _EXTRA),
    Package("scipy", "allennlp.training.metrics", "Spearman's correlation and fairness", _EXTRA),
    Package("lmdb", "allennlp.common.file_utils", "its cache of tensors", _EXTRA),
    Package("tensorboardX", "allennlp.training.callbacks", "the callback `tensorboard`", _EXTRA),
    Package(
        "more_itertools",
        "allennlp.data.data_loaders.multitask_scheduler",
        "training on several tasks at once",
        _EXTRA,
    ),
    Package("termcolor", "allennlp.commands.diff", "`allennlp diff`", _EXTRA),
    Package("dill", "allennlp.common.util", "transformers' tokenizers", _EXTRA),
    Package("base58", "allennlp.common.util", "transformers' tokenizers", _EXTRA),
    Package("wandb", "allennlp.training.callbacks.wandb", "the callback `wandb`", "wandb"),
]
_BY_NAME = {package.name: package for package in PACKAGES}


class _MissingName(type):
    """The type of all names in a stand-in. They are classes whose only use is an error."""

    package: Package

    def __call__(cls, *args: object, **kwargs: object) -> object:
        raise _not_installed(cls.package)

    def __getattr__(cls, name: str) -> object:
        # Python itself asks classes for some names with underscores, and can do without.
        if name.startswith("__"):
            raise AttributeError(name)
        raise _not_installed(cls.package)


def _not_installed(package: Package) -> Exception:
    """Returns the error of someone who uses a package that is not installed."""
    from allennlp.common.checks import ConfigurationError  # here, as AllenNLP imports this first

    return ConfigurationError(
        f"{package.name} is not installed, and AllenNLP needs it for {package.needed_for}: "
        f"pip install '{package.install}'"
    )


class StandIn(ModuleType):
    """Stands for a package that is not installed, or for one of its modules."""

    def __init__(self, name: str, package: Package) -> None:
        super().__init__(name)
        self.__path__ = []  # so that Python asks for its submodules as well
        self._package = package

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        missing = _MissingName(name, (), {"package": self._package, "__module__": self.__name__})
        setattr(self, name, missing)  # the same class each time
        return missing


class _Finder:
    """
    Finds stand-ins. Python asks the finders in `sys.meta_path` one after the other, and this is the
    last: it is asked only for what nobody else has found.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns how to load a stand-in, or `None` if there is none for this importer."""
        package_name, _, submodule = name.partition(".")
        if package_name not in _BY_NAME:
            return None
        # What an installed package lacks stays missing.
        if submodule and not isinstance(sys.modules.get(package_name), StandIn):
            return None
        if not _is_asked_by_allennlp(sys._getframe()):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Makes a stand-in."""
        package_name = spec.name.partition(".")[0]
        return StandIn(spec.name, _BY_NAME[package_name])

    def exec_module(self, module: ModuleType) -> None:
        """Runs nothing: a stand-in contains no code."""


def _is_asked_by_allennlp(frame: FrameType) -> bool:
    """Returns whether a module of AllenNLP imports something in the frame, or in its callers."""
    importer: FrameType | None = frame.f_back
    while importer is not None:
        name = importer.f_globals.get("__name__", "")
        # Between an import statement and a finder there are only frames of Python's own importlib.
        if not name.startswith("importlib"):
            return name == "allennlp" or name.startswith("allennlp.")
        importer = importer.f_back
    return False


def install() -> None:
    """Makes Python find the stand-ins. Calling this twice is harmless."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            return
    sys.meta_path.append(_Finder())


def hide() -> None:
    """
    Removes the stand-ins from `sys.modules`, so that whoever tries to import a package afterwards
    learns that it is missing. AllenNLP's modules keep theirs.
    """
    for name, module in list(sys.modules.items()):
        if isinstance(module, StandIn):
            del sys.modules[name]
