"""
Lets AllenNLP start without packages that it imports at its start, and that few people use.

A stand-in is a module in which every name is a class. It can be imported, subclassed and asked for
in `isinstance`. There are two kinds of packages:

- Those of `PACKAGES` need not be installed. Whoever uses a name gets one sentence that says what to
  install. If the package is installed, it is imported as ever.
- Those of `LATE` are installed, and take a fifth of the start. A name is taken from the package the
  first time that somebody calls it or asks for one of its attributes.

Only AllenNLP's own modules get stand-ins: for all others a missing package stays missing, and an
installed one is imported as ever.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType

# Type checkers take this name as true. Importing `typing` for it would double the time that Python
# takes to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Package:
    """
    A package that AllenNLP imports at its start, and does not use then.

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
    Package(
        "matplotlib",
        "allennlp.commands.find_learning_rate",
        "the plot of `allennlp find-lr`",
        "elmo_plugin[figures]",
    ),
]
_TASKS = "elmo_plugin[allennlp]"
LATE = [
    Package("nltk", "allennlp.training.metrics", "the scores of parse trees", _TASKS),
    Package("huggingface_hub", "allennlp.common.push_to_hf", "`allennlp push-to-hf`", _TASKS),
    Package("cached_path", "allennlp.common.file_utils", "files at addresses", _TASKS),
]
_PACKAGES = {package.name: package for package in PACKAGES}
_LATE = {package.name: package for package in LATE}


class _Name(type):
    """The type of all names in a stand-in. They are classes, each in place of a real object."""

    # Classes of AllenNLP that are derived from a name inherit these.
    _package: Package
    _module: str
    _attribute: str

    def __call__(cls, *args: object, **kwargs: object) -> object:
        return cls._import()(*args, **kwargs)

    def __getattr__(cls, name: str) -> object:
        # Python itself asks classes for some names with underscores, and can do without.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._import(), name)

    def __instancecheck__(cls, instance: object) -> bool:
        package = sys.modules.get(cls._package.name)
        # Nothing can be an instance of a class whose package nobody has imported.
        if package is None or isinstance(package, StandIn):
            return False
        return isinstance(instance, cls._import())

    def _import(cls) -> "Any":
        """
        Imports the package, and returns the object for which this name stands. Raises AllenNLP's
        `ConfigurationError` if the package is not installed, or does not have the name.
        """
        _forget([cls._package])  # or the import below would find the stand-in
        try:
            return getattr(import_module(cls._module), cls._attribute)
        except ModuleNotFoundError as error:
            if error.name != cls._package.name:
                raise
            problem = "is not installed"
        except AttributeError:
            problem = f"does not have {cls._attribute} in its installed version"
        raise _cannot_be_used(cls._package, problem)


def _cannot_be_used(package: Package, problem: str) -> Exception:
    """Returns the error for the use of a package that has a stand-in, and says what to install."""
    from allennlp.common.checks import ConfigurationError  # here, as AllenNLP imports this first

    return ConfigurationError(
        f"{package.name} {problem}, and AllenNLP needs it for {package.needed_for}: "
        f"pip install '{package.install}'"
    )


class StandIn(ModuleType):
    """Stands for a package, or for one of its modules."""

    def __init__(self, name: str, package: Package) -> None:
        super().__init__(name)
        self._package = package

    def __getattr__(self, name: str) -> type:
        # Python asks modules for names such as `__path__`, and can do without.
        if name.startswith("__"):
            raise AttributeError(name)
        content = {
            "_package": self._package,
            "_module": self.__name__,
            "_attribute": name,
            "__module__": self.__name__,
        }
        stand_in = _Name(name, (), content)
        setattr(self, name, stand_in)  # the same class each time
        return stand_in


class _Loader:
    """Makes stand-ins of packages and of their modules. `packages` has the packages by name."""

    def __init__(self, packages: dict[str, Package]) -> None:
        self.packages = packages

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Makes the stand-in of a package, or of one of its modules."""
        package_name = spec.name.partition(".")[0]
        return StandIn(spec.name, self.packages[package_name])

    def exec_module(self, module: ModuleType) -> None:
        """Runs nothing: a stand-in contains no code."""


class _MissingFinder(_Loader):
    """
    Finds stand-ins of missing packages. Python asks the finders in `sys.meta_path` one after the
    other, and this is the last: it is asked only for what nobody else has found.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Returns the spec of a stand-in if a module of AllenNLP imports `name`, and `name` is a
        missing package or one of its modules, else `None`.
        """
        package_name, _, submodule = name.partition(".")
        if package_name not in self.packages:
            return None
        # A module that an installed package does not have stays missing.
        if submodule and not isinstance(sys.modules.get(package_name), StandIn):
            return None
        importer = _importer(sys._getframe())
        if importer is None or not _is_of_allennlp(importer):
            return None
        # As a package, because AllenNLP may import its modules.
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]


class _LateFinder(_Loader):
    """Finds stand-ins of packages that are imported late. This is the first finder."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Returns the spec of a stand-in if a module of AllenNLP imports an installed package of the
        table at its start, else `None`. The stand-ins of other packages in the table are removed if
        AllenNLP imports anything.
        """
        importer = _importer(sys._getframe())
        if importer is None or not _is_of_allennlp(importer):
            return None
        package_name = name.partition(".")[0]
        # If AllenNLP imports something else now, it is done with its earlier stand-ins. Without
        # them, other libraries import the installed packages.
        _forget([package for package in LATE if package.name != package_name])
        # What AllenNLP imports in a function, it uses at once.
        if name not in self.packages or importer.f_code.co_name != "<module>":
            return None
        installed = PathFinder.find_spec(name)
        if installed is None:
            return None
        spec = ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        # Its submodules are the real ones: AllenNLP starts with small ones, such as locks.
        spec.submodule_search_locations = installed.submodule_search_locations
        return spec


def _importer(frame: FrameType) -> FrameType | None:
    """
    Returns the frame of the code that imports something: the next caller of the finder in `frame`
    outside of importlib. Returns `None` if there is none.
    """
    importer: FrameType | None = frame.f_back
    # Between an import statement and a finder there are only frames of Python's own importlib.
    while importer is not None and _module_of(importer).startswith("importlib"):
        importer = importer.f_back
    return importer


def _is_of_allennlp(frame: FrameType) -> bool:
    """Returns whether a frame runs code of AllenNLP."""
    return _module_of(frame).partition(".")[0] == "allennlp"


def _module_of(frame: FrameType) -> str:
    """Returns the name of the module whose code runs in a frame."""
    name: str = frame.f_globals.get("__name__", "")
    return name


def install() -> None:
    """Makes Python find the stand-ins. Calling this twice is harmless."""
    for finder in sys.meta_path:
        if isinstance(finder, _Loader):
            return
    sys.meta_path.insert(0, _LateFinder(_LATE))
    sys.meta_path.append(_MissingFinder(_PACKAGES))


def hide() -> None:
    """
    Removes the stand-ins from `sys.modules`, so that whoever tries to import a package afterwards
    gets the package, or learns that it is missing. AllenNLP's modules keep theirs.
    """
    _forget([*PACKAGES, *LATE])


def _forget(packages: Sequence[Package]) -> None:
    """
    Removes from `sys.modules` the packages that have a stand-in there, each with all its
    submodules.
    """
    names = set()
    for package in packages:
        if isinstance(sys.modules.get(package.name), StandIn):
            names.add(package.name)
    if not names:
        return
    for name in list(sys.modules):
        if name.partition(".")[0] in names:
            del sys.modules[name]
