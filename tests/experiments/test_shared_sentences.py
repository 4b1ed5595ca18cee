"""Which sentences of a test set a bundled model has seen."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY

BUNDLED = REPOSITORY / "experiments" / "bundled"


WORDS = st.lists(st.sampled_from("abc"), max_size=20)


@given(training=st.lists(WORDS, max_size=4), words=WORDS)
def test_shared_words_are_those_of_a_search_in_the_text(
    training: list[list[str]], words: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BUNDLED)
        shared = importlib.import_module("shared_sentences")
    runs = [" ".join(words[start : start + 8]) for start in range(len(words) - 7)]
    expected = any(run in " ".join(sentence) for run in runs for sentence in training)
    sentences = shared.TrainingSentences(" ".join(sentence) for sentence in training)
    assert sentences.shares_words_with(" ".join(words)) == expected
    assert sentences.has(" ".join(words)) == (words in training)


def test_shares_are_counted_without_case_and_punctuation(tmp_path: Path) -> None:
    shared = importlib.import_module("shared_sentences")
    training = shared.TrainingSentences(["It is, well, FINE !", "a b c d e f g h i"])
    texts = ["it is well fine.", "x b c d e f g h i y", "a b c d e f g", "fine"]
    assert training.shares_of(texts) == shared.Shares(total=4, whole=1, partly=1)
    assert "25.0 % stand in the training data, 25.0 % more share 8" in str(
        training.shares_of(texts)
    )
    with pytest.raises(ValueError, match="is empty"):
        training.shares_of([])


def test_texts_are_read_from_each_kind_of_file_once(tmp_path: Path) -> None:
    shared = importlib.import_module("shared_sentences")
    contents = {
        "a.jsonl": '{"text": "A"}\n{"sentence1": "A", "sentence2": "B"}\n',
        "a.tsv": 'text\tlabel\nA\tx\n"B"\ty\nB\ty\n',
        "a.txt": "A\nB\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        assert shared.texts_in(tmp_path / name) == ["A", "B"], name
