"""The parser of trees: against the trees that a text was made from, and against NLTK's reader."""

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree

from elmo_plugin.tasks.conll2012 import unescape_word
from elmo_plugin.tasks.sst import read_phrases

LABELS = st.integers(0, 4)
WORDS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="()"), min_size=1).filter(
    lambda word: unescape_word(word) == word
)


def trees(min_children: int) -> st.SearchStrategy[Tree]:
    return st.recursive(
        st.builds(lambda label, word: Tree(label, [word]), LABELS, WORDS),
        lambda parts: st.builds(Tree, LABELS, st.lists(parts, min_size=min_children, max_size=3)),
    )


@given(tree=trees(min_children=1), margin=st.integers(1, 200))
def test_phrases_are_the_subtrees_that_nltk_reads_whatever_the_layout(tree: Tree, margin: int) -> None:
    text = tree.pformat(margin=margin)
    subtrees = [(part.label(), part.leaves()) for part in Tree.fromstring(text).subtrees()]
    assert read_phrases(text, "here") == subtrees


def test_the_innermost_brackets_may_have_several_words_and_alone_a_label_word() -> None:
    assert read_phrases("(1 A good film .)", "here") == [("1", ["A", "good", "film", "."])]
    assert read_phrases("(good A good film)", "here") == [("good", ["A", "good", "film"])]
    assert read_phrases("(3 (2 Not that) (1 bad))", "here")[1:] == [("2", ["Not", "that"]), ("1", ["bad"])]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(2 (2 a) (2 b)", "brackets are not balanced, 1 are never closed"),
        ("(2 (2 a) (2 b)))", r"brackets are not balanced at '\)'"),
        ("(2 a) (2 b)", r"brackets are not balanced at '\(2'"),
        ("(2 a) b", "brackets are not balanced at 'b'"),
        ("(2)", "brackets without a word in them"),
        ("(2 a (3 b))", "the word 'a' lacks brackets"),
        ("(2 (3 a b) (good c))", "a label is a number from 0 to 4, not 'good'"),
        ("(2 (3 b) a)", "the word 'a' lacks brackets"),
        ("(5 a)", "a label is a number from 0 to 4, not '5'"),
        ("(\u0663 a)", "a label is a number from 0 to 4, not '\u0663'"),
        ("()", "brackets without a word in them"),
        ("((2 a))", "a label is a number from 0 to 4, not ''"),
    ],
)
def test_what_is_no_tree_is_an_error_that_says_why(tree: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^data.txt, line 7: {message}$"):
        read_phrases(tree, "data.txt, line 7")


@pytest.mark.parametrize("depth", [500, 501, 20_000])
def test_a_tree_is_not_deeper_than_it_takes_time(depth: int) -> None:
    tree = "(2 (2 a) " * (depth - 1) + "(2 a)" + ")" * (depth - 1)
    if depth == 500:
        assert len(read_phrases(tree, "here")[0].words) == 500
    else:
        with pytest.raises(ConfigurationError, match="here: the tree is more than 500 brackets deep"):
            read_phrases(tree, "here")
