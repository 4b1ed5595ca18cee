"""The reader of sentiment trees: what it reads, and what it says of files that it cannot."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.sst import SstTreesReader
from elmo_plugin.tasks.sst_trees import read_phrases
from tests.experiments.configs import FIXTURES

TREES = FIXTURES / "sst" / "trees.txt"


def reader(**options: Any) -> SstTreesReader:
    return SstTreesReader({"tokens": SingleIdTokenIndexer()}, **options)


def contents(instances: list[Instance]) -> list[tuple[str, str]]:
    return [
        (" ".join(instance["words"].metadata), instance["label"].label) for instance in instances
    ]


def read(path: Path, **options: Any) -> list[tuple[str, str]]:
    return contents(list(reader(**options).read(path)))


def test_binary_labels_leave_out_neutral_sentences() -> None:
    assert read(TREES, binary=True) == [
        ("A superb film .", "positive"),
        ("It is n't funny .", "negative"),
        ("Dull , and utterly worthless .", "negative"),
        ("Charming !", "positive"),
    ]


def test_phrases_have_a_minimum_length_and_may_belong_to_neutral_sentences(
    tmp_path: Path,
) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("(2 (4 superb) (2 (2 but) (0 dreadful)))\n")
    assert read(path, min_phrase_length=2) == [
        ("superb but dreadful", "neutral"),
        ("but dreadful", "neutral"),
    ]
    assert read(path, binary=True, min_phrase_length=1) == [
        ("superb", "positive"),
        ("dreadful", "negative"),
    ]


def test_text_labels_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "Wet, cold", "label": "bad mood"}\n\n{"text": "Dry", "label": "1"}\n')
    assert read(path) == [("Wet , cold", "bad mood"), ("Dry", "1")]
    with pytest.raises(ConfigurationError, match=r"x.jsonl, line 1: binary is for trees"):
        read(path, binary=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"text,label\nWet,bad\n",
            ", line 1: expected an object of JSON, .*; `elmo import classify` reads other files",
        ),
        (b'{"text": " ", "label": "bad"}\n', ", line 1: the text is blank"),
        (b'{"text": "Wet", "label": 1}\n', ', line 1: expected a label as "label"; `elmo import'),
        (b"(1 Wet)\nDry\n", ", line 2: expected a tree, such as .*`elmo import classify`"),
        (
            "(1 ฉันกิน)\n".encode(),
            ", line 1: Thai is written without spaces between words: set tokenizer",
        ),
        (b"(1 Wet)\n(l Dry)\n", ", line 2: a label is a number from 0 to 4, not 'l'"),
        (b"(wet Rain)\n(3 Dry)\n", ", line 2: expected a word as label, .* before, not '3'"),
        (b"\n \n", ": no texts in this file"),
        (b"(2 a)\n\n(2 (2 b)\n", ", line 3: brackets are not balanced: expected '\\)'"),
        (b"(2 a)\r\n(7 b)\r\n", ", line 2: a label is a number from 0 to 4, not '7'"),
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


@pytest.mark.parametrize(
    ("part", "counts", "binary"),
    [
        pytest.param("train", [1092, 2218, 1624, 2322, 1288], 6920, marks=pytest.mark.slow),
        ("dev", [139, 289, 229, 279, 165], 872),
        pytest.param("test", [279, 633, 389, 510, 399], 1821, marks=pytest.mark.slow),
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


def test_phrases_are_the_subtrees_whatever_the_layout() -> None:
    phrases = [("3", ["Not", "a\u00a0b", "\u2028", "("]), ("2", ["Not"])]
    phrases += [("1", ["a\u00a0b", "\u2028", "("]), ("2", ["a\u00a0b", "\u2028"]), ("0", ["("])]
    tree = "(3 (2 Not) (1 (2 a\u00a0b \u2028) (0 -LRB-)))"
    for text in (tree, tree.replace(" ", "\t  "), tree.replace("(", "( "), tree.replace(" (", "(")):
        assert read_phrases(text, "here") == phrases


def test_innermost_brackets_may_contain_several_words_and_a_word_as_label() -> None:
    assert read_phrases("(1 A good film .)", "here") == [("1", ["A", "good", "film", "."])]
    assert read_phrases("(good A good film)", "here") == [("good", ["A", "good", "film"])]
    assert read_phrases("(3 (2 Not that) (1 bad))", "here")[1:] == [
        ("2", ["Not", "that"]),
        ("1", ["bad"]),
    ]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(2 (2 a) (2 b)", "brackets are not balanced: expected '\\)' but got 'end-of-string'"),
        ("(2 (2 a) (2 b)))", "brackets are not balanced: expected 'end-of-string' but got .*"),
        ("(2 a) (2 b)", "brackets are not balanced: expected 'end-of-string' but got .*"),
        ("(2 a) b", r"brackets are not balanced: expected '\(' but got 'b'"),
        ("(2)", "brackets without a word in them"),
        ("(2 a (3 b))", "expected brackets around the word 'a'"),
        ("(2 (3 a b) (good c))", "a label is a number from 0 to 4, not 'good'"),
        ("(2 (3 b) a)", "expected brackets around the word 'a'"),
        ("(5 a)", "a label is a number from 0 to 4, not '5'"),
        ("(\u0663 a)", "a label is a number from 0 to 4, not '\u0663'"),
        ("()", "brackets without a word in them"),
        ("((2 a))", "a label is a number from 0 to 4, not ''"),
    ],
)
def test_a_malformed_tree_is_an_error_that_says_why(tree: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^data.txt, line 7: {message}$"):
        read_phrases(tree, "data.txt, line 7")


@pytest.mark.parametrize("depth", [400, 401, 20_000])
def test_trees_deeper_than_400_brackets_are_refused(depth: int) -> None:
    tree = "(2 (2 a) " * (depth - 1) + "(2 a)" + ")" * (depth - 1)
    if depth == 400:
        assert len(read_phrases(tree, "here")[0].words) == 400
    else:
        with pytest.raises(
            ConfigurationError, match="here: the tree is more than 400 brackets deep"
        ):
            read_phrases(tree, "here")
