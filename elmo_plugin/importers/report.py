"""How an importer read the parts of a file, and which parts it left out and why."""

from collections import defaultdict
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

_MOST_PLACES = 10  # that are listed


class Unusable(ConfigurationError):
    """An example cannot be used. Reports count it by its `reason`, as "with a blank answer"."""

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message or reason)
        self.reason = reason


class Report:
    """The findings about one file, in the order in which an importer made them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[str] = []
        self.left_out = defaultdict[str, list[str]](list)

    def took(self, finding: str) -> None:
        """Adds what something was taken for, such as "the words are in column 'Wort'"."""
        if finding not in self.findings:
            self.findings.append(finding)

    def leave_out(self, reason: str, place: str) -> None:
        """Adds an example that is left out, such as one "without a label" at "line 7"."""
        self.left_out[reason].append(place)

    def reasons(self) -> str:
        """Returns how many examples were left out for each reason."""
        return "; ".join(f"{len(places):,} {why}" for why, places in self.left_out.items())

    def lines(self, examples: str) -> Iterator[str]:
        """
        Yields the findings, and a line for each reason for which something was left out. The lines
        call it `examples`, such as "sentences".
        """
        for finding in self.findings:
            yield f"{self.file}: {finding}"
        for reason, places in self.left_out.items():
            listed = ", ".join(places[:_MOST_PLACES])
            if len(places) > _MOST_PLACES:
                listed += ", …"
            yield f"{self.file}: left out {len(places):,} {examples} {reason}: {listed}"
