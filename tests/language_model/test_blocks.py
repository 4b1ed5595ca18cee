from itertools import chain

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.evaluation import EvaluationWindow, evaluation_windows
from elmo_plugin.language_model.windows import StreamLayout
from tests.language_model.in_memory import (
    LENGTHS,
    Sentence,
    distinct_words,
    in_memory,
    pairs_in_rows,
    pairs_of,
)

Tagged = list[tuple[str, str, int]]  # what is read, what is predicted, and the number of its sentence


def _plain_blocks(sentences: list[Sentence], block_words: int, reverse: bool) -> list[Tagged]:
    blocks, block = [], []
    for number, sentence in enumerate(sentences):
        block.append((number, sentence))
        if sum(len(words) for _, words in block) >= block_words:
            blocks.append(block)
            block = []
    return [
        [
            (*pair, number)
            for number, words in block[:: -1 if reverse else 1]
            for pair in pairs_of(words, reverse)
        ]
        for block in ([*blocks, block] if block else blocks)
    ]


def _blocks_read(windows: list[EvaluationWindow], text: IndexedCorpus, reverse: bool) -> list[list[Tagged]]:
    """For each group what each row reads and predicts, without the empty places behind its end."""
    starts = [number for number, window in enumerate(windows) if window.stream_starts]
    groups = []
    for start, end in zip(starts, [*starts[1:], len(windows)], strict=True):
        group = windows[start:end]
        rows = pairs_in_rows([window.backward if reverse else window.forward for window in group], text)
        numbers = np.concatenate([window.sentences[int(reverse)] for window in group], axis=1).tolist()
        tagged = [
            [(*pair, number) for pair, number in zip(row, of_row, strict=True)]
            for row, of_row in zip(rows, numbers, strict=True)
        ]
        read = [[item for item in row if item != ("", "", -1)] for row in tagged]
        assert all(row[: len(block)] == block for row, block in zip(tagged, read, strict=True))
        groups.append(read)
    return groups


@settings(max_examples=60)
@given(LENGTHS, st.integers(1, 3), st.integers(1, 8), st.integers(1, 25), st.booleans(), st.integers(1, 2))
@example([[3, 4], [2], [5]], 2, 4, 1000, True, 2)
def test_rows_of_all_processes_are_the_blocks_of_the_text_whatever_its_chunks_and_the_sizes(
    lengths, batch_size, steps, block_words, reverse, processes
) -> None:
    chunks = distinct_words(lengths)
    text = in_memory(chunks)
    of_processes = []
    for process in range(processes):
        windows = list(
            evaluation_windows(text, StreamLayout(batch_size, steps, process, processes), block_words)
        )
        assert windows[0].stream_starts
        assert all(window.forward.inputs.shape == (batch_size, steps) for window in windows)
        of_processes.append(_blocks_read(windows, text, reverse))
    groups = [chain.from_iterable(group) for group in zip(*of_processes, strict=True)]
    read = [block for block in chain.from_iterable(groups) if block]
    assert read == _plain_blocks(list(chain.from_iterable(chunks)), block_words, reverse)


@given(LENGTHS, st.integers(1, 3), st.integers(1, 8), st.integers(1, 25))
def test_all_processes_have_as_many_windows(lengths, batch_size, steps, block_words) -> None:
    text = in_memory(distinct_words(lengths))
    layouts = [StreamLayout(batch_size, steps, process, 2) for process in range(2)]
    counts = {len(list(evaluation_windows(text, layout, block_words))) for layout in layouts}
    assert len(counts) == 1
