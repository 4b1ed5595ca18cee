"""Documents of LitBank: mentions in a file beside the words."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.spans import Span
from tests.importers.reading import read

ANNOTATIONS = (
    "MENTION\tT1\t0\t0\t0\t1\tSir Walter\tPER\tPROP\n"
    "MENTION\tT2\t2\t0\t2\t0\tHe\tPER\tPRON\n"
    "COREF\tT1\tSir_Walter-0\n"
    "COREF\tT2\tSir_Walter-0\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_mentions_are_counted_in_their_sentences(tmp_path: Path, end: str) -> None:
    (tmp_path / "book_brat.txt").write_text("Sir Walter read .\n\nHe slept .\n")
    (document,), _ = read("coref", tmp_path / "book_brat.ann", ANNOTATIONS.replace("\n", end))
    assert document.sentences == [["Sir", "Walter", "read", "."], ["He", "slept", "."]]
    assert document.clusters == [[Span(0, 2), Span(4, 5)]]


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        (ANNOTATIONS.replace("\t2\t0\t2\t0", "\t9\t0\t9\t0"), "line 2: the mention is not in"),
        (ANNOTATIONS.replace("COREF\tT2", "COREF\tT3"), "line 4: no mention 'T3'"),
        (ANNOTATIONS.replace("\t0\t0\t0\t1", "\tx\t0\t0\t1"), "line 1: expected the sentences"),
        (ANNOTATIONS.replace("\t0\t0\t0\t1", "\t0\t1\t0\t0"), "line 1: the mention ends before"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, annotations: str, message: str) -> None:
    (tmp_path / "book.txt").write_text("Sir Walter read .\n\nHe slept .\n")
    with pytest.raises(ConfigurationError, match=message):
        read("coref", tmp_path / "book.ann", annotations)


def test_a_no_break_space_does_not_move_the_mentions_behind_it(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(
        "Sir Walter read .\n\nHe slept .\n3\u00a0000 men saw him .\n"
    )
    annotations = ANNOTATIONS + "MENTION\tT3\t3\t3\t3\t3\thim\tPER\tPRON\nCOREF\tT3\tSir_Walter-0\n"
    (document,), _ = read("coref", tmp_path / "book.ann", annotations)
    assert document.sentences[-1] == ["3 000", "men", "saw", "him", "."]
    assert document.clusters == [[Span(0, 2), Span(4, 5), Span(10, 11)]]


def test_missing_words_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"expected the words in .*book\.txt beside it"):
        read("coref", tmp_path / "book.ann", ANNOTATIONS)
