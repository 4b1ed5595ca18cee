"""
Semantic roles in the last column of CoNLL-U, MISC, as Universal Propositions 1.0 of English and
Portuguese have them.
"""

import re
from collections.abc import Iterator, Sequence

from elmo_plugin.importers.loose_columns import Row, check_lengths, numbered_sentences
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.srl_dependencies import arguments_of_heads, check_numbers_of_words
from elmo_plugin.tasks.conll2012 import NO_ANNOTATION
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence

_COLUMNS = 10  # of CoNLL-U
_FORM = 1
_FRAMESET = "Roleset"
_ROLES = "Args"
_KEYS = re.compile(rf"(?:.*\|)?{_FRAMESET}=.*\|{_ROLES}=.*")


def has_roles_in_misc(lines: Sequence[Line]) -> bool:
    """Returns whether the last of the ten columns of some word has a frameset and roles."""
    for line in lines:
        columns = line.text.rstrip("\r\n").split("\t")
        if len(columns) == _COLUMNS and _KEYS.fullmatch(columns[-1]):
            return True
    return False


def read_roles_in_misc(lines: Sequence[Line], report: Report) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. The last column has, for example,
    `SpaceAfter=No|Roleset=come.03|Args=_/V`: the frameset of a predicate, and between slashes the
    role of the word for each predicate of the sentence. Each argument is one word, its head.

    Sentences without any frameset and role are left out: nobody has annotated them.

    Raises `ConfigurationError`, naming file and line, if the words of a sentence are not numbered
    without gaps, if a word has too few columns, or more or fewer roles than there are predicates.
    """
    report.took("each argument is one word, its head, as these columns mark it")
    for rows in numbered_sentences(lines):
        check_lengths(rows)
        check_numbers_of_words(rows)
        first_line = rows[0].line
        values = [_values_in(row) for row in rows]
        if any(_ROLES in values_of_word for values_of_word in values):
            yield first_line, _sentence_of(rows, values, report)
        else:
            report.leave_out(f"without {_FRAMESET} and {_ROLES}", first_line.place)


def _values_in(row: Row) -> dict[str, str]:
    """Returns the values of a word's last column by their names."""
    values = {}
    for item in row.columns[-1].split("|"):
        name, _, value = item.partition("=")
        values[name] = value
    return values


def _sentence_of(
    rows: Sequence[Row], values: Sequence[dict[str, str]], report: Report
) -> SrlSentence:
    """
    Returns the sentence of some rows, whose last columns have these values. Raises
    `ConfigurationError`, naming file and line, if a word does not have a role for each predicate.
    """
    framesets = [values_of_word.get(_FRAMESET, "") for values_of_word in values]
    predicate_words = [
        index for index, frameset in enumerate(framesets) if frameset not in NO_ANNOTATION
    ]
    roles_of_words = []
    for row, values_of_word in zip(rows, values, strict=True):
        roles = values_of_word.get(_ROLES, "").split("/")
        if not predicate_words and roles[0] in NO_ANNOTATION:
            roles = roles[1:]  # in a sentence without predicates, something stands in their place
        if len(roles) != len(predicate_words):
            raise row.line.error(
                f"expected {_ROLES}= with {len(predicate_words)} roles between slashes, one for "
                f"each predicate of the sentence, got {row.columns[-1]!r:.60}"
            )
        roles_of_words.append(roles)
    predicates = []
    for number, word in enumerate(predicate_words):
        labels = [roles[number] for roles in roles_of_words]
        lemma = framesets[word].partition(".")[0]
        predicates.append(Predicate(word, lemma, arguments_of_heads(word, labels, report)))
    words = [row.columns[_FORM] for row in rows]
    return SrlSentence(words, predicates, rows[0].line.location)
