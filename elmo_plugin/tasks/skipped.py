"""What a dataset reader leaves out of a file, by reason."""

import logging
from collections import defaultdict

from allennlp.common.checks import ConfigurationError

logger = logging.getLogger(__name__)

_MAX_NAMES = 10


class UnusableExample(ConfigurationError):
    """An example cannot be used. The `reason`, such as "with a blank answer", counts it."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Skipped:
    """
    The examples of a file that are left out, for each reason. Unusable ones are an error by default. It names
    the option `skip_bad` unless that is `None`, for readers without it.
    """

    def __init__(self, skip_bad: bool | None = None) -> None:
        self.file = ""  # its name, as soon as there is a line
        self._skip_bad = skip_bad
        self._names = defaultdict[str, list[str]](list)

    def add(self, reason: str, name: str) -> None:
        """Adds an example by its name: its id, or its line."""
        self._names[reason].append(name)

    def skip_or_raise(self, error: ConfigurationError, location: str, name: str) -> None:
        """Skips an example if `skip_bad`, or raises `ConfigurationError`, beginning with the location."""
        if not self._skip_bad:
            hint = ", and" if "; " in str(error) else ";"
            hint = "" if self._skip_bad is None else f"{hint} skip_bad leaves it out"
            raise ConfigurationError(f"{location}: {error}{hint}") from None
        self.add(error.reason if isinstance(error, UnusableExample) else "that cannot be split", name)

    def log(self, examples: str) -> None:
        """Logs, for each reason, the number of the examples and the first ten."""
        for reason, names in self._names.items():
            first = ", ".join(names[:_MAX_NAMES] + ["…"] * (len(names) > _MAX_NAMES))
            logger.info("%s: skipped %d %s %s: %s", self.file, len(names), examples, reason, first)
