"""Documents in columns that are not quite CoNLL-2012's."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.coref_columns import read_coref_columns
from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.coref import CorefReader
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from tests.experiments.configs import each_file
from tests.importers.imported import import_file
from tests.tasks.coref.test_conll import QUOTE, ROW, TWO, lines


def parse_documents(rows: list[Line]) -> list[CorefDocument]:
    return list(read_coref_columns(rows, Report("f.conll")))


@each_file("coref/columns")
@pytest.mark.parametrize("end_of_line", ["\n", " \r\n"])
def test_words_and_clusters_are_read_from_a_subset_of_columns(file: Path, end_of_line: str) -> None:
    for mark in ("#{} document", "# {} document"):
        begin = f"{mark.format('begin')} (d);"
        text = "\n".join([begin, file.read_text("utf-8").strip("\n"), mark.format("end")])
        (document,) = parse_documents(lines(text.replace("\n", end_of_line)))
        assert document.sentences == [["Mira", "Solt"], ["She", "1"]]
        assert document.clusters == [[Span(0, 2), Span(2, 3)]]
        assert (document.title, document.genre) == ("(d);", "")


@pytest.mark.parametrize(
    "last", ["(PERSON)|*", "(PERSON)|*|(V*)|(A0*)", "*|*|(V*)|(A0*)|-|-", "*|*||"]
)
def test_entities_and_predicates_are_not_read_as_mentions(last: str) -> None:
    columns = list(last.split("|"))
    rows = [
        ["d", "0", str(n), "word", "X", "*", "-", "-", "-", "Ann", *columns[n::2]] for n in (0, 1)
    ]
    for separator in "\t " if "" not in columns else "\t":
        text = "\n".join(["#begin document d", *map(separator.join, rows), "#end document"])
        (document,) = parse_documents(lines(text))
        assert (document.speakers, document.clusters) == ([["Ann", "Ann"]], [])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO.replace("* 0)", "* -"), 2, r"'\(0' opens a mention of cluster 0 that is never closed"),
        (TWO.replace("(V*) 1)", "1)"), 7, "expected 14 columns .*, got 13"),
        (
            "#begin document (a); part 000\nb NN (0)\n#end document",
            2,
            "expected a word, alone or after",
        ),
        (
            "#begin document (a); part 000\n0 (0)\n1 -\n#end document",
            2,
            "expected a word, alone or after",
        ),
        (TWO.replace("`` ``", "[WORD] ``"), 10, r"the words are missing, \[WORD\]"),
        (
            TWO.replace("- Ann *", "- Ann Lee *"),
            2,
            "expected the speaker and the named entity in columns 10",
        ),
        (
            TWO.replace("- Ann * 0)", "- Ann Lee * 0)"),
            4,
            "expected 12 columns .*, got 13",
        ),
        (
            TWO.replace("#end document\n#b", "#b"),
            1,
            "the document that begins here lacks #end document",
        ),
        (
            TWO.removesuffix("#end document\n"),
            9,
            "the document that begins here lacks #end document",
        ),
        (TWO.replace(QUOTE, ""), 9, "the document that begins here is empty"),
        (TWO.replace("(bn/news); part 001", ""), 9, r"expected #begin document \(NAME\); part 000"),
        (f"# a\n{ROW}\n", 2, r"expected #begin document \(NAME\); part 000, got 'a 0 0 b"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^f.conll, line {line}: {message}"):
        list(parse_documents(lines(text)))


def test_a_line_that_is_too_short_is_named_even_in_the_only_sentence() -> None:
    text = "#begin document (d)\nd 0 Mira (1)\nd 1 left\nd 2 home -\n#end document"
    with pytest.raises(ConfigurationError, match=r"f\.conll, line 3: expected 4 columns .* got 3"):
        list(parse_documents(lines(text)))


def test_word_numbers_that_restart_without_a_blank_line_are_an_error() -> None:
    text = "#begin document (d)\nd 0 Mira -\nd 1 left -\nd 0 She -\nd 1 ran -\n#end document"
    with pytest.raises(
        ConfigurationError, match=r"f\.conll, line 4: expected a blank line before word 0"
    ):
        list(parse_documents(lines(text)))


@each_file("coref/columns")
def test_a_subset_of_columns_is_written_as_conll_2012(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(
        f"# a comment\n#begin document (d);\n{file.read_text('utf-8')}\n#end document\n"
    )
    written, _ = import_file("coref", path)
    (instance,) = CorefReader({}).read(written)
    assert [[token.text for token in field] for field in instance["sentences"]] == [
        ["Mira", "Solt"],
        ["She", "1"],
    ]
    assert instance["clusters"].metadata == [[Span(0, 2), Span(2, 3)]]
