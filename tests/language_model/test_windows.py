from itertools import chain, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.language_model.corpus import Corpus
from elmo_plugin.language_model.windows import (
    StreamKey,
    StreamLayout,
    Window,
    assign_sentences,
    batch_arrays,
    count_training_windows,
    stream_windows,
    training_windows,
)
from tests.conftest import at_most
from tests.language_model.in_memory import (
    LENGTHS,
    Pairs,
    distinct_words,
    in_memory,
    pairs_in_rows,
    pairs_of,
)

NOTHING = ("", "")


def test_a_batch_contains_each_word_once_per_direction() -> None:
    text = in_memory([[["the", "cat", "sat"]], [["a", "dog", "sat"]]])
    assert text.words == ["", "<S>", "</S>", "the", "cat", "sat", "a", "dog"]
    forward = [[[1, 3, 4], [0, 5, 0]], [[3, 4, 5], [0, 2, 0]]]
    backward = [[[2, 5, 7], [5, 0, 0]], [[5, 7, 6], [1, 0, 0]]]
    inputs, targets = zip(forward, backward, strict=True)
    window = Window(np.array(inputs), np.array(targets), starts_at_zero=True)
    batch = batch_arrays(text, window)
    rows = {tuple(ids): word for word, ids in enumerate(text.character_ids.tolist())}
    order = np.array([rows[tuple(ids)] for ids in batch["character_ids"].tolist()])
    assert sorted(order) == [0, 1, 2, 3, 4, 5, 7]
    for name, (inputs, targets) in {"forward": forward, "backward": backward}.items():
        assert order[batch[f"{name}_types"]].tolist() == inputs
        assert (
            batch[f"{name}_targets"].tolist() == text.vocabulary_numbers[np.array(targets)].tolist()
        )


def _sentences(row: Pairs, reverse: bool) -> list[Pairs]:
    """
    The row without the empty places behind its end, cut before each item that begins a sentence.
    """
    read = [pair for pair in row if pair != NOTHING]
    assert read == row[: len(read)], "a row that has run out stays empty"
    starts = [
        place for place, (word, _) in enumerate(read) if word == ("</S>" if reverse else "<S>")
    ]
    assert not read or starts[0] == 0
    return [read[start:end] for start, end in pairwise([*starts, len(read)])]


@at_most(60)
@given(LENGTHS, st.integers(1, 4), st.integers(1, 11), st.booleans())
def test_rows_contain_all_sentences_whole_in_order_and_once(
    lengths, batch_size, steps, reverse
) -> None:
    chunks = distinct_words(lengths)
    text, layout = in_memory(chunks), StreamLayout(batch_size, steps)
    rows = pairs_in_rows(list(stream_windows(text, layout, StreamKey(5, 0, reverse), 0)), text)
    read = [sentence for row in rows for sentence in _sentences(row, reverse)]
    assert sorted(read) == sorted(
        pairs_of(sentence, reverse) for sentence in chain.from_iterable(chunks)
    )


@at_most(60)
@given(LENGTHS, st.integers(1, 4), st.integers(1, 11), st.integers(1, 2), st.integers(0, 3))
def test_windows_are_counted_without_being_read(
    lengths, batch_size, steps, processes, epoch
) -> None:
    text = in_memory(distinct_words(lengths))
    layout = StreamLayout(batch_size, steps, processes - 1, processes)
    windows = list(training_windows(text, layout, 1000, 5, epoch, first=0))
    assert count_training_windows(Corpus(text.chunks, ""), layout, 5, epoch) == len(windows)


@given(st.lists(st.lists(st.integers(1, 30), max_size=40), max_size=12), st.integers(1, 9))
def test_rows_are_equally_long_to_within_about_a_sentence(chunks, num_rows) -> None:
    assigned = np.zeros(num_rows, dtype=np.int64)
    for lengths in map(np.array, chunks):
        begins, ends, shares = assign_sentences(lengths.astype(int), assigned)
        assert sorted(chain.from_iterable(map(range, begins, ends))) == list(range(len(lengths)))
        assert shares.tolist() == [
            lengths[begin:end].sum() for begin, end in zip(begins, ends, strict=True)
        ]
        assigned += shares
    longest = max(chain.from_iterable(chunks), default=0)
    assert abs(assigned - assigned.mean()).max() <= 1.5 * longest


def test_the_row_that_lacks_most_targets_gets_the_first_sentences() -> None:
    runs = assign_sentences(np.array([3, 4, 2, 3]), assigned=np.array([5, 2]))
    assert runs.begins.tolist() == [2, 0]
    assert runs.ends.tolist() == [4, 2]
    assert runs.lengths.tolist() == [5, 7]


def test_each_process_has_consecutive_rows() -> None:
    layouts = [StreamLayout(2, 5, process, processes=3) for process in range(3)]
    rows = [list(range(layout.rows))[layout.own_rows] for layout in layouts]
    assert rows == [[0, 1], [2, 3], [4, 5]]
