"""Documents of CoNLL-2012, back and forth; what is wrong in one is named with its line."""

import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.coref.conll import (
    CorefDocument,
    format_document,
    genre_in,
    parse_documents,
    read_documents,
    write_documents,
)
from tests.tasks.coref.test_clusters import WORDS, clusters_of_documents

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
        [[(0, 3), (3, 4)], [(3, 5)]],
        "f.conll",
        1,
    ),
    CorefDocument("bn/news", "001", [['"']], [["-"]], "bn", [], "f.conll", 9),
]


def lines(text: str) -> list[Line]:
    return [Line(line, "f.conll", number) for number, line in enumerate(text.split("\n"), start=1)]


@st.composite
def documents(draw: st.DrawFn) -> CorefDocument:
    texts = st.sampled_from(["Zoë", "(", "]", "8)", "#begin", "#end", "-", "a\u00a0b"])
    name = draw(st.sampled_from(["nw/wsj_0001", "(b);part:7", "x"]))
    words = draw(st.lists(texts, min_size=WORDS, max_size=WORDS))
    cut = draw(st.integers(0, WORDS - 1))
    sentences = [part for part in (words[:cut], words[cut:]) if part]
    speakers = [[draw(st.sampled_from(["-", "Ann"]))] * len(sentence) for sentence in sentences]
    part = draw(st.sampled_from(["000", "012", "3", ""]))
    clusters = draw(clusters_of_documents())
    return CorefDocument(name, part, sentences, speakers, genre_in(name), clusters, "f.conll")


def test_a_document_has_its_words_speakers_and_clusters() -> None:
    assert list(parse_documents(lines(TWO))) == DOCUMENTS
    assert [document.title for document in DOCUMENTS] == ["(bn/news); part 000", "(bn/news); part 001"]
    assert [document.length for document in DOCUMENTS] == [5, 1]
    assert DOCUMENTS[1].location == "f.conll, line 9"


@given(documents())
def test_a_document_survives_its_file(document: CorefDocument) -> None:
    (read,) = parse_documents(lines("\n".join(format_document(document))))
    assert read._replace(clusters=sorted(read.clusters)) == document._replace(
        clusters=sorted(document.clusters)
    )


@given(documents())
def test_only_the_last_column_between_tabs_has_brackets_of_mentions(document: CorefDocument) -> None:
    """The reference scorer takes what is behind the last tab."""
    begin, *rows, end = format_document(document)
    assert (begin, end) == (f"#begin document {document.title}", "#end document")
    assert [len(row.split("\t")) for row in rows if row] == [12] * WORDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "numbers"),
    [
        ("train.gold_conll.gz", (177, 177_410, 23_302, 5_299)),
        ("dev.gold_conll", (30, 28_119, 3_815, 855)),
        ("test.gold_conll", (30, 28_397, 3_580, 857)),
    ],
)
def test_real_documents_have_the_numbers_that_are_known(file: str, numbers: tuple, shared: Path) -> None:
    found = list(read_documents(shared / "data" / "coref" / file))
    clusters = [cluster for document in found for cluster in document.clusters]
    words = sum(document.length for document in found)
    assert (len(found), words, sum(map(len, clusters)), len(clusters)) == numbers
    assert {document.genre for document in found} == {"gum"}


ROW = "a 0 0 b NN * - - - - * -"
QUOTE = "bn/news 1 0 `` `` * - - - - * -\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO.replace("* 0)", "* -"), 2, r"'\(0' opens a mention of cluster 0 that is never closed"),
        (TWO.replace("(V*) 1)", "1)"), 7, "expected 14 columns .*, got 13"),
        ("#begin document (a); part 000\na 0 0 b (0)", 2, "expected 12 columns"),
        (TWO.replace("#end document\n#b", "#b"), 1, "the document that begins here lacks #end document"),
        (TWO.removesuffix("#end document\n"), 9, "the document that begins here lacks #end document"),
        (TWO.replace(QUOTE, ""), 9, "the document that begins here is empty"),
        (TWO.replace("(bn/news); part 001", "bn/news"), 9, r"expected #begin document \(NAME\); part 000"),
        (f"\n{ROW}\n", 2, "expected #begin document, got 'a'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    if text.endswith("(0)"):
        text += "\n#end document"
    with pytest.raises(ConfigurationError, match=f"^f.conll, line {line}: {message}"):
        list(parse_documents(lines(text)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clusters": [[(0, 2), (1, 3)]]}, "two mentions of a cluster cross: 0 to 2 and 1 to 3"),
        ({"name": "a b"}, "'a b' cannot be written in a column"),
        ({"part": "one"}, "invalid literal for int() with base 10: 'one'"),
        ({"sentences": [[], ["a"]]}, "a document or a sentence without words cannot be written"),
        ({"sentences": [["a"]], "speakers": [[""]], "clusters": []}, "'' cannot be written in a column"),
    ],
)
def test_what_cannot_be_written_leaves_the_file_of_before(
    tmp_path: Path, changes: dict, message: str
) -> None:
    path = tmp_path / "f.conll"
    path.write_text(TWO)
    expected = f"f.conll, document .*: {re.escape(message)}"
    with pytest.raises(ConfigurationError, match=expected):
        write_documents(path, [DOCUMENTS[1], DOCUMENTS[0]._replace(**changes)])
    assert path.read_text() == TWO
    assert list(tmp_path.iterdir()) == [path]
