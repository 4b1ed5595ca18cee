"""The sentiment treebank is what its program writes and has the properties that its README claims."""

import re
from collections import Counter
from pathlib import Path

import pytest
from nltk.tree import Tree

DATA = Path(__file__).parents[2] / "experiments" / "data"


def lines(part: str) -> list[str]:
    return (DATA / "sst" / f"{part}.txt").read_text(encoding="utf-8").splitlines()


def trees(part: str) -> list[Tree]:
    return [Tree.fromstring(line) for line in lines(part)]


TRAIN, DEV = trees("train"), trees("dev")


def test_no_sentence_occurs_twice() -> None:
    sentences = [" ".join(tree.leaves()) for tree in TRAIN + DEV]
    assert len(set(sentences)) == len(sentences)


def test_trees_are_binary_with_labels_from_0_to_4() -> None:
    for tree in TRAIN + DEV:
        for part in tree.subtrees():
            assert part.label() in {"0", "1", "2", "3", "4"}
            assert len(part) == 2 if isinstance(part[0], Tree) else len(part) == 1


def test_sentences_have_4_to_25_words_begin_with_a_capital_and_end_with_a_mark() -> None:
    for tree in TRAIN + DEV:
        words = tree.leaves()
        assert 4 <= len(words) <= 25
        assert words[0][0].isupper() and words[-1] in ".!"


def test_a_and_an_fit_the_next_word() -> None:
    text = " ".join(" ".join(tree.leaves()) for tree in TRAIN + DEV)
    assert not re.search(r"\b[Aa] ([AEIOUaeiou]|honest)", text)
    assert not re.search(r"\b[Aa]n (?!hour|honest)[^AEIOUaeiou]", text)


def parts_with(words: str) -> list[Tree]:
    """The subtrees that these words, and then one part, make up."""
    return [
        part
        for tree in TRAIN + DEV
        for part in tree.subtrees(lambda part: isinstance(part[0], Tree))
        if " ".join(part[0].leaves()) == words
    ]


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("very", {"0": "0", "1": "0", "2": "2", "3": "4", "4": "4"}),
        ("rather", {"0": "1", "1": "1", "2": "2", "3": "3", "4": "3"}),
        ("too", {"0": "0", "1": "0", "2": "1", "3": "1", "4": "1"}),
        ("is not", {"0": "2", "1": "3", "2": "2", "3": "1", "4": "1"}),
        ("lacks", {"0": "2", "1": "3", "2": "2", "3": "1", "4": "1"}),
        ("is", {label: label for label in "01234"}),
    ],
)
def test_the_sentiment_of_a_phrase_follows_from_that_of_its_part(words: str, labels: dict[str, str]) -> None:
    found = {(part[1].label(), part.label()) for part in parts_with(words)}
    assert found == set(labels.items())


def test_what_follows_but_counts() -> None:
    """If the two sides differ, the whole is of the opinion of the last that has one, and not extreme."""
    for tree in TRAIN + DEV:
        first, second = tree[0] if len(tree[0]) == 2 else (None, None)
        if second is not None and second.leaves()[0] in ("but", "yet"):
            one, other, whole = (int(part.label()) - 2 for part in (first, second, tree[0]))
            expected = (other or one) // abs(other or one or 1)
            assert whole == (other if other and one * other >= 0 else expected)


def test_every_label_is_that_of_some_sentences_and_none_of_half() -> None:
    for part in (TRAIN, DEV):
        shares = [count / len(part) for count in Counter(tree.label() for tree in part).values()]
        assert len(shares) == 5 and min(shares) > 0.05 and max(shares) < 0.4


def test_a_fifth_of_the_words_of_dev_is_not_in_train() -> None:
    known, words = ({word.lower() for tree in part for word in tree.leaves()} for part in (TRAIN, DEV))
    assert 0.15 < len(words - known) / len(words) < 0.25


def test_every_symbol_of_the_grammar_is_a_list_and_every_list_is_used() -> None:
    grammar = "\n".join(
        line
        for path in (DATA / "sst_grammar").glob("*.txt")
        for line in path.read_text(encoding="utf-8").split("\n")
        if not line.strip().startswith("#")
    )
    lists = re.findall(r"^(\S.*):$", grammar, re.MULTILINE)
    assert len(lists) == len(set(lists))
    assert set(lists) == set(re.findall(r"\{([^}]*)\}", grammar)) | {"sentence"}
