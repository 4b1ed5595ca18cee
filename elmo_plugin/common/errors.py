"""The exception for a user's mistakes, in this package and in AllenNLP."""

import math
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from elmo_plugin.common.streams import visible_line

INSTALL_ALLENNLP = ("pip install 'elmo_plugin[allennlp]'", "pip install --no-deps allennlp==2.10.1")
_VERSION = re.compile(r"\d[\w.+!-]{0,39}", re.ASCII)
NEEDS_ALLENNLP = f"needs AllenNLP: {', then '.join(INSTALL_ALLENNLP)}"
TRUST = "use --trust (trust=True) if you trust this archive"


class BiLmError(ValueError):
    """
    A model file, an option or a text cannot be used. The message is one sentence that says why.
    """

    def __str__(self) -> str:
        # The message may quote a file. It must neither control the terminal nor forge a line.
        return visible_line(super().__str__())


def is_for_user(error: BaseException) -> bool:
    """Returns whether an error has a message that a user can act on, without a traceback."""
    if isinstance(error, BiLmError):
        return True
    # If AllenNLP has not been imported, it has raised nothing, and need not be imported here.
    allennlp_checks = sys.modules.get("allennlp.common.checks")
    return allennlp_checks is not None and isinstance(error, allennlp_checks.ConfigurationError)


def message_of(error: BaseException) -> str:
    """
    Returns the message of an error in one line, or the name of its class if it comes without a
    message.
    """
    return " ".join(str(error).split()) or type(error).__name__


def check_choice(
    name: str, value: object, choices: Collection[Any], error: type[Exception] = BiLmError
) -> None:
    """Raises `error` if `value` is not one of the choices."""
    if value not in choices:
        listed = ", ".join(str(choice) for choice in choices)
        raise error(f"{name}: expected one of {listed}, got {value!r:.60}")


def check_at_least(
    name: str,
    value: Any,
    least: int,
    most: float = math.inf,
    error: type[Exception] = BiLmError,
) -> None:
    """Raises `error` if `value` is not a whole number from `least` to `most`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and least <= value <= most:
        return
    if most == math.inf:
        expected = f"at least {least}"
    else:
        expected = f"{least} to {most:,}"
    if not is_whole:
        expected = f"a whole number, {expected}"
    raise error(f"{name}: expected {expected}, got {value!r:.60}")


def nearest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """
    Returns the one of the names that was probably meant, or an empty string if none is similar.
    `cutoff` says how similar it must be, from 0 to 1.
    """
    matches = get_close_matches(name, names, n=1, cutoff=cutoff)
    if not matches:
        return ""
    return matches[0]


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """
    Returns an end for a message, such as `; did you mean 'ner'?`, with the nearest of the names, or
    an empty string if none is similar.
    """
    nearest = nearest_name(name, names, cutoff)
    if not nearest:
        return ""
    return f"; did you mean {nearest!r}?"


def advise_version(version: object) -> str:
    """
    Returns the advice, for a message, to install the version of this package that trained a model.
    The version was read from the model's file, so it is quoted only if it looks like a version.
    """
    if isinstance(version, str) and _VERSION.fullmatch(version):
        return f"install elmo_plugin=={version}"
    return "install the version of elmo_plugin that trained it"


@contextmanager
def as_configuration_error(option: str = "") -> Iterator[None]:
    """
    Turns a `BiLmError` of the block into AllenNLP's `ConfigurationError`. The message begins with
    `option`, if given.
    """
    # Imported here, because this module also serves the biLM, which works without AllenNLP.
    from allennlp.common.checks import ConfigurationError

    try:
        yield
    except BiLmError as error:
        message = str(error)
        if option:
            message = f"{option}: {message}"
        raise ConfigurationError(message) from None


TOO_LITTLE_MEMORY = "there is too little memory: use smaller batches or shorter texts"


def is_lack_of_memory(error: BaseException) -> bool:
    """Returns whether an error says that the memory of the machine or of a GPU is used up."""
    if isinstance(error, MemoryError):
        return True
    # torch's error for a GPU, recognized by its name, because torch takes seconds to import.
    if type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, ImportError):
        # The dynamic loader says so if a library does not fit into memory.
        return "failed to map segment" in str(error)
    # On the CPU, torch raises an ordinary `RuntimeError`.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def raise_if_sigterm(error: Exception) -> None:
    """
    Raises the error again if it stands for the signal SIGTERM, else does nothing. AllenNLP turns
    the signal into an ordinary exception, and `except Exception` must not swallow it.
    """
    # Recognized by its name, because AllenNLP may not be installed.
    if type(error).__name__ == "SigTermReceived":
        raise error


def raise_if_sigterm_or_out_of_memory(error: Exception) -> None:
    """
    Raises the error again if it stands for the signal SIGTERM or a lack of memory, else does
    nothing. It is called by code that turns any other exception into an error that blames a file.
    The file is not to blame for a signal or for a lack of memory.
    """
    raise_if_sigterm(error)
    if is_lack_of_memory(error):
        raise error
