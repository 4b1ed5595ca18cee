"""CoNLL-U Plus of Universal Propositions."""

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl import SrlReader
from elmo_plugin.tasks.srl.sentences import SrlSentence

COLUMNS = "# global.columns = ID FORM UPOS UP:PRED UP:ARGHEADS UP:ARGSPANS\n"
FILE = f"""{COLUMNS}# text = Elle lutte
1\tElle\tPRON\t_\t_\t_
2\tlutte\tVERB\tstruggle.02\tA0:1|A1:4\tA0:1-1|A1:3-6
3\tpour\tADP\t_\t_\t_
4\téchapper\tVERB\tescape.01\tA1:6\tA1:5-6
5-6\taux\t_\t_\t_\t_
5\tà\tADP\t_\t_\t_
6\tles gens\tNOUN\t_\t_\t_

1\tOui\tINTJ\t_\t_\t_
"""


def read(text: str) -> list[SrlSentence]:
    lines = [Line(line, "f", number) for number, line in enumerate(text.splitlines(keepends=True), start=1)]
    return list(SrlReader({}).read_sentences(lines))


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), FILE.rstrip()])
def test_arguments_are_between_the_numbers_of_their_words(text: str) -> None:
    (words, (first, second), _), (yes, none, place) = read(text)
    assert words == ["Elle", "lutte", "pour", "échapper", "à", "les gens"]
    assert first == (1, "lutte", [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 6, "A1")], True)
    assert second == (3, "échapper", [Span(3, 4, "V"), Span(4, 6, "A1")], True)
    assert (yes, none, place) == (["Oui"], [], "f, line 11")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE.replace("FORM ", ""), "f, line 1: expected the columns ID, .* got ID, UPOS, .*merge_ud_up"),
        (FILE.replace("\n\n", "\n"), "f, line 10: expected word 7 .* got 1 .*; a blank line"),
        (FILE.replace("A1:5-6", "A1:5"), "f, line 6: .* such as A0:1-1.A1:3-7, got 4 and 'A1:5'"),
        (FILE.replace("A1:5-6", "A1:5-9"), "f, line 3: A1 is not in a sentence of 6 words"),
        (FILE.replace("A1:3-6", "A1:1-6"), "f, line 3: A1 begins inside another argument"),
        (FILE.replace("\tINTJ", ""), "f, line 11: expected 6 columns"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(text)
