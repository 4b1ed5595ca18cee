"""Propositions without words, as srl-eval.pl of CoNLL-2005 scores them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from elmo_plugin.importers.loose_columns import Row
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import locate_label_errors
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence, parse_labels


def read_propositions(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions, one word per line: the lemma of a predicate or `-`, and then, for each
    predicate from left to right, a bracket label. White space separates columns, blank lines
    separate sentences. The words are empty, and all predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, or
    brackets are malformed, nested or without their other half.
    """
    rows = [Row(line, line.columns) for line in lines]
    for has_words, sentence in groupby(rows, key=lambda row: bool(row.columns)):
        if has_words:
            yield proposition_sentence(list(sentence))


def proposition_sentence(rows: Sequence[Row]) -> SrlSentence:
    """Returns a sentence of propositions. Raises errors as `read_propositions` does."""
    first = rows[0]
    for row in rows:
        if len(row.columns) != len(first.columns):
            raise row.line.error(
                f"expected {len(first.columns)} columns (as in line {first.line.number} of this "
                f"sentence), got {len(row.columns)}"
            )
    lemmas, *columns = zip(*(row.columns for row in rows), strict=True)
    words = [word for word, lemma in enumerate(lemmas) if lemma != "-"]
    if len(words) != len(columns):
        raise first.line.error(
            f"the sentence that begins here has {len(words)} predicates, but "
            f"{len(columns)} columns of arguments"
        )
    predicates = []
    for number, (word, labels) in enumerate(zip(words, columns, strict=True), start=2):
        with locate_label_errors([row.line for row in rows], f"column {number}: "):
            predicates.append(Predicate(word, lemmas[word], parse_labels(labels)))
    return SrlSentence([""] * len(rows), predicates, first.line.location)
