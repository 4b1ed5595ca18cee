"""
Says what to write instead of a name that only other libraries have, such as `ELMo` in `from
elmo_plugin import ELMo`.

If a module does not have a name, `from MODULE import NAME` looks for a submodule of that name. If
it finds none, its own message replaces the message of the module's `AttributeError`. So a finder of
submodules has to raise the error that says what to write.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Some projects import these private classes of AllenNLP from the module of `Elmo`.
_PRIVATE_OF_ALLENNLP = ("_ElmoBiLm", "_ElmoCharacterEncoder")


def what_to_write(name: str) -> str:
    """
    Returns a sentence that says what to write instead of a name that only other libraries have.
    Returns an empty string for a name that no library is known to have.
    """
    if name in _PRIVATE_OF_ALLENNLP:
        return f"elmo_plugin lacks {name}: import it from allennlp.modules.elmo"
    # Imported here, because only a wrong name needs it.
    from elmo_plugin.common.meanings import meanings, write_instead

    for meant, other_names in meanings()["names of elmo_plugin"].items():
        if name in other_names.split():
            return f"elmo_plugin has no {name}; {write_instead(meant)}"
    return ""


class _Finder:
    """
    Explains wrong names, and finds no modules. It is the last finder in `sys.meta_path`, so Python
    asks it only for modules that no other finder has found.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        Raises `ImportError` if `name` is a submodule of `elmo_plugin`, such as `elmo_plugin.ELMo`,
        and other libraries have something of that name. Returns `None` otherwise.
        """
        package, _, submodule = name.rpartition(".")
        if package == "elmo_plugin":
            sentence = what_to_write(submodule)
            if sentence:
                raise ImportError(sentence)
        return None


def install() -> None:
    """Adds the finder to `sys.meta_path`, unless it is there already."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            return
    sys.meta_path.append(_Finder())
