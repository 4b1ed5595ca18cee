"""Documents of CoNLL-2012, the brackets of their clusters, and their instances."""

import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.coref import CorefReader
from elmo_plugin.tasks.coref.conll import (
    format_clusters,
    format_document,
    parse_clusters,
    parse_documents,
)
from elmo_plugin.tasks.coref.dataset_reader import GENRES
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import LabelError, Span
from tests.experiments.configs import FIXTURES

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


def test_a_document_is_read_with_words_speakers_and_clusters() -> None:
    assert list(parse_documents(lines(TWO))) == DOCUMENTS
    assert [document.title for document in DOCUMENTS] == [
        "(bn/news); part 000",
        "(bn/news); part 001",
    ]
    assert [document.length for document in DOCUMENTS] == [5, 1]
    assert DOCUMENTS[1].location == "f.conll, line 9"


def test_a_document_that_is_written_is_read_again() -> None:
    for document in DOCUMENTS:
        (found,) = parse_documents(lines(format_document(document)))
        assert found == document._replace(first_line=1)


def test_speakers_and_names_may_contain_spaces_between_tabs() -> None:
    rows = [
        f"a play|0|{n}|word|NN|*|-|-|-|Mira {name}|*|-" for n, name in enumerate(["Solt", "Pole"])
    ]
    text = "\n".join(["#begin document (a play); part 003", *rows, "#end document"]).replace(
        "|", "\t"
    )
    (document,) = parse_documents(lines(text))
    assert (document.name, document.speakers) == ("a play", [["Mira Solt", "Mira Pole"]])


ROW = "a 0 0 b NN * - - - - * -"
QUOTE = "bn/news 1 0 `` `` * - - - - * -\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO.replace("* 0)", "* -"), 2, r"'\(0' opens a mention of cluster 0 that is never closed"),
        (TWO.replace("(V*) 1)", "1)"), 7, "expected 14 columns as in the line before, got 13"),
        ("#begin document (a); part 000\nb (0)\n#end document", 2, "expected at least 12 columns"),
        (TWO.replace("`` ``", "[WORD] ``"), 10, r"expected a word in column 4, got '\[WORD\]'"),
        (TWO.replace("- Ann *", "- Ann Lee *"), 2, "expected the speaker and the named entity"),
        (TWO.replace("* 0)", "*"), 4, "expected at least 12 columns, got 11"),
        (TWO.replace("0 1 ran", "0 0 ran"), 7, "expected word 1 in column 3, got 0"),
        (TWO.replace("#end document\n#b", "#b"), 1, "the document that begins here lacks #end"),
        (TWO.removesuffix("#end document\n"), 9, "the document that begins here lacks #end"),
        (TWO.replace(QUOTE, ""), 9, "the document that begins here is empty"),
        (TWO.replace("(bn/news); part 001", ""), 9, r"expected #begin document \(NAME\); part 000"),
        (TWO.replace("(bn/news); part 001", "( ); part 1"), 9, r"expected #begin document \(NAME"),
        (f"{ROW}\n", 1, r"expected #begin document \(NAME\); part 000, got 'a 0 0 b"),
        ('{"sentences": [["a"]], "clusters": []}', 1, "expected #begin document .*, got '{"),
        ("1\tAnna\t_\n", 1, "expected #begin document"),
    ],
)
def test_malformed_files_are_refused_naming_the_importer(
    text: str, line: int, message: str
) -> None:
    expected = f"^f.conll, line {line}: {message}.*; `elmo import coref` makes CoNLL-2012 of files"
    with pytest.raises(ConfigurationError, match=expected):
        list(parse_documents(lines(text)))


LABELS = [
    "-",
    "_",
    "(1",
    "1)",
    "(1)",
    "(2",
    "2)",
    "(1)|(2",
    "1)|(1",
    "(1|(2",
    "2)|1)",
    "(2)|2)",
    "(1|(1)|1)",
    "(1(2",
    "2)1)",
]


def places(clusters: list[list[Span]]) -> list[list[tuple[int, int]]]:
    return [[mention[:2] for mention in cluster] for cluster in clusters]


