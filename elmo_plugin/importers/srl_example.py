"""A sentence with its predicates, as words with the columns of CoNLL-2012."""

import re
from typing import NamedTuple

from elmo_plugin.importers.report import Unusable
from elmo_plugin.tasks.conll2012 import ConllWord
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence, format_labels

NO_DOCUMENT = "-"  # in the column of the document, if no file names it
_ROLE = re.compile(r"[^*()\s]+", re.ASCII)  # as brackets can hold it, between spaces of ASCII


class SrlExample(NamedTuple):
    """The words of a sentence, with their columns. All of them have the same document."""

    words: list[ConllWord]

    @property
    def document(self) -> str:
        """The name of the document."""
        return self.words[0].document

    @property
    def part(self) -> str:
        """The part of the document."""
        return self.words[0].part


def example_of(sentence: SrlSentence, line: Line) -> SrlExample:
    """
    Returns the example of a sentence that begins at a line.

    Raises `Unusable` if the columns of CoNLL-2012 cannot hold it: a word is blank, a role is not
    one word, or the arguments of a predicate have not exactly one `V`.
    """
    words = []
    for index, text in enumerate(sentence.words):
        text = " ".join(text.split())
        if not text:
            raise Unusable("with a blank word", f"{line.location}: word {index + 1} is blank")
        words.append(ConllWord(line, NO_DOCUMENT, "0", str(index), text))
    columns = []  # of arguments, one for each predicate
    for predicate in sentence.predicates:
        predicate_word = sentence.words[predicate.word]
        _check_arguments(predicate, predicate_word, line)
        if predicate.lemma != predicate_word:  # readers take the word if the lemma is missing
            lemma = " ".join(predicate.lemma.split())
            words[predicate.word] = words[predicate.word]._replace(lemma=lemma)
        columns.append(format_labels(predicate.arguments, len(words)))
    if columns:
        rows = zip(*columns, strict=True)
        words = [word._replace(frames=row) for word, row in zip(words, rows, strict=True)]
    return SrlExample(words)


def _check_arguments(predicate: Predicate, predicate_word: str, line: Line) -> None:
    """Raises `Unusable` if a role is not one word, or if there is not exactly one `V`."""
    for argument in predicate.arguments:
        if not _ROLE.fullmatch(argument.label):
            raise Unusable(
                "with a role that is not one word",
                f"{line.location}: expected a role such as ARG0, got {argument.label!r}",
            )
    verbs = [argument for argument in predicate.arguments if argument.label == VERB]
    if not verbs:  # `V` was not added, as another argument has the word
        raise Unusable(
            "with a predicate inside of its own argument",
            f"{line.location}: the predicate {predicate_word!r} is inside of its own argument",
        )
    if len(verbs) > 1:
        raise Unusable(
            "with several V of one predicate",
            f"{line.location}: the predicate {predicate_word!r} has V at {len(verbs)} places; a "
            "part of it is C-V",
        )
