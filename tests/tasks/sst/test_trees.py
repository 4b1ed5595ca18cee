"""Trees and their phrases."""

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.sst import read_phrases


def test_phrases_are_the_subtrees_whatever_the_layout() -> None:
    phrases = [("3", ["Not", "a\u00a0b", "\u2028", "("]), ("2", ["Not"])]
    phrases += [("1", ["a\u00a0b", "\u2028", "("]), ("2", ["a\u00a0b", "\u2028"]), ("0", ["("])]
    tree = "(3 (2 Not) (1 (2 a\u00a0b \u2028) (0 -LRB-)))"
    for text in (tree, tree.replace(" ", "\t  "), tree.replace("(", "( "), tree.replace(" (", "(")):
        assert read_phrases(text, "here") == phrases


def test_the_innermost_brackets_may_have_several_words_and_alone_a_label_word() -> None:
    assert read_phrases("(1 A good film .)", "here") == [("1", ["A", "good", "film", "."])]
    assert read_phrases("(good A good film)", "here") == [("good", ["A", "good", "film"])]
    assert read_phrases("(3 (2 Not that) (1 bad))", "here")[1:] == [("2", ["Not", "that"]), ("1", ["bad"])]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(2 (2 a) (2 b)", "brackets are not balanced: expected '\\)' but got 'end-of-string'"),
        ("(2 (2 a) (2 b)))", "brackets are not balanced: expected 'end-of-string' but got .*"),
        ("(2 a) (2 b)", "brackets are not balanced: expected 'end-of-string' but got .*"),
        ("(2 a) b", r"brackets are not balanced: expected '\(' but got 'b'"),
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
