"""The exception for a user's mistakes, in this package and in AllenNLP."""

from collections.abc import Iterator
from contextlib import contextmanager

from elmo_plugin.common.streams import visible

INSTALL_ALLENNLP = ("pip install 'elmo_plugin[allennlp]'", "pip install --no-deps allennlp==2.10.1")
NEEDS_ALLENNLP = f"needs AllenNLP: {', then '.join(INSTALL_ALLENNLP)}"


class BiLmError(ValueError):
    """A model file, an option or a text cannot be used. The message is one sentence that says why."""

    def __str__(self) -> str:
        return visible(super().__str__())  # it may quote a file


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
    Raises the error again if AllenNLP raised it for SIGTERM. It is an `Exception`, so code that catches
    all errors of a damaged file must let it through.
    """
    if type(error).__name__ == "SigTermReceived":  # AllenNLP may not be installed
        raise error
