"""A sentence with its predicates, as words with the columns of CoNLL-2012."""

from typing import NamedTuple

from elmo_plugin.importers.report import Unusable
from elmo_plugin.tasks.conll2012 import ConllWord
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.sentences import VERB, Predicate, SrlSentence, format_labels

NO_DOCUMENT = "-"


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

    Raises `Unusable` if the columns of CoNLL-2012 cannot hold it: a word is blank, or a predicate
    has not one `V`.
    """
    words = []
    for index, text in enumerate(sentence.words):
        text = " ".join(text.split())
        if not text:
            raise Unusable("with a blank word", f"{line.location}: word {index + 1} is blank")
        words.append(ConllWord(line, NO_DOCUMENT, "0", str(index), text))
    columns = []
    for predicate in sentence.predicates:
        _check_verb(predicate, sentence.words, line)
        if predicate.lemma != sentence.words[predicate.word]:
            lemma = " ".join(predicate.lemma.split())
            words[predicate.word] = words[predicate.word]._replace(lemma=lemma)
        columns.append(format_labels(predicate.arguments, len(words)))
    if columns:
        labels = zip(*columns, strict=True)
        words = [word._replace(frames=row) for word, row in zip(words, labels, strict=True)]
    return SrlExample(words)


def _check_verb(predicate: Predicate, words: list[str], line: Line) -> None:
    """Raises `Unusable` if a predicate has not just one `V`."""
    verbs = [argument for argument in predicate.arguments if argument.label == VERB]
    word = words[predicate.word]
    if not verbs:
        raise Unusable(
            "with a predicate inside of its own argument",
            f"{line.location}: the predicate {word!r} is inside of its own argument",
        )
    if len(verbs) > 1:
        raise Unusable(
            "with several V of one predicate",
            f"{line.location}: the predicate {word!r} has V at {len(verbs)} places; a part of it "
            "is C-V",
        )
