"""A sentence with its predicates, as words with the columns of CoNLL-2012."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from elmo_plugin.importers.report import Unusable
from elmo_plugin.tasks.conll2012 import ConllWord
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence, format_labels

NO_DOCUMENT = "-"  # in the column of the document, if no file names it
_ROLE = re.compile(r"[^*()\s]+", re.ASCII)  # columns are split at the spaces of ASCII alone


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

    Raises `Unusable` if the columns of CoNLL-2012 cannot hold the sentence: a word is blank, a role
    is not one word, or a predicate does not have exactly one `V`.
    """
    words = [" ".join(text.split()) for text in sentence.words]
    if "" in words:
        number = words.index("") + 1
        raise Unusable("with a blank word", f"{line.location}: word {number} is blank")
    columns = []  # of arguments, one for each predicate
    lemmas = {}  # by the positions of their words
    for predicate in sentence.predicates:
        predicate_word = sentence.words[predicate.word_index]
        _check_arguments(predicate, predicate_word, line)
        columns.append(format_labels(predicate.arguments, len(words)))
        # A lemma that is the word itself is not written: readers then take the word.
        if predicate.lemma != predicate_word:
            lemmas[predicate.word_index] = " ".join(predicate.lemma.split())
    conll_words = []
    for index, word in enumerate(words):
        conll_word = ConllWord(
            line,
            document=NO_DOCUMENT,
            part="0",
            number=str(index),
            word=word,
            lemma=lemmas.get(index, "-"),
            frames=[labels[index] for labels in columns],
        )
        conll_words.append(conll_word)
    return SrlExample(conll_words)


def is_inside(word: int, spans: Sequence[Span]) -> bool:
    """Returns whether the word at an index is inside one of some spans."""
    return any(span.start <= word < span.end for span in spans)


def with_verb(arguments: list[Span], predicate: int) -> list[Span]:
    """
    Returns the arguments of the predicate at an index, with `V` for the predicate itself.

    `V` is not added to a predicate that is inside of another argument. `example_of` leaves such a
    sentence out, because the columns of CoNLL-2012 cannot hold spans that overlap.
    """
    if is_inside(predicate, arguments):
        return arguments
    return [*arguments, Span(predicate, predicate + 1, VERB)]


def _check_arguments(predicate: Predicate, predicate_word: str, line: Line) -> None:
    """Raises `Unusable` if a role is not one word, or if there is not exactly one `V`."""
    for argument in predicate.arguments:
        if not _ROLE.fullmatch(argument.label):
            raise Unusable(
                "with a role that is not one word",
                f"{line.location}: expected a role such as ARG0, got {argument.label!r}",
            )
    verbs = [argument for argument in predicate.arguments if argument.label == VERB]
    if not verbs:  # `with_verb` did not add one
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
