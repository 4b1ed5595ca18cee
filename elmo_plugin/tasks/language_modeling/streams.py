"""Sentences one after another in parallel streams, cut into windows for truncated back-propagation."""

from collections.abc import Iterator

import numpy as np


def stream_windows(
    sentences: Iterator[np.ndarray], batch_size: int, unroll_steps: int, nothing: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """
    Each row of a batch is a stream: when its sentence is over, the next sentence of `sentences` follows
    in the same row, and a sentence that does not end in a window goes on in the same row of the next one.
    A sentence's first item is never a target and its last never an input.

    # Parameters

    sentences : `Iterator[numpy.ndarray]`
        Integers, shape (at least 2,): a sentence with both of its boundaries.
    batch_size : `int`
        The number of rows.
    unroll_steps : `int`
        The number of time steps in a window.
    nothing : `int`
        What stands in inputs and targets where a row has run out of sentences.

    # Returns

    `Iterator[tuple[numpy.ndarray, numpy.ndarray]]`
        Inputs and targets, both of shape (batch_size, unroll_steps), until every row has run out.
    """
    rest: list[np.ndarray] = [np.empty(0, dtype=np.int64)] * batch_size
    while True:
        inputs = np.full((batch_size, unroll_steps), nothing, dtype=np.int64)
        targets = np.full((batch_size, unroll_steps), nothing, dtype=np.int64)
        for row in range(batch_size):
            filled = 0
            while filled < unroll_steps:
                if len(rest[row]) < 2:
                    sentence = next(sentences, None)
                    if sentence is None:
                        break
                    rest[row] = sentence
                taken = min(len(rest[row]) - 1, unroll_steps - filled)
                inputs[row, filled : filled + taken] = rest[row][:taken]
                targets[row, filled : filled + taken] = rest[row][1 : taken + 1]
                rest[row] = rest[row][taken:]
                filled += taken
        if (inputs == nothing).all():
            return
        yield inputs, targets
