"""The one exception of this package, and how AllenNLP's users see it."""

from collections.abc import Iterator
from contextlib import contextmanager

NEEDS_ALLENNLP = (
    "needs AllenNLP: pip install 'elmo_plugin[allennlp]', then pip install --no-deps allennlp==2.10.1"
)


class BiLmError(ValueError):
    """A model file, an option or a text that cannot be used; its message is one sentence that says why."""


@contextmanager
def as_configuration_error(option: str = "") -> Iterator[None]:
    """Turns a `BiLmError` of the block into AllenNLP's `ConfigurationError`, which names the `option`."""
    from allennlp.common.checks import ConfigurationError  # the biLM is importable without AllenNLP

    try:
        yield
    except BiLmError as error:
        raise ConfigurationError(f"{option}: {error}" if option else str(error)) from None


def raise_stop(error: Exception) -> None:
    """
    Raises what AllenNLP raises where a SIGTERM comes: an `Exception`, which code that takes whatever damage
    may raise must not take for damage.
    """
    if type(error).__name__ == "SigTermReceived":  # AllenNLP may not be there
        raise error
