"""Registers the plugin for who has said `elmo_plugin`, in a plugins file or by `import`, and no more.

Importing the package must not import AllenNLP, which takes seconds, nor take the place of AllenNLP's own ELMo
or commands in a program that has other uses for it. So the plugin is imported when AllenNLP is asked for a
name that it does not know: the name may be one of ours.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

PACKAGE, PLUGIN = "elmo_plugin", "elmo_plugin.plugin"
REGISTRABLE = "allennlp.common.registrable"


def register_when_needed() -> None:
    """
    Imports the plugin at once where a plugins file names the package, as the commands are needed then; else
    when AllenNLP, which may not have been imported yet, is asked for a name that it does not know.
    """
    if _is_line_of_plugins_file():
        import_module(PLUGIN)
    elif REGISTRABLE in sys.modules:
        _look_in_plugin_too(sys.modules[REGISTRABLE])
    else:
        sys.meta_path.insert(0, _RegistrableFinder())


def _is_line_of_plugins_file() -> bool:
    """Tells whether AllenNLP imports this very package because a plugins file names it."""
    frame = sys._getframe()
    while frame.f_back is not None:
        caller = frame.f_back
        is_import = frame.f_code is import_module.__code__ and frame.f_locals["name"] == PACKAGE
        if is_import and caller.f_globals.get("__name__") == "allennlp.common.plugins":
            return True
        frame = caller
    return False


class _RegistrableFinder(MetaPathFinder):
    """Waits for the module in which AllenNLP looks names up, and is gone when it is there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != REGISTRABLE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_extend(module: ModuleType) -> None:
                execute(module)
                _look_in_plugin_too(module)

            spec.loader.exec_module = execute_and_extend  # type: ignore[method-assign]
        return spec


def _look_in_plugin_too(registrable: ModuleType) -> None:
    """Lets AllenNLP's two ways to look a name up import the plugin before they give up."""
    resolve = registrable.Registrable.resolve_class_name.__func__
    params = sys.modules["allennlp.common.params"].Params
    pop_choice = params.pop_choice

    def resolve_class_name(cls: type, name: str) -> Any:
        try:
            return resolve(cls, name)
        except registrable.ConfigurationError:
            if PLUGIN in sys.modules:
                raise
            import_module(PLUGIN)
            return resolve(cls, name)

    def pop_choice_of_all(self: Any, key: str, choices: list[str], *args: Any, **options: Any) -> Any:
        name = self.params.get(key)
        if PLUGIN not in sys.modules and isinstance(name, str) and name not in choices and "." not in name:
            import_module(PLUGIN)
            if any(name in names for names in registrable.Registrable._registry.values()):
                choices = [*choices, name]
        return pop_choice(self, key, choices, *args, **options)

    registrable.Registrable.resolve_class_name = classmethod(resolve_class_name)
    params.pop_choice = pop_choice_of_all
