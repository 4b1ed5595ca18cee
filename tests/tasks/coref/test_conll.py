"""Documents of CoNLL-2012, back and forth; what is wrong in one is named with its line."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.coref.conll import CorefDocument, parse_documents, read_documents
from elmo_plugin.tasks.spans import Span

TWO = """\
#begin document (bn/news); part 000
bn/news 0 0 Bark NN * - - - Ann * (0
bn/news 0 1 -RRB- -RRB- * - - - Ann * -
bn/news 0 2 dogs NN * - - - Ann * 0)

bn/news 0 0 They PRP * - - - Bob * * * (0)|(1
bn/news 0 1 ran VB * run 01 1 Bob * (ARG0*) (V*) 1)
#end document
#begin document (bn/news); part 001
bn/news 1 0 `` `` * - - - - * -

#end document
"""
DOCUMENTS = [
    CorefDocument(
        "bn/news",
        "000",
        [["Bark", ")", "dogs"], ["They", "ran"]],
        [["Ann"] * 3, ["Bob"] * 2],
        "bn",
        [[Span(0, 3), Span(3, 4)], [Span(3, 5)]],
        "f.conll",
        1,
    ),
    CorefDocument("bn/news", "001", [['"']], [["-"]], "bn", [], "f.conll", 9),
]


def lines(text: str) -> list[Line]:
    return [Line(line, "f.conll", number) for number, line in enumerate(text.split("\n"), start=1)]


def test_a_document_has_its_words_speakers_and_clusters() -> None:
    assert list(parse_documents(lines(TWO))) == DOCUMENTS
    assert [document.title for document in DOCUMENTS] == ["(bn/news); part 000", "(bn/news); part 001"]
    assert [document.length for document in DOCUMENTS] == [5, 1]
    assert DOCUMENTS[1].location == "f.conll, line 9"


FEW_COLUMNS = {
    "word": "Mira\t(0\nSolt\t0)\n\nShe\t(0)\n1\t-\n",
    "document, word": "d Mira (0\nd Solt 0)\n\nd She (0)\nd 1 -\n",
    "number, word": "0\tMira\t(a-0\n1\tSolt\ta-0)\n\n2\tShe\t(a-0)\n3\t1\t_\n",
    "document, number, word": "d 1 Mira (0\nd 2 Solt 0)\n\nd 1 She (0)\nd 2 1 -\n",
    "document, part, number, word": "d 0 0 Mira (0\nd 0 1 Solt 0)\n\nd 0 0 She (0)\nd 0 1 1 -\n",
    "document, part, word": "d 0 Mira (0\nd 0 Solt 0)\n\nd 0 She (0)\nd 0 1 -\n",
    "word, part of speech": "Mira\tX\t(0\nSolt\tX\t0)\n\nShe\tY\t(0)\n1\tX\t-\n",
    "a tab at the end": "d\t0\tMira\t_\t(0\t\nd\t1\tSolt\t_\t0)\t\n\nd\t0\tShe\t_\t(0)\t\nd\t1\t1\t_\t_\t\n",
    "SemEval-2010": "".join(
        f"{line[0]}\t{line[1:]}" + "\t_" * 14 + f"\t{label}\n" if line else "\n"
        for line, label in [("1Mira", "(0"), ("2Solt", "0)"), ("", ""), ("1She", "(0)"), ("21", "_")]
    ),
    "all, the last column blank in a sentence": "d\t0\t0\tMira|(0\nd\t0\t1\tSolt|0)\n\n"
    "d\t0\t0\tShe|(0)\nd\t0\t1\t1|".replace("|", 8 * "\t_" + "\t"),
}


@pytest.mark.parametrize("columns", FEW_COLUMNS)
@pytest.mark.parametrize("end_of_line", ["\n", " \r\n"])
def test_some_columns_are_enough_for_words_and_clusters(columns: str, end_of_line: str) -> None:
    for mark in ("#{} document", "# {} document"):
        begin = f"{mark.format('begin')} (d);"
        text = "\n".join([begin, FEW_COLUMNS[columns].strip("\n"), mark.format("end")])
        (document,) = parse_documents(lines(text.replace("\n", end_of_line)))
        assert document.sentences == [["Mira", "Solt"], ["She", "1"]]
        assert document.clusters == [[Span(0, 2), Span(2, 3)]]
        assert (document.title, document.genre) == ("(d);", "")


@pytest.mark.parametrize("last", ["(PERSON)|*", "(PERSON)|*|(V*)|(A0*)", "*|*|(V*)|(A0*)|-|-", "*|*||"])
def test_entities_and_predicates_are_no_mentions(last: str) -> None:
    columns = list(last.split("|"))
    rows = [["d", "0", str(n), "word", "X", "*", "-", "-", "-", "Ann", *columns[n::2]] for n in (0, 1)]
    for separator in "\t " if "" not in columns else "\t":
        text = "\n".join(["#begin document d", *map(separator.join, rows), "#end document"])
        (document,) = parse_documents(lines(text))
        assert (document.speakers, document.clusters) == ([["Ann", "Ann"]], [])


def test_speakers_and_names_have_spaces_between_tabs() -> None:
    rows = [f"a play|0|{n}|word|NN|*|-|-|-|Mira {name}|*|-" for n, name in enumerate(["Solt", "Pole"])]
    text = "\n".join(["#begin document (a play); part 003", *rows, "#end document"]).replace("|", "\t")
    (document,) = parse_documents(lines(text))
    assert (document.name, document.speakers) == ("a play", [["Mira Solt", "Mira Pole"]])


@pytest.mark.slow
def test_real_documents_have_the_numbers_that_are_known(shared: Path) -> None:
    found = list(read_documents(shared / "data" / "coref" / "dev.gold_conll"))
    clusters = [cluster for document in found for cluster in document.clusters]
    words = sum(document.length for document in found)
    assert (len(found), words, sum(map(len, clusters)), len(clusters)) == (30, 28_119, 3_815, 855)
    assert {document.genre for document in found} == {"gum"}


ROW = "a 0 0 b NN * - - - - * -"
QUOTE = "bn/news 1 0 `` `` * - - - - * -\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO.replace("* 0)", "* -"), 2, r"'\(0' opens a mention of cluster 0 that is never closed"),
        (TWO.replace("(V*) 1)", "1)"), 7, "expected 14 columns .*, got 13"),
        ("#begin document (a); part 000\nb NN (0)\n#end document", 2, "expected a word, alone or after"),
        ("#begin document (a); part 000\n0 (0)\n1 -\n#end document", 2, "expected a word, alone or after"),
        (TWO.replace("`` ``", "[WORD] ``"), 10, r"the words are missing, \[WORD\]"),
        (TWO.replace("- Ann *", "- Ann Lee *"), 2, "expected the speaker and the named entity in columns 10"),
        (TWO.replace("- Ann * 0)", "- Ann Lee * 0)"), 4, "expected 12 columns .* by tabs.*, got 13"),
        (TWO.replace("#end document\n#b", "#b"), 1, "the document that begins here lacks #end document"),
        (TWO.removesuffix("#end document\n"), 9, "the document that begins here lacks #end document"),
        (TWO.replace(QUOTE, ""), 9, "the document that begins here is empty"),
        (TWO.replace("(bn/news); part 001", ""), 9, r"expected #begin document \(NAME\); part 000"),
        (f"# a\n{ROW}\n", 2, r"expected #begin document \(NAME\); part 000, got 'a'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^f.conll, line {line}: {message}"):
        list(parse_documents(lines(text)))


def test_numbers_of_words_that_begin_again_without_a_blank_line_are_an_error() -> None:
    text = "#begin document (d)\nd 0 Mira -\nd 1 left -\nd 0 She -\nd 1 ran -\n#end document"
    with pytest.raises(ConfigurationError, match=r"f\.conll, line 4: expected a blank line before word 0"):
        list(parse_documents(lines(text)))
