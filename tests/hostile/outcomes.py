"""What a case may end in: a clear error or the right answer. Everything else is a failure."""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import format_exception

from tests.hostile.fork_server import SECONDS, Ended, Forked

CLEAR, RIGHT, FAILURE, NAMED = "clear", "right", "failure", "named"
HOSTILE = "hostile"  # the name under which a test reports its counts
EXPECTED = ("ConfigurationError", "BiLmError", "OSError", "PermissionError", "FileNotFoundError")


@dataclass
class Outcomes:
    """
    Counts the cases of a test.

    counts: of each outcome, and of the clear errors that name a file, a line or an option
    failures: what went wrong, by the names of the cases
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    unnamed: dict[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        return sum(self.counts[outcome] for outcome in (CLEAR, RIGHT, FAILURE))

    def add(self, case: str, outcome: str, message: str = "", names: Sequence[str] = ()) -> None:
        self.counts[outcome] += 1
        if outcome == FAILURE:
            self.failures[case] = message
        elif outcome == CLEAR and any(name in message for name in names):
            self.counts[NAMED] += 1
        elif outcome == CLEAR:
            self.unnamed[case] = message

    def run(self, case: str, work: Callable[[], object], folder: Path, names: Sequence[str]) -> None:
        """
        Does the work of a case in a process of its own, in `folder`. A clear error has one of `names` in it;
        a wrong answer is an `AssertionError`.
        """
        outcome, message = judge(Forked(work, folder).wait())
        self.add(case, outcome, message, names)

    def call(self, case: str, work: Callable[[], object], names: Sequence[str]) -> None:
        """Does the work of a case in this process, for what cannot end it. See `run`."""
        begun = time.monotonic()
        try:
            work()
        except AssertionError as error:
            self.add(case, FAILURE, f"wrong: {error}")
        except Exception as error:
            is_clear = type(error).__name__ in EXPECTED
            said = str(error) if is_clear else "".join(format_exception(error)[-3:])
            self.add(case, CLEAR if is_clear else FAILURE, said, names)
        else:
            self.add(case, RIGHT)
        if (seconds := time.monotonic() - begun) > SECONDS:
            self.add(f"{case}: time", FAILURE, f"it took {seconds:.0f} s")


def judge(ended: Ended) -> tuple[str, str]:
    """Returns the outcome, and what was said."""
    if ended.timed_out:
        return FAILURE, "it did not end"
    if ended.status < 0:
        return FAILURE, f"the interpreter ended by signal {-ended.status}: {ended.error[-300:]}"
    if ended.status == 0:
        return RIGHT, ""
    if "AssertionError" in ended.last_line:
        return FAILURE, f"wrong: {ended.last_line}"
    if "Traceback (most recent call last)" in ended.error:
        of_library = re.match(r"(?:[\w.]+\.)?(\w+): ", ended.last_line)
        if of_library is None or of_library[1] not in EXPECTED:
            return FAILURE, ended.error[-600:]
    return CLEAR, ended.last_line
