import math
from copy import deepcopy
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.characters import sentences_to_character_ids
from elmo_plugin.bilm.softmax import VocabularySoftmax
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.evaluation import (
    SentenceScores,
    corpus_sentences,
    score_sentences,
)
from elmo_plugin.language_model.windows import StreamLayout
from tests.bilm.direction import run_direction
from tests.language_model.in_memory import LENGTHS, Sentence, distinct_words, in_memory
from tests.small_bilm import small_options

CHUNKS = distinct_words([[3, 1, 9], [2], [5, 7, 4, 1]])
Scores = list[SentenceScores]


def _model(num_words: int) -> tuple[BiLm, VocabularySoftmax]:
    torch.manual_seed(5)
    bilm = BiLm(BiLmOptions.from_dict(small_options(char_cnn={"max_characters_per_token": 12})))
    softmax = VocabularySoftmax(num_words, bilm.options.lstm.projection_dim)
    softmax.bias.data.normal_()
    for parameter in (*bilm.parameters(), *softmax.parameters()):
        parameter.data.mul_(3.0)  # so that clips and contexts matter
    softmax.bias.data[0] = 20.0  # row 0 would have most of the probability if it were a word
    return bilm.double().eval().requires_grad_(False), softmax.double().requires_grad_(False)


def _scores(text: IndexedCorpus, batch_size: int, steps: int, block_words: int) -> Scores:
    layout = StreamLayout(batch_size, steps)
    return list(score_sentences(*_model(len(text.words) + 2), text, layout, block_words))


def _plain_scores(text: IndexedCorpus, sentences: list[Sentence], block_words: int) -> Scores:
    """In float64, one sentence after the other, by the formulas, without row 0 of the softmax."""
    bilm, softmax = _model(len(text.words) + 2)
    forward = _plain_direction(bilm, softmax, text, sentences, block_words, reverse=False)
    backward = _plain_direction(bilm, softmax, text, sentences, block_words, reverse=True)
    return [SentenceScores(*both) for both in zip(forward, backward, strict=True)]


def _plain_direction(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    text: IndexedCorpus,
    sentences: list[Sentence],
    block_words: int,
    reverse,
) -> list[np.ndarray]:
    lm = deepcopy(bilm.backward_lm if reverse else bilm.forward_lm).double()
    weight, bias = softmax.weight.double(), softmax.bias.double()
    blocks: list[list[Sentence]] = [[]]
    for sentence in sentences:
        if sum(map(len, blocks[-1])) >= block_words:
            blocks.append([])
        blocks[-1].append(sentence)
    scores = []
    for block in blocks:
        state, of_block = None, []
        for sentence in block[:: -1 if reverse else 1]:
            words = ["<S>", *sentence, "</S>"][:: -1 if reverse else 1]
            ids = torch.from_numpy(sentences_to_character_ids([words[:-1]], 12))
            vectors = bilm.token_encoder(ids[0]).double()
            layers, state = run_direction(lm, vectors, [1] * len(vectors), state, "reference")
            logits = layers[-1] @ weight.t() + bias
            numbers = [text.vocabulary_numbers[text.words.index(word)] for word in words[1:]]
            nats = [
                -math.log(math.exp(row[number]) / math.fsum(map(math.exp, row[1:])))
                for row, number in zip(logits.tolist(), numbers, strict=True)
            ]
            of_block.append(np.array([*nats[-2::-1], nats[-1]] if reverse else nats))
        scores += of_block[:: -1 if reverse else 1]
    return scores


def _assert_equal(found: Scores, expected: Scores, rtol: float) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for direction in range(2):
            np.testing.assert_allclose(one[direction], other[direction], rtol=rtol, atol=rtol)


@pytest.mark.parametrize("block_words", [1, 6, 1000])
def test_scores_equal_a_plain_loop_over_sentences(block_words: int) -> None:
    text = in_memory(CHUNKS, known=3)
    expected = _plain_scores(text, list(chain.from_iterable(CHUNKS)), block_words)
    _assert_equal(_scores(text, 3, 4, block_words), expected, rtol=2e-5)


def test_words_truncated_to_the_same_bytes_do_not_affect_later_words() -> None:
    sentences = [
        [["abcdefghij1", "abcdefghij2", "cat"]],
        [["dog", "abcdefghij"], ["cat", "abcdefghij2"]],
        [["cat", "dog"]],
    ]
    text = in_memory(sentences)
    expected = _plain_scores(text, list(chain.from_iterable(sentences)), 1)
    _assert_equal(_scores(text, 1, 2, 1), expected, rtol=2e-5)


@pytest.mark.slow
@settings(max_examples=8)
@given(LENGTHS, st.integers(2, 6), st.integers(1, 40), st.sampled_from([1, 5, 1000]))
def test_scores_do_not_depend_on_batch_size_windows_or_chunks(
    lengths: list[list[int]], batch_size: int, steps: int, block_words: int
) -> None:
    chunks = distinct_words(lengths)
    in_one_chunk = in_memory([list(chain.from_iterable(chunks))], known=3)
    found, expected = (
        _scores(in_memory(chunks, known=3), batch_size, steps, block_words),
        _scores(in_one_chunk, 1, 7, block_words),
    )
    _assert_equal(found, expected, rtol=1e-5)
    sums = [
        sum(score.forward.sum() + score.backward.sum() for score in scores)
        for scores in (found, expected)
    ]
    assert sums[0] == pytest.approx(sums[1], rel=1e-6)


def test_unknown_words_are_marked() -> None:
    text = in_memory(CHUNKS, known=3)
    read = list(corpus_sentences(text))
    assert [words for words, _ in read] == list(chain.from_iterable(CHUNKS))
    unknown = [word for words, is_unknown in read for word in np.array(words)[is_unknown]]
    assert sorted(unknown) == sorted(chain.from_iterable(chain.from_iterable(CHUNKS)))[::3]
