"""The reader of sentiment trees: what it reads, and what it says of files that it cannot."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer
from nltk.tree import Tree

from elmo_plugin.tasks.sst import SstTreesReader

TREES = Path(__file__).parents[2] / "fixtures" / "sst" / "trees.txt"


def reader(**options: Any) -> SstTreesReader:
    return SstTreesReader({"tokens": SingleIdTokenIndexer()}, **options)


def contents(instances: list[Instance]) -> list[tuple[str, str]]:
    return [(" ".join(instance["words"].metadata), instance["label"].label) for instance in instances]


def read(path: Path, **options: Any) -> list[tuple[str, str]]:
    return contents(list(reader(**options).read(path)))


SENTENCES = [
    ("A superb film .", "very positive"),
    ("It is n't funny .", "negative"),
    ("The director ( writer/actor ) speaks .", "neutral"),
    ("Dull , and utterly worthless .", "very negative"),
    ("Charming !", "positive"),
]


def test_reads_sentences_and_their_sentiment() -> None:
    assert read(TREES) == SENTENCES
    instance = next(iter(reader().read(TREES)))
    assert [token.text for token in instance["tokens"]] == instance["words"].metadata


def test_binary_labels_leave_out_what_is_neutral() -> None:
    assert read(TREES, binary=True) == [
        ("A superb film .", "positive"),
        ("It is n't funny .", "negative"),
        ("Dull , and utterly worthless .", "negative"),
        ("Charming !", "positive"),
    ]


@pytest.mark.parametrize("min_phrase_length", [1, 2, 3, 5, 100])
def test_phrases_are_nltks_subtrees(min_phrase_length: int) -> None:
    names = ["very negative", "negative", "neutral", "positive", "very positive"]
    expected = []
    for line in TREES.read_text(encoding="utf-8").splitlines():
        for place, part in enumerate(Tree.fromstring(line).subtrees() if line else []):
            if place == 0 or len(part.leaves()) >= min_phrase_length:
                words = [{"-LRB-": "(", "-RRB-": ")"}.get(word, word) for word in part.leaves()]
                expected.append((" ".join(words).replace("\\/", "/"), names[int(part.label())]))
    assert read(TREES, min_phrase_length=min_phrase_length) == expected


def test_binary_phrases_may_be_those_of_a_neutral_sentence(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("(2 (4 superb) (2 (2 but) (0 dreadful)))\n")
    assert read(path, binary=True, min_phrase_length=1) == [("superb", "positive"), ("dreadful", "negative")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", 'text,label\n"Wet, cold",bad mood\nDry,1\n'),
        ("x.tsv", "sentence\tlabel\nWet, cold\tbad mood\nDry\t1\n"),
        ("x.jsonl", '{"text": "Wet, cold", "label": "bad mood"}\n{"text": "Dry", "label": 1}\n\n'),
        ("x.csv", "Review;Sentiment\nWet, cold;bad mood\nDry;1.0\n"),
        ("x.txt", "(bad Wet , cold)\n(good Dry)\n"),
        ("x.txt", "(1 Wet, cold)\n(4 Dry)\n"),
        ("x.txt", "__label__bad Wet, cold\n__label__good Dry\n"),
    ],
)
def test_texts_with_any_labels_in_other_shapes(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    texts, labels = zip(*read(tmp_path / name), strict=True)
    assert texts == ("Wet , cold", "Dry")
    assert labels in [("bad mood", "1"), ("bad", "good"), ("negative", "very positive")]


def test_options_name_the_format_and_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("2,Wet\n")
    options = {"format": "csv", "columns": ["stars", "said"], "text_column": "said", "label_column": "stars"}
    assert read(path, **options) == [("Wet", "2")]
    assert read(path, label_names=["poor", "fair", "good"], **options) == [("Wet", "good")]


def test_texts_that_cannot_be_used_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,label\nWet,bad\n ,bad\nDry,\nHm, \nOh, no,bad\n")
    with pytest.raises(ConfigurationError, match=r"x.csv, line 3: the text is blank; skip_bad leaves it out"):
        read(path)
    assert read(path, skip_bad=True) == [("Wet", "bad")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text,label\nWet,bad\n", ", line 1: expected a tree, .* the option format reads other files"),
        ("(1 ฉันกิน)\n".encode(), ", line 1: Thai is written without spaces between words: set tokenizer"),
        (b"(1 Wet)\n(l Dry)\n", ", line 2: a label is a number from 0 to 4, not 'l'"),
        (b"", ": no texts in this file"),
        (b"\n \n", ": no texts in this file"),
        (b"(2 a)\n\n(2 (2 b)\n", ", line 3: brackets are not balanced: expected '\\)'"),
        (b"(2 a)\r\n(7 b)\r\n", ", line 2: a label is a number from 0 to 4, not '7'"),
        (b"(2 a)\n(2 caf\xe9)\n", ", line 2: not UTF-8 text"),
    ],
)
def test_a_bad_file_is_an_error_that_names_file_and_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "trees.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=re.escape(str(path)) + message) as error:
        list(reader().read(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("length", [0, -1])
def test_phrases_have_a_word_at_least(length: int) -> None:
    with pytest.raises(ConfigurationError, match=f"min_phrase_length: expected at least 1, got {length}"):
        reader(min_phrase_length=length)


@pytest.mark.parametrize(
    ("part", "counts", "binary"),
    [
        pytest.param("train", [1092, 2218, 1624, 2322, 1288], 6920, marks=pytest.mark.slow),
        ("dev", [139, 289, 229, 279, 165], 872),
        ("test", [279, 633, 389, 510, 399], 1821),
    ],
)
def test_reads_as_many_sentences_of_each_label_as_were_published(
    shared: Path, part: str, counts: list[int], binary: int
) -> None:
    path = shared / "data" / "sst" / f"{part}.txt"
    names = ["very negative", "negative", "neutral", "positive", "very positive"]
    labels = Counter(instance["label"].label for instance in reader().read(path))
    assert [labels[name] for name in names] == counts
    assert sum(1 for _ in reader(binary=True).read(path)) == binary


def test_a_text_with_its_aspect_and_label_has_three_lines(tmp_path: Path) -> None:
    (tmp_path / "x.raw").write_text("The $T$ was cold .\nsoup\n-1\nGood $T$ !\ntea\n1\n")
    assert read(tmp_path / "x.raw") == [("The soup was cold .", "-1"), ("Good tea !", "1")]
    (tmp_path / "x.raw").write_text("The $T$ was cold .\nsoup\n")
    with pytest.raises(
        ConfigurationError, match=r"x.raw, line 1: expected three lines, the first with \$T\$"
    ):
        read(tmp_path / "x.raw")


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("x.txt", "Not bad.\n", {}),
        ("x.csv", "text\nNot bad.\n", {}),
        ("x.csv", "Not bad.\n", {"columns": ["label", "text"]}),
        ("x.jsonl", '{"text": "Not bad.", "label": null}\n', {}),
    ],
)
def test_texts_without_labels_are_read_for_predictions_only(
    tmp_path: Path, name: str, content: str, options: dict[str, Any]
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigurationError):
        read(tmp_path / name, **options)
    predicting = reader(**options)
    predicting.needs_labels = False
    (instance,) = predicting.read(tmp_path / name)
    assert instance["words"].metadata == ["Not", "bad", "."] and "label" not in instance.fields
