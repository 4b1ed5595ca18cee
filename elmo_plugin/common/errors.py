"""The exception for a user's mistakes, in this package and in AllenNLP."""

import math
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from elmo_plugin.common.streams import visible

INSTALL_ALLENNLP = ("pip install 'elmo_plugin[allennlp]'", "pip install --no-deps allennlp==2.10.1")
NEEDS_ALLENNLP = f"needs AllenNLP: {', then '.join(INSTALL_ALLENNLP)}"


class BiLmError(ValueError):
    """
    A model file, an option or a text cannot be used. The message is one sentence that says why.
    """

    def __str__(self) -> str:
        return visible(super().__str__())  # it may quote a file


def check_choice(
    name: str, value: object, choices: Collection[Any], error: type[Exception] = BiLmError
) -> None:
    """Raises `error` if `value` is not one of the choices."""
    if value not in choices:
        raise error(f"{name}: expected one of {', '.join(map(str, choices))}, got {value!r:.60}")


def check_at_least(
    name: str,
    value: Any,
    least: int = 1,
    most: float = math.inf,
    error: type[Exception] = BiLmError,
) -> None:
    """Raises `error` if `value` is not a whole number from `least` to `most`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        expected = f"at least {least}" if most == math.inf else f"{least} to {most:,}"
        whole = "" if is_whole else "a whole number, "
        raise error(f"{name}: expected {whole}{expected}, got {value!r:.60}")


def nearest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Returns the name that was probably meant, or an empty string."""
    return next(iter(get_close_matches(name, names, 1, cutoff)), "")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Returns the end of a message that asks for the nearest of the names, or an empty string."""
    nearest = nearest_name(name, names, cutoff)
    return f"; did you mean {nearest!r}?" if nearest else ""


@contextmanager
def as_configuration_error(option: str = "") -> Iterator[None]:
    """Turns a `BiLmError` into AllenNLP's `ConfigurationError`, naming the `option`."""
    from allennlp.common.checks import ConfigurationError  # here, as the biLM needs no AllenNLP

    try:
        yield
    except BiLmError as error:
        raise ConfigurationError(f"{option}: {error}" if option else str(error)) from None


def raise_stop(error: Exception) -> None:
    """
    Raises the error again if AllenNLP raised it for SIGTERM, among all errors of a damaged file.
    """
    if type(error).__name__ == "SigTermReceived":  # AllenNLP may not be installed
        raise error
