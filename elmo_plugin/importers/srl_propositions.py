"""Propositions without words, as srl-eval.pl of CoNLL-2005 scores them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from elmo_plugin.importers.loose_columns import Row
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import locate_label_errors
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence, parse_labels


def read_propositions(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a file of propositions. Their words are empty.

    A line of the file stands for a word. It has the lemma if the word is a predicate, else `-`, and
    then a bracket label for each predicate of the sentence, from left to right. White space
    separates columns, and blank lines separate sentences.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, or
    brackets are malformed, nested or without their other half.
    """
    rows = [Row(line, line.columns) for line in lines]
    for has_columns, group in groupby(rows, key=lambda row: bool(row.columns)):
        if has_columns:
            yield proposition_sentence(list(group), lemma_column=0)


def proposition_sentence(rows: Sequence[Row], lemma_column: int) -> SrlSentence:
    """
    Returns a sentence of propositions. Its words are empty, and all columns after the lemmas have
    arguments. Columns before the lemmas are not read. Raises errors as `read_propositions` does.
    """
    first = rows[0]
    for row in rows:
        if len(row.columns) != len(first.columns):
            raise row.line.error(
                f"expected {len(first.columns)} columns (as in line {first.line.number} of this "
                f"sentence), got {len(row.columns)}"
            )
    lemmas = [row.columns[lemma_column] for row in rows]
    predicate_words = [index for index, lemma in enumerate(lemmas) if lemma != "-"]
    argument_columns = range(lemma_column + 1, len(first.columns))
    if len(predicate_words) != len(argument_columns):
        raise first.line.error(
            f"the sentence that begins here has {len(predicate_words)} predicates, but "
            f"{len(argument_columns)} columns of arguments"
        )
    lines = [row.line for row in rows]
    predicates = []
    for word, column in zip(predicate_words, argument_columns, strict=True):
        labels = [row.columns[column] for row in rows]
        with locate_label_errors(lines, f"column {column + 1}: "):
            arguments = parse_labels(labels)
        predicates.append(Predicate(word, lemmas[word], arguments))
    no_words = [""] * len(rows)
    return SrlSentence(no_words, predicates, first.line.location)
