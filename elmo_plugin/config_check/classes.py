"""The classes that the types in a configuration stand for, and their options."""

import inspect
import json
import re
import sys
from importlib.util import find_spec
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common import FromParams, Registrable
from allennlp.common.from_params import infer_constructor_params, infer_method_params

from elmo_plugin.common.errors import did_you_mean

# The mark that `elmo port` writes for an external variable. Its first character says whether the
# variable is text or a number.
VARIABLE = re.compile("(?P<kind>[\ue000\ue001])(?P<name>[^\ue002]*)\ue002")
# Arguments that AllenNLP passes to constructors. So they need not be in a configuration.
PASSED_BY_ALLENNLP = {
    "vocab",
    "serialization_dir",
    "local_rank",
    "reader",
    "data_path",
    "model_parameters",
    "optimizer",
    "parameters",
    "model",
    "data_loader",
    "instances",
    "trainer",
}
_SIMILAR = 0.85  # how similar a registered name must be to be suggested, from 0 to 1
_ALLENNLP_MODELS = (
    "allennlp-models: pip install --no-deps allennlp-models==2.10.1; pip install conllu==4.4.2 "
    "word2number py-rouge==1.1 ftfy datasets 'huggingface-hub<1'"
)
_DEFAULT_FROM_PARAMS = FromParams.from_params.__func__  # type: ignore[attr-defined]


def _read_gone_types() -> dict[str, str]:
    """Returns the types that AllenNLP 2 no longer has, each with advice on its replacement."""
    content = Path(__file__).with_name("gone_types.json").read_text(encoding="utf-8")
    advice_of_types = {}
    for advice, types in json.loads(content).items():
        for name in types:
            advice_of_types[name] = advice
    return advice_of_types


GONE_TYPES = _read_gone_types()


class Constructor(NamedTuple):
    """The function that makes an object of a configuration."""

    cls: Any
    method: str | None = None  # the name of a class method, unless it is `__init__`

    def options(self) -> dict[str, Parameter]:
        """
        Returns the parameters of the constructor. If it passes `**kwargs` on to the constructor of
        a base class, the parameters of that constructor are included.
        """
        if self.method is None:
            options = infer_constructor_params(self.cls)
        else:
            options = infer_method_params(self.cls, getattr(self.cls, self.method))
        return {name: option for name, option in options.items() if name != "self"}

    def class_of_init(self) -> Any:
        """
        Returns the class that decides on the meaning of the arguments. It is the class or base
        class that defines `__init__`, if that class is registered, and otherwise the class itself.
        For example, if a user's class inherits the `__init__` of a reviewed class, its arguments
        mean the same as the arguments of the reviewed class.
        """
        # Python calls the first `__init__` that it finds; the last base class, `object`, has one.
        defining_class = next(base for base in self.cls.__mro__ if "__init__" in vars(base))
        if _is_registered(defining_class):
            return defining_class
        return self.cls


def _is_registered(cls: Any) -> bool:
    """Returns whether a class is registered under any name."""
    for types in Registrable._registry.values():
        for registered, _ in types.values():
            if registered is cls:
                return True
    return False


def find_constructor(base: Any, kind: str | None) -> Constructor | None:
    """
    Returns the constructor that AllenNLP would call to make an object of class `base`, if the
    configuration says the type `kind`. Returns `None` if the type is unknown.

    If the configuration says no type, AllenNLP takes the default type of `base`. Without a default,
    or if no types are registered for `base`, AllenNLP constructs `base` itself. A type may also be
    the full name of a class. Nothing is imported here, so such a class is only found if its module
    is imported already.
    """
    types = Registrable._registry.get(base)
    if not kind:
        kind = getattr(base, "default_implementation", None)
    if types is None or kind is None:
        return Constructor(base)
    if kind in types:
        cls, method = types[kind]
        return Constructor(cls, method)
    module_name, _, class_name = kind.rpartition(".")
    if module_name not in sys.modules:
        return None
    found = getattr(sys.modules[module_name], class_name, None)
    if not inspect.isclass(found):
        return None
    return Constructor(found)


def has_default_from_params(cls: Any) -> bool:
    """
    Returns whether a class has AllenNLP's own `from_params`. That function makes each argument of
    the constructor according to its annotation.
    """
    from_params = getattr(cls, "from_params", None)
    return getattr(from_params, "__func__", None) is _DEFAULT_FROM_PARAMS


def may_read_other_keys(cls: Any) -> bool:
    """
    Returns whether a class may read keys that are not arguments of its constructor. A class with
    its own `from_params` may do so, but the classes of this package do not.
    """
    if not hasattr(cls, "from_params") or has_default_from_params(cls):
        return False
    return not cls.from_params.__module__.startswith("elmo_plugin.")


def explain_unregistered(kind: str, base: Any) -> str:
    """Says what to do about a type that is not registered for a base class."""
    if kind in GONE_TYPES:
        return f"{kind!r} was removed: {GONE_TYPES[kind]}"
    nearest = did_you_mean(kind, Registrable._registry[base], _SIMILAR)
    if nearest:
        return f"{kind!r} is not registered{nearest}"
    reason = explain_unknown(kind)
    is_full_name_of_class = "." in kind
    if not is_full_name_of_class and find_spec("allennlp_models") is None:
        # The type may be one of the many that allennlp_models registers.
        reason += f", or install {_ALLENNLP_MODELS}"
    return reason


def explain_unknown(kind: object) -> str:
    """Says why a type that is not registered cannot be used."""
    if isinstance(kind, str) and "." in kind:
        return f"{kind} would be imported"
    return f"{kind!r} is not registered: list its package in .allennlp_plugins"
