"""Words with tags: what is read, guessed, and drawn for the control task."""

from collections import Counter
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.analysis.probes import TaggedSentence, baseline_accuracies, with_control_tags
from elmo_plugin.commands.probe import read_tagged

TRAIN = [
    TaggedSentence(["the", "play", "the"], ["D", "N", "D"]),
    TaggedSentence(["play", "play"], ["V", "N"]),
]
TEST = [TaggedSentence(["play", "dog", "the"], ["N", "D", "N"])]


def test_blank_lines_separate_sentences_and_the_last_column_is_the_tag(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("-DOCSTART- -X-\n\nthe\tD\nplay\tB-N\n\n \nend\tV\n")
    assert read_tagged(str(tmp_path / "x.txt")) == [
        TaggedSentence(["the", "play"], ["D", "B-N"]),
        TaggedSentence(["end"], ["V"]),
    ]
    (tmp_path / "x.txt").write_text("the\tD\nplay\n")
    with pytest.raises(ConfigurationError, match=r"x.txt, line \d: expected \d columns"):
        read_tagged(str(tmp_path / "x.txt"))


def test_words_of_conllu_are_read_with_their_universal_tag(tmp_path: Path) -> None:
    lines = ["# sent_id = 1", "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_"]
    for number, (word, tag) in enumerate([("It", "PRON"), ("'s", "AUX"), ("on", "ADV")], start=1):
        lines.append(f"{number}\t{word}\tx\t{tag}\tX{tag}\t_\t0\troot\t_\tSpaceAfter=No")
    (tmp_path / "x.conllu").write_text("\n".join(lines) + "\n\n")
    expected = TaggedSentence(["It", "'s", "on"], ["PRON", "AUX", "ADV"])
    assert read_tagged(str(tmp_path / "x.conllu")) == [expected]


def test_the_most_frequent_tag_is_guessed_overall_or_by_word() -> None:
    # Of "D" and "N", which are equally frequent, the first is the majority.
    assert baseline_accuracies(TRAIN, TRAIN) == {
        "majority": pytest.approx(2 / 5),
        "word": pytest.approx(4 / 5),
    }
    assert baseline_accuracies(TRAIN, TEST) == {
        "majority": pytest.approx(1 / 3),
        "word": pytest.approx(2 / 3),
    }


def test_control_tags_are_fixed_for_each_word_and_as_frequent_as_the_real_tags() -> None:
    words = [f"w{number}" for number in range(4000)]
    train = [TaggedSentence(words, ["A"] * 3000 + ["B"] * 1000)]
    (of_train,), (of_test,) = with_control_tags(
        train, [TaggedSentence(words[:10], ["A"] * 10)], seed=1
    )
    assert of_train.words == words
    assert of_test.tags == of_train.tags[:10]
    assert Counter(of_train.tags)["A"] / 4000 == pytest.approx(0.75, abs=0.03)
    again, _ = with_control_tags(train, train, seed=1)
    other, _ = with_control_tags(train, train, seed=2)
    assert again[0].tags == of_train.tags != other[0].tags
