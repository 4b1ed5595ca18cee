"""
Lets AllenNLP start without packages that it imports at its start, and that few people use.

A stand-in is a module in place of such a package. Each name in it is a class, so that AllenNLP can
import the name, derive classes from it and use it in `isinstance`. There are two kinds of packages:

- The packages in `PACKAGES` need not be installed. Using a name of a missing one raises an error
  that says what to install. If the package is installed, it is imported as always.
- The packages in `LATE` are installed, but importing them takes a fifth of AllenNLP's start. So
  they are imported late: when one of their names is called, or asked for an attribute.

Only AllenNLP's own modules get stand-ins. For all other code, a missing package stays missing, and
an installed one is imported as always.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType

# Type checkers take this name to be true. Importing it from `typing` would double the time that
# Python takes to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Package:
    """
    A package that AllenNLP imports at its start, and does not use then.

    # Parameters

    name : `str`
        The name by which it is imported.
    needed_for : `str`
        What does not work without it.
    install : `str`
        What `pip install` has to be given.
    """

    def __init__(self, name: str, needed_for: str, install: str) -> None:
        self.name = name
        self.needed_for = needed_for
        self.install = install


_EXTRA = "elmo_plugin[transformers]"  # versions that work with AllenNLP
PACKAGES = [
    Package("transformers", "models, tokenizers and optimizers of transformers", _EXTRA),
    Package("torchvision", "images", _EXTRA),
    Package("fairscale", "models spread over several GPUs", _EXTRA),
    Package("sklearn", "the metric `auc` and bias", _EXTRA),
    Package("scipy", "Spearman's correlation and fairness", _EXTRA),
    Package("lmdb", "its cache of tensors", _EXTRA),
    Package("tensorboardX", "the callback `tensorboard`", _EXTRA),
    Package("more_itertools", "training on several tasks at once", _EXTRA),
    Package("termcolor", "`allennlp diff`", _EXTRA),
    Package("dill", "transformers' tokenizers", _EXTRA),
    Package("base58", "transformers' tokenizers", _EXTRA),
    Package("wandb", "the callback `wandb`", "wandb"),
    Package("matplotlib", "the plot of `allennlp find-lr`", "elmo_plugin[figures]"),
]
_TASKS = "elmo_plugin[allennlp]"
LATE = [
    Package("nltk", "the scores of parse trees", _TASKS),
    Package("huggingface_hub", "`allennlp push-to-hf`", _TASKS),
    Package("cached_path", "files at addresses", _TASKS),
]


class _Name(type):
    """
    The type of all names in a stand-in. Each name is a class that stands for an object of the real
    package.
    """

    # The package and module of the object, and its name there. `StandIn.__getattr__` sets them. If
    # AllenNLP derives a class from a name, the class inherits them.
    _package: Package
    _module: str
    _attribute: str

    def __call__(cls, *args: object, **kwargs: object) -> object:
        return cls._import()(*args, **kwargs)

    def __getattr__(cls, name: str) -> object:
        # Python itself asks classes for names such as `__wrapped__`, and does not need them.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._import(), name)

    def __instancecheck__(cls, instance: object) -> bool:
        package = sys.modules.get(cls._package.name)
        is_imported = package is not None and not isinstance(package, StandIn)
        if not is_imported:
            return False  # nobody can have made an instance of a class in it
        return isinstance(instance, cls._import())

    def _import(cls) -> "Any":
        """
        Imports the package, and returns the object for which this name stands. Raises AllenNLP's
        `ConfigurationError` if the package is not installed, or does not have the name.
        """
        _remove_stand_ins([cls._package])  # otherwise `import_module` would find the stand-in
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
    """Returns the error that says why a package cannot be used, and what to install."""
    # Imported here, because this module has to be ready before AllenNLP is imported.
    from allennlp.common.checks import ConfigurationError

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
        # Python itself asks modules for names such as `__path__`, and does not need them.
        if name.startswith("__"):
            raise AttributeError(name)
        attributes_of_class = {
            "_package": self._package,
            "_module": self.__name__,
            "_attribute": name,
            "__module__": self.__name__,
        }
        stand_in = _Name(name, (), attributes_of_class)
        setattr(self, name, stand_in)  # so that the name stands for the same class each time
        return stand_in


class _Loader:
    """Makes stand-ins for packages and for their modules."""

    def __init__(self, packages: Sequence[Package]) -> None:
        self.packages = {package.name: package for package in packages}

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Makes the stand-in of a package, or of one of its modules."""
        package_name = spec.name.partition(".")[0]
        return StandIn(spec.name, self.packages[package_name])

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing, because a stand-in contains no code."""


class _MissingFinder(_Loader):
    """
    Finds stand-ins for missing packages. Python asks the finders in `sys.meta_path` one after the
    other. This one is behind Python's own finders, so it is asked only for what they do not find.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Returns the spec of a stand-in if a module of AllenNLP imports `name`, and `name` is a
        missing package or one of its modules. Returns `None` otherwise.
        """
        package_name, _, submodule = name.partition(".")
        if package_name not in self.packages:
            return None
        if submodule and not isinstance(sys.modules.get(package_name), StandIn):
            return None  # the package is installed, but does not have this module
        importer = _importer(sys._getframe())
        if importer is None or not _is_of_allennlp(importer):
            return None
        # Even a module is called a package here, because AllenNLP may import modules in it.
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]


class _LateFinder(_Loader):
    """
    Finds stand-ins for the packages in `LATE`. This is the first finder in `sys.meta_path`, because
    Python's own finders would find these packages.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Returns the spec of a stand-in if a module of AllenNLP imports an installed package of
        `LATE` while the module itself is being imported. Returns `None` otherwise.

        Also removes the earlier stand-ins from `sys.modules` if AllenNLP imports something else.
        """
        importer = _importer(sys._getframe())
        if importer is None or not _is_of_allennlp(importer):
            return None
        package_name = name.partition(".")[0]
        # AllenNLP's earlier imports are finished now, so it keeps their stand-ins. They are removed
        # from `sys.modules`, so that other libraries import the installed packages.
        _remove_stand_ins([package for package in LATE if package.name != package_name])
        if name not in self.packages:
            return None
        is_in_function = importer.f_code.co_name != "<module>"
        if is_in_function:
            return None  # AllenNLP uses the package at once
        installed = PathFinder.find_spec(name)
        if installed is None:
            return None
        spec = ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        # Submodules are imported as always, because AllenNLP uses some small ones at its start,
        # such as locks.
        spec.submodule_search_locations = installed.submodule_search_locations
        return spec


def _importer(frame: FrameType) -> FrameType | None:
    """
    Returns the frame of the code that imports something, given the `frame` of a finder that Python
    has called for it. Returns `None` if all callers of the finder belong to importlib.
    """
    importer: FrameType | None = frame.f_back
    # All frames between the import statement and the finder belong to Python's importlib.
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
    """Adds the two finders to `sys.meta_path`, unless they are there already."""
    for finder in sys.meta_path:
        if isinstance(finder, _Loader):
            return
    sys.meta_path.insert(0, _LateFinder(LATE))
    sys.meta_path.append(_MissingFinder(PACKAGES))


def hide() -> None:
    """
    Removes all stand-ins from `sys.modules`. Code that imports one of the packages afterwards gets
    the real package, or an error if it is missing. AllenNLP's modules keep their stand-ins.
    """
    _remove_stand_ins([*PACKAGES, *LATE])


def _remove_stand_ins(packages: Sequence[Package]) -> None:
    """
    Removes the stand-ins for these packages from `sys.modules`, each with all modules of its
    package. Packages without a stand-in stay.
    """
    names_of_stand_ins = set()
    for package in packages:
        if isinstance(sys.modules.get(package.name), StandIn):
            names_of_stand_ins.add(package.name)
    if not names_of_stand_ins:
        return
    for name in list(sys.modules):
        if name.partition(".")[0] in names_of_stand_ins:
            del sys.modules[name]
