"""Blocks of text in its order, and windows over them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.language_model.blocks import (
    block_groups,
    count_evaluation_windows,
    evaluation_windows,
)
from elmo_plugin.language_model.windows import StreamLayout
from tests.language_model.in_memory import LENGTHS, distinct_words, in_memory


@pytest.mark.parametrize("lengths", [[[2, 4, 5, 1, 1]], [[2], [4, 5], [1, 1]]])
def test_a_block_is_the_fewest_sentences_with_enough_words(lengths: list[list[int]]) -> None:
    corpus = in_memory(distinct_words(lengths))
    blocks = []
    for group in block_groups(corpus, num_rows=2, block_words=5):
        in_whole_text = (group.boundaries + group.text.first_sentence).tolist()
        blocks += pairwise(in_whole_text)
    assert blocks == [(0, 2), (2, 3), (3, 5)]  # the last one is shorter


@given(LENGTHS, st.integers(1, 3), st.integers(1, 8), st.integers(1, 25))
def test_every_process_gets_the_counted_number_of_windows(
    lengths, batch_size, steps, block_words
) -> None:
    text = in_memory(distinct_words(lengths))
    for process in range(2):
        layout = StreamLayout(batch_size, steps, process, 2)
        windows = list(evaluation_windows(text, layout, block_words))
        assert len(windows) == count_evaluation_windows(text, layout, block_words)
