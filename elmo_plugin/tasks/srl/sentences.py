"""Sentences with their predicates, from the columns of CoNLL-2012."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    ConllWord,
    errors_suggest_import,
    line_kind,
    parse_sentence,
)
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

VERB = "V"  # the role of the predicate itself
_AUXILIARIES = {("be", "03"), ("have", "01"), ("do", "01")}  # lemmas and framesets
_LABEL = re.compile(r"(?:\((?P<opened>[^*()\s]+))?\*(?P<closes>(?P<closed>[^*()\s]*)\))?")


class Predicate(NamedTuple):
    """
    A word of a sentence and its arguments.

    word_index: its index in the sentence
    arguments: from left to right, `V` included
    """

    word_index: int
    lemma: str
    arguments: list[Span]
    is_verb: bool = True


class SrlSentence(NamedTuple):
    """
    Words as in plain text, or empty ones if the file has none, and predicates from left to right.
    """

    words: list[str]
    predicates: list[Predicate]
    location: str = ""  # file and line of the first word


def parse_conll2012(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a file in the columns of CoNLL-2012. Blank lines and the marks of
    documents separate them.

    Raises `ConfigurationError`, naming file and line, if a line does not have these columns, if
    brackets are malformed, or if a column of arguments does not have `(V*)` exactly once.
    """
    with errors_suggest_import("srl"):
        for kind, group in groupby(lines, key=line_kind):
            if kind == "word":
                yield sentence_of(parse_sentence(list(group)))


def sentence_of(words: Sequence[ConllWord]) -> SrlSentence:
    """
    Makes a sentence of words with their columns. Each column of arguments belongs to a predicate.
    Raises `ConfigurationError`, naming file and line, if such a column is malformed, or if its
    predicate is another word than the one with a lemma and a frameset.
    """
    # The indices of the words with a lemma and a frameset.
    framed_words = [index for index, word in enumerate(words) if word.is_predicate]
    num_columns = len(words[0].frames)  # all words of a sentence have the same number
    if framed_words and num_columns == 0:
        raise words[framed_words[0]].line.error(
            f"expected {len(framed_words)} columns of arguments in this sentence, one for each "
            "lemma with a frameset, got none"
        )
    predicates = []
    for number in range(num_columns):
        name = f"column {FIXED_COLUMNS + number + 1}"
        labels = [word.frames[number] for word in words]
        with locate_label_errors([word.line for word in words], prefix=f"{name}: "):
            arguments = parse_labels(labels)
        verb = _find_verb(words, arguments, name)
        # The first framed word belongs to the first column, and so on. If there are more or fewer
        # words than columns, nobody can tell which belong together, so nothing is checked.
        if len(framed_words) == num_columns:
            _check_verb_is_framed(words, verb, framed_words[number], name)
        predicates.append(_predicate_at(words, verb.start, arguments))
    return SrlSentence([word.plain for word in words], predicates, words[0].line.location)


def _find_verb(words: Sequence[ConllWord], arguments: Sequence[Span], name: str) -> Span:
    """
    Returns the `V` among the arguments in a column: the predicate itself. Raises
    `ConfigurationError`, with the name of the column, if it is missing or repeated.
    """
    verbs = [argument for argument in arguments if argument.label == VERB]
    if len(verbs) != 1:
        raise words[0].line.error(
            f"expected (V*) once in {name} of the sentence that begins here, at the predicate, "
            f"got it {len(verbs)} times"
        )
    return verbs[0]


def _check_verb_is_framed(
    words: Sequence[ConllWord], verb: Span, framed_word: int, name: str
) -> None:
    """
    Raises `ConfigurationError`, with the name of the column, unless its `V` contains the word with
    a lemma and a frameset. `framed_word` is the index of this word.
    """
    if verb.start <= framed_word < verb.end:
        return
    raise words[verb.start].line.error(
        f"{name} has (V*) at {words[verb.start].word!r}, but its lemma and frameset are at "
        f"{words[framed_word].word!r}"
    )


def _predicate_at(words: Sequence[ConllWord], index: int, arguments: list[Span]) -> Predicate:
    """
    Returns the predicate at the index of a word. If the file does not give its lemma, the word
    itself is used.
    """
    word = words[index]
    lemma = word.lemma
    if lemma in NO_ANNOTATION:
        lemma = word.plain
    return Predicate(index, lemma, arguments, _is_verb(word))


def _is_verb(word: ConllWord) -> bool:
    """
    Returns whether a predicate is a verb by its part of speech. If the file does not give it, all
    predicates count as verbs. Auxiliaries never do.
    """
    if (word.lemma, word.frameset) in _AUXILIARIES:
        return False
    if word.tag in NO_ANNOTATION:
        return True
    return word.tag.startswith("V")


def parse_labels(labels: Sequence[str]) -> list[Span]:
    """
    Parses one column of bracket labels, a label for each word of a sentence. From the labels
    `(ARG0*`, `*`, `*)` and `(V*)`, it returns two arguments: ARG0, of three words, and V, of one
    word. A closing bracket may name its role again, `*ARG0)`, as in CoNLL-2004.

    Raises `LabelError` if brackets are malformed, nested, or not in pairs.
    """
    arguments = []
    # The role and the first word of the open argument; the role is empty if none is open.
    role = ""
    start = 0
    for index, label in enumerate(labels):
        match = _LABEL.fullmatch(label)
        if match is None:
            raise LabelError(index, f"{label!r} is not one bracket such as (ARG0*, *, *) or (V*)")
        if match["opened"]:
            if role:
                raise LabelError(
                    index, f"{label!r} opens inside ({role}*, but arguments do not overlap"
                )
            role = match["opened"]
            start = index
        if match["closes"]:
            if not role:
                raise LabelError(index, f"{label!r} closes an argument, but none is open")
            if match["closed"] not in ("", role):
                raise LabelError(index, f"{label!r} closes an argument, but the open one is {role}")
            arguments.append(Span(start, index + 1, role))
            role = ""
    if role:
        raise LabelError(start, f"{labels[start]!r} is never closed")
    return arguments


def format_labels(arguments: Iterable[Span], length: int) -> list[str]:
    """
    Returns the bracket labels of a column, for a sentence of `length` words. Inverts
    `parse_labels`.
    """
    labels = ["*"] * length
    for start, end, role in arguments:
        labels[start] = f"({role}{labels[start]}"
        labels[end - 1] += ")"  # for an argument of one word, to the same label: `(V*)`
    return labels