def read_as_the_reference_scorer(labels: list[str]) -> dict[str, list[tuple[int, int]]]:
    """
    The mentions of each cluster, their last words in them, by striking brackets off each label.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    starts: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        for cluster in re.findall(r"\((\d+)\)", label):
            found.setdefault(cluster, []).append((row, row))
        rest = re.sub(r"\(\d+\)", "", label)
        for cluster in re.findall(r"\((\d+)", rest):
            starts.setdefault(cluster, []).append(row)
        for cluster in re.findall(r"(\d+)\)", re.sub(r"\(\d+", "", rest)):
            found.setdefault(cluster, []).append((starts[cluster].pop(), row))
    return found


@given(st.lists(st.sampled_from(LABELS), max_size=9))
def test_a_column_is_refused_or_read_to_its_last_bracket(labels: list[str]) -> None:
    """
    By counting brackets: never are more closed than open at the end of a word, and none is left.
    """
    is_legal = True
    for cluster in "12":
        depths = [0]
        for label in labels:
            depths.append(depths[-1] + label.count(f"({cluster}") - label.count(f"{cluster})"))
        is_legal = is_legal and min(depths) == depths[-1] == 0
    try:
        clusters = parse_clusters(labels)
    except LabelError as error:
        assert not is_legal and 0 <= error.word_index < len(labels)
        return
    assert is_legal
    expected = [
        [(start, last + 1) for start, last in sorted(mentions)]
        for mentions in read_as_the_reference_scorer(labels).values()
    ]
    assert sorted(places(clusters)) == sorted(expected)


def test_clusters_keep_the_scorers_order_and_the_first_of_repeated_mentions() -> None:
    assert places(parse_clusters(["(5", "(2", "2)", "5)"])) == [[(0, 4)], [(1, 3)]]
    assert places(parse_clusters(["(5|(2)", "5)"])) == [[(0, 1)], [(0, 2)]]


@pytest.mark.parametrize(
    ("labels", "row", "message"),
    [
        ("- (1 - (2) -", 1, "'(1' opens a mention of cluster 1 that is never closed"),
        ("(1 - 2)", 2, "'2)' closes a mention of cluster 2, but none is open"),
        ("- 12", 1, "'12' is not a coreference label"),
        ("(1||(2)", 0, "'(1||(2)' is not a coreference label"),
        (
            "(0a)",
            0,
            "'(0a)' is not a coreference label",
        ),  # a part of a mention in the scorer's v8.02
        ("(\u0661)", 0, "'(\u0661)' is not a coreference label"),
    ],
)
def test_the_word_with_an_illegal_bracket_is_named(labels: str, row: int, message: str) -> None:
    with pytest.raises(LabelError, match=re.escape(message)) as caught:
        parse_clusters(labels.split())
    assert caught.value.word_index == row


@st.composite
def clusters_without_crossing(draw: st.DrawFn) -> tuple[list[list[Span]], int]:
    length = draw(st.integers(1, 8))
    mentions = st.tuples(st.integers(0, length - 1), st.integers(1, length))
    clusters = []
    for _ in range(draw(st.integers(0, 4))):
        cluster: list[Span] = []
        for start, end in draw(st.lists(mentions, max_size=4)):
            is_nested = all(
                end <= other.start
                or other.end <= start
                or (start <= other.start and other.end <= end)
                or (other.start <= start and end <= other.end)
                for other in cluster
            )
            if start < end and is_nested:
                cluster.append(Span(start, end))
        if cluster:
            clusters.append(sorted(cluster))
    return clusters, length


@given(clusters_without_crossing())
def test_writing_and_reading_a_column_keeps_the_clusters(
    case: tuple[list[list[Span]], int],
) -> None:
    clusters, length = case
    assert sorted(parse_clusters(format_clusters(clusters, length))) == sorted(clusters)


INDEXERS = {"tokens": SingleIdTokenIndexer()}


def test_data_without_clusters_gives_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.conll"
    path.write_text(format_document(DOCUMENTS[1]))
    assert len(list(CorefReader(INDEXERS).read(path))) == 1
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"{path}: no clusters to learn or to score, in 1 documents"
    ]


FIXTURE = FIXTURES / "coref" / "documents.gold_conll"


def test_each_document_is_an_instance_of_sentences_and_clusters() -> None:
    first, second, third = CorefReader(INDEXERS).read(FIXTURE)
    assert [[token.text for token in field] for field in first["sentences"]] == [
        ["Anna", "met", "her", "brother", "."],
        ["He", "waved", "."],
        ["She", "laughed", "."],
    ]
    assert first["clusters"].metadata == [
        [Span(0, 1), Span(2, 3), Span(8, 9)],
        [Span(2, 4), Span(5, 6)],
    ]
    assert second["document"].metadata.speakers == [["Tom"] * 3, ["Eve"] * 4]
    assert third["clusters"].metadata == []


def test_the_genre_is_taken_from_the_document_name() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    assert [instance["genre"].label for instance in instances] == ["nw", "bc", "bc"]
    by_pattern = CorefReader(INDEXERS, genre_pattern="/(t)").read(FIXTURE)
    assert [instance["genre"].label for instance in by_pattern] == ["", "t", "t"]


def test_an_unknown_genre_has_a_separate_index() -> None:
    instances = list(CorefReader(INDEXERS).read(FIXTURE))
    vocab = Vocabulary.from_instances(instances[1:])
    assert vocab.get_token_to_index_vocabulary(GENRES) == {"bc": 0}
    for instance in instances:
        instance.index_fields(vocab)
    assert [int(instance["genre"].as_tensor({})) for instance in instances] == [1, 0, 0]


@pytest.mark.parametrize("pattern", ["gum/", "("])
def test_a_pattern_without_a_group_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="genre_pattern"):
        CorefReader(INDEXERS, genre_pattern=pattern)
