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
    """Returns a sentence on a name that this package does not have, or an empty string."""
    if name in _PRIVATE_OF_ALLENNLP:
        return f"elmo_plugin lacks {name}: import it from allennlp.modules.elmo"
    # Imported here, because only a wrong name needs it.
    from elmo_plugin.common.meanings import meanings, write_instead

    for target, words in meanings()["names of elmo_plugin"].items():
        if name in words.split():
            return f"elmo_plugin has no {name}; {write_instead(target)}"
    return ""


class _Finder:
    """Finds nothing. As the last in `sys.meta_path`, it gets the names that no other one knows."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises `ImportError` for a name of another library."""
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
