"""
Says what to write instead of names that other libraries have, such as `from elmo_plugin import
ELMo`.

If a module lacks a name, `from MODULE import NAME` looks for a submodule of that name, and replaces
the message of the module's own `AttributeError`. So a finder of submodules has to say it.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Some projects import these private classes of AllenNLP from the module of `Elmo`.
_PRIVATE_OF_ALLENNLP = ("_ElmoBiLm", "_ElmoCharacterEncoder")


def what_to_write(name: str) -> str:
    """
    Returns a sentence that says what to write instead of a name that this package does not have. It
    is empty if no other library is known to have the name.
    """
    if name in _PRIVATE_OF_ALLENNLP:
        return f"elmo_plugin lacks {name}: import it from allennlp.modules.elmo"
    # Imported here, because only a wrong name needs it.
    from elmo_plugin.common.meanings import meanings, write_instead

    for target, other_names in meanings()["names of elmo_plugin"].items():
        if name in other_names.split():
            return f"elmo_plugin has no {name}; {write_instead(target)}"
    return ""


class _Finder:
    """
    Finds nothing. As the last in `sys.meta_path`, it is asked only for modules that no other finder
    has found.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Raises `ImportError` for a submodule of `elmo_plugin`, such as `elmo_plugin.ELMo`, if it is
        called like something in another library. Returns `None` for all other names.
        """
        package, _, submodule = name.rpartition(".")
        if package == "elmo_plugin":
            sentence = what_to_write(submodule)
            if sentence:
                raise ImportError(sentence)
        return None


def install() -> None:
    """Makes Python ask the finder. Calling this twice is harmless."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            return
    sys.meta_path.append(_Finder())
