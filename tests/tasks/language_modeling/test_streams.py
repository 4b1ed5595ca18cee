import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.language_modeling.streams import stream_windows

NOTHING = -1
SENTENCES = st.lists(st.integers(min_value=2, max_value=9), max_size=12).map(
    lambda lengths: [np.arange(length) + 100 * number for number, length in enumerate(lengths)]
)


def _rows(sentences: list[np.ndarray], batch_size: int, steps: int) -> list[list[tuple[int, int]]]:
    """What each row reads: pairs of input and target, one after another over all windows."""
    rows: list[list[tuple[int, int]]] = [[] for _ in range(batch_size)]
    for inputs, targets in stream_windows(iter(sentences), batch_size, steps, NOTHING):
        assert inputs.shape == targets.shape == (batch_size, steps)
        assert ((inputs == NOTHING) == (targets == NOTHING)).all()
        for row, pairs in enumerate(rows):
            pairs.extend(zip(inputs[row].tolist(), targets[row].tolist(), strict=True))
    return rows


@given(SENTENCES, st.integers(1, 4), st.integers(1, 7))
def test_every_word_is_predicted_once_from_the_one_before_it(
    sentences: list[np.ndarray], batch_size: int, steps: int
) -> None:
    pairs = [
        pair for row in _rows(sentences, batch_size, steps) for pair in row if pair != (NOTHING, NOTHING)
    ]
    expected = [pair for sentence in sentences for pair in itertools.pairwise(sentence)]
    assert sorted(pairs) == sorted(expected)


@given(SENTENCES, st.integers(1, 4), st.integers(1, 7))
def test_a_sentence_stays_in_its_row_and_nothing_comes_between_its_words(
    sentences: list[np.ndarray], batch_size: int, steps: int
) -> None:
    for row in _rows(sentences, batch_size, steps):
        read = [pair for pair in row if pair != (NOTHING, NOTHING)]
        assert read == row[: len(read)], "a row that has run out stays empty"
        for (_, target), (following, _) in itertools.pairwise(read):
            assert following in (target, 100 * (following // 100)), "the same sentence goes on, or one begins"


def test_windows_are_the_ones_written_out_here() -> None:
    sentences = [np.array([1, 2, 3, 4, 5]), np.array([6, 7]), np.array([8, 9, 10])]
    windows = list(stream_windows(iter(sentences), batch_size=2, unroll_steps=3, nothing=0))
    assert [inputs.tolist() for inputs, _ in windows] == [[[1, 2, 3], [6, 8, 9]], [[4, 0, 0], [0, 0, 0]]]
    assert [targets.tolist() for _, targets in windows] == [[[2, 3, 4], [7, 9, 10]], [[5, 0, 0], [0, 0, 0]]]


def test_no_sentences_give_no_windows() -> None:
    assert list(stream_windows(iter([]), 2, 3, NOTHING)) == []
