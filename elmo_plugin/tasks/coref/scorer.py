"""The clusters of a system against the right ones, file against file, as the reference scorer does it."""

import logging
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.coref.conll import CorefDocument, read_documents
from elmo_plugin.tasks.coref.metrics import METRICS, CorefCounts, CorefScores

logger = logging.getLogger(__name__)

MAX_REPEATED = 10
_TITLES = {"mention": "Mentions", "muc": "MUC", "bcub": "B-cubed", "ceafe": "CEAF-e"}


def score_coref(key_path: str, response_path: str) -> tuple[list[str], dict[str, Any]]:
    """
    Scores the clusters of a system. As in the reference scorer, a document that the system lacks has no
    clusters, with a warning, and one that is not in the key is skipped, with a warning.

    # Parameters

    key_path : `str`
        The CoNLL-2012 file with what is right.
    response_path : `str`
        The CoNLL-2012 file of the system.

    # Returns

    `tuple[list[str], dict[str, Any]]`
        A table; and the counts and percentages of MUC, B-cubed and CEAF-e, and the mean of their F1.

    Raises `ConfigurationError`, naming file and line, where a file is malformed, where a document occurs
    twice or has another number of words in the other file, and where the system repeats more than ten
    mentions that are right, which the reference scorer refuses to score.
    """
    keys, responses = _by_title(key_path), _by_title(response_path)
    if not keys:
        raise ConfigurationError(f"{key_path}: this file has no documents")
    scores = CorefScores()
    for title, key in keys.items():
        response = responses.pop(title, None)
        if response is None:
            logger.warning("%s: %s is missing in %s; it has no clusters", key.location, title, response_path)
            scores.add(key.clusters, [])
            continue
        _check_length(key, response)
        scores.add(key.clusters, response.clusters)
        if scores.repeated > MAX_REPEATED:
            raise ConfigurationError(
                f"{response.location}: by the end of the document that begins here more than {MAX_REPEATED} "
                "mentions are repeated, which the reference scorer refuses to score"
            )
    for title, response in responses.items():
        logger.warning("%s: %s is not in %s; it is skipped", response.location, title, key_path)
    return table(scores), figures(scores)


def _by_title(path: str) -> dict[str, CorefDocument]:
    documents: dict[str, CorefDocument] = {}
    for document in read_documents(path):
        other = documents.setdefault(document.title, document)
        if other is not document:
            raise ConfigurationError(
                f"{document.location}: {document.title} is also the document in line {other.first_line}"
            )
    return documents


def _check_length(key: CorefDocument, response: CorefDocument) -> None:
    right, found = key.length, response.length
    if right != found:
        raise ConfigurationError(
            f"{response.location}: the document that begins here has {found} words, but {right} in "
            f"{key.location}"
        )


def figures(scores: CorefScores) -> dict[str, Any]:
    """
    Returns the counts and, cut to two decimals, the percentages of MUC, B-cubed and CEAF-e, and the mean of
    their F1.
    """
    counts = scores.counts()
    groups: dict[str, Any] = {name: _as_printed(counts[name]) for name in METRICS}
    return groups | {"average_f1": _percent(scores.average()[2])}


def _as_printed(counts: CorefCounts) -> dict[str, float]:
    """Returns the numbers as the scorer prints them, with perl's fifteen digits."""
    precision, recall, f1 = (_percent(figure) for figure in counts.figures())
    numbers = {name: float(f"{number:.15g}") for name, number in counts._asdict().items()}
    return numbers | {"recall": recall, "precision": precision, "f1": f1}


def _percent(figure: float) -> float:
    """Returns percent with two decimals. The scorer cuts off all further digits, as in 66.63 for 66.637."""
    return int(figure * 10000) / 100


def table(scores: CorefScores) -> list[str]:
    """Returns lines for people to read."""
    counts = scores.counts()
    return [
        f"Number of documents : {scores.documents}",
        "",
        f"{'':10}   {'recall':>28}   {'precision':>28}   {'F1':>6}",
        "-" * 81,
        *(_row(title, counts[name]) for name, title in _TITLES.items()),
        "-" * 81,
        f"{'Mean of the last three':73}   {_percent(scores.average()[2]):6.2f}",
    ]


def _row(title: str, counts: CorefCounts) -> str:
    precision, recall, f1 = (_percent(figure) for figure in counts.figures())
    right = f"({counts.recall_numerator:.2f} / {counts.recall_denominator:.0f})"
    found = f"({counts.precision_numerator:.2f} / {counts.precision_denominator:.0f})"
    return f"{title:10}   {right:>21} {recall:6.2f}   {found:>21} {precision:6.2f}   {f1:6.2f}"
