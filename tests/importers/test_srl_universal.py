"""Universal Propositions in CoNLL-U Plus."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.srl_universal import read_universal
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl import SrlReader
from elmo_plugin.tasks.srl.sentences import SrlSentence
from tests.importers.imported import import_file
from tests.tasks.srl.test_sentences import FIXTURE, lines_of

FILE = (FIXTURE.parent / "universal.conllup").read_text("utf-8")


def sentences_of(text: str) -> list[SrlSentence]:
    return [sentence for _, sentence in read_universal(lines_of(text, "f"), Report("f"))]


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), FILE.rstrip()])
def test_arguments_are_read_from_their_word_numbers(text: str) -> None:
    (words, (first, second), _), (yes, none, place) = sentences_of(text)
    assert words == ["Elle", "lutte", "pour", "échapper", "à", "les gens"]
    assert first == (1, "lutte", [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 6, "A1")], True)
    assert second == (3, "échapper", [Span(3, 4, "V"), Span(4, 6, "A1")], True)
    assert (yes, none, place) == (["Oui"], [], "f, line 11")


@pytest.mark.parametrize("mark", ["-", "*", ""])
def test_a_word_without_annotation_may_have_any_usual_mark(mark: str) -> None:
    text = FILE.replace("INTJ\t_\t_\t_", f"INTJ\t{mark}\t{mark}\t{mark}")
    assert text != FILE
    assert sentences_of(text) == sentences_of(FILE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            FILE.replace("FORM ", ""),
            "f, line 1: expected the columns ID, .* got ID, UPOS, .*merge_ud_up",
        ),
        (FILE.replace("\n\n", "\n"), "f, line 10: expected word 7 .* got 1; a blank line"),
        (FILE.replace("A1:5-6", "A1:5"), "f, line 6: .* such as A0:1-1.A1:3-7, got 'A1:5'"),
        (FILE.replace("A1:5-6", "A1:5-9"), "f, line 6: A1 is not in a sentence of 6 words"),
        (FILE.replace("A1:3-6", "A1:1-6"), "f, line 4: A1 begins inside another argument"),
        (FILE.replace("\tINTJ", ""), "f, line 11: expected 6 columns"),
        (FILE.replace("A1:5-6", "A1:8-9"), "f, line 6: A1 is not in a sentence of 6 words"),
        (FILE.replace("INTJ\t_\t_\t_", "INTJ\t_\t_\tA0:1-1"), "f, line 11: .* without a predicate"),
    ],
)
def test_malformed_lines_are_refused_by_number(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        sentences_of(text)


def test_words_with_spaces_are_written_and_read(tmp_path: Path) -> None:
    (tmp_path / "a.conllup").write_text("\ufeff" + FILE, encoding="utf-8")
    written, _ = import_file("srl", tmp_path / "a.conllup")
    lutte, echapper = SrlReader({}).read(written)
    assert lutte["words"].metadata[-1] == "les gens"
    assert lutte["tags"].labels == ["B-A0", "B-V", "B-A1", "I-A1", "I-A1", "I-A1"]
    assert echapper["predicate"].sequence_index == 3


HEADS = """# global.columns = ID FORM LEMMA HEAD MISC PB:PRED PB:ARGS
# text = Dogs' cats ran.
1-2\tDogs'\t_\t_\t_\t_\t_
1\tDogs\tdog\t3\t_\t_\t_
2\t'\t'\t1\t_\t_\t_
3\tcats\tcat\t4\t_\t_\t_
4\tran\trun\t0\tSpaceAfter=No\trun.02\tARG0:3|ARGM-MNR:5
5\taway\taway\t4\t_\t_\t_
"""


def test_arguments_of_english_are_their_heads() -> None:
    ((words, (predicate,), _),) = sentences_of(HEADS)
    assert words == ["Dogs", "'", "cats", "ran", "away"]
    expected = [Span(2, 3, "ARG0"), Span(3, 4, "V"), Span(4, 5, "ARGM-MNR")]
    assert predicate == (3, "ran", expected, True)
    for wrong in ("ARG0:3-4", "ARG0", "3", "ARG0:0", "ARG0:9"):
        with pytest.raises(ConfigurationError, match=r"f, line 7: .*ARG0|, got '3'"):
            sentences_of(HEADS.replace("ARG0:3", wrong))
