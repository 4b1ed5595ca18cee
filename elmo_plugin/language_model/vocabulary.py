"""
Vocabularies of AllenNLP: counted, read from bilm-tf's files, checked; a softmax for another one.
"""

import math
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from overrides import overrides
from torch import Tensor

from elmo_plugin.bilm import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, BiLmError
from elmo_plugin.bilm.io import UNKNOWN_WORDS, SoftmaxWeights
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.text_files import decode, read_lines
from elmo_plugin.language_model.corpus import Corpus

WORDS = "words"  # the namespace of the vocabulary
_MAKE = "make one with `allennlp build-vocab`"
_MIN_DIFFERENCE = 0.1  # nats; a few words, or equally frequent ones, may be swapped by chance
_PADDING_HANDICAP = 20.0  # nats by which padding is less probable than the unknown word
_LAST_WORD = "!!!MAXTERMID"  # ends the 1 Billion Word Benchmark's vocabulary; it is no word


class CountedWords(Instance):
    """
    One instance that stands for all sentences of a corpus: to make a vocabulary, AllenNLP asks each
    instance to count its words, and here they are counted already.
    """

    def __init__(self, corpus: Corpus) -> None:
        super().__init__({})
        self._counts = corpus.counts

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        for word, count in self._counts.items():
            counter[WORDS][word] += count


def vocabulary_fingerprint(vocabulary: Vocabulary) -> str:
    """Returns a digest of a vocabulary's words in the order of their numbers."""
    numbers = vocabulary.get_token_to_index_vocabulary(WORDS)
    words = sorted(numbers, key=numbers.__getitem__)
    return blake2b("\n".join(words).encode(), digest_size=16).hexdigest()


@Vocabulary.register("bilm_tf", constructor="from_file")
class BilmTfVocabulary(Vocabulary):
    """
    The vocabulary of bilm-tf: a file, maybe compressed, with one word per line, by descending
    frequency, and with `<S>`, `</S>` and `<UNK>`.

    Registered as a `Vocabulary` with name "bilm_tf".

    # Parameters

    file : `str`
        The file.

    Raises `ConfigurationError`, naming file and line, if a line is not a word, or the word of an
    earlier one.
    """

    @classmethod
    def from_file(cls, file: str) -> "BilmTfVocabulary":
        """
        Reads the file. Its words are numbered from 2, because a new vocabulary already has
        AllenNLP's padding and unknown word.
        """
        vocabulary = cls()
        seen: set[str] = set()
        with as_configuration_error("vocabulary"):
            for number, line in enumerate(read_lines(file), start=1):
                place = f"{file}, line {number}"
                text = decode(line, place)
                words = text.split()
                if len(words) != 1 or words[0] in seen:
                    raise BiLmError(f"{place}: expected a new word, got {' '.join(words)!r:.60}")
                word = words[0]
                seen.add(word)
                # AllenNLP's unknown word takes the place of the file's.
                if word not in UNKNOWN_WORDS and word != _LAST_WORD:
                    vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary


def check_vocabulary(vocabulary: Vocabulary) -> None:
    """
    Raises `ConfigurationError` if a special word is missing from the vocabulary; or if a word has
    the number 0: it would never be predicted, because the target 0 stands for no word.
    """
    numbers = vocabulary.get_token_to_index_vocabulary(WORDS)
    for word in (vocabulary._oov_token, BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN):
        if word not in numbers:
            raise ConfigurationError(
                f"{word} is missing in the vocabulary's namespace {WORDS}; {_MAKE}"
            )
    first = vocabulary.get_token_from_index(0, WORDS)
    if first != vocabulary._padding_token:
        raise ConfigurationError(
            f"the vocabulary has {first!r} as number 0 of its namespace {WORDS}, where it needs "
            f"{vocabulary._padding_token}; {_MAKE}"
        )


def check_order(vocabulary: Vocabulary, corpus: Corpus) -> None:
    """
    Raises `ConfigurationError` if the words of a vocabulary are not about in the order of
    descending frequency in the text, or none of them occurs. The sampled softmax relies on the
    order: it draws words as often as Zipf's law expects of their ranks.
    """
    numbers = vocabulary.get_token_to_index_vocabulary(WORDS)
    unknown = numbers[vocabulary._oov_token]
    occurrences = np.zeros(len(numbers))
    for word, count in corpus.counts.items():
        occurrences[numbers.get(word, unknown)] += count
    # The padding and the special words are not numbered by their frequency.
    special = [0, unknown, numbers[BEGIN_SENTENCE_TOKEN], numbers[END_SENTENCE_TOKEN]]
    counts = np.delete(occurrences, special)  # of the other words, in the vocabulary's order
    if not counts.any():
        raise ConfigurationError(
            f"the text has no word of the vocabulary's namespace {WORDS}; {_MAKE}"
        )
    if not _are_about_descending(counts):
        raise ConfigurationError(
            f"the words in the vocabulary's namespace {WORDS} are not in the order of descending "
            f"frequency, on which num_negatives relies; {_MAKE}, or leave num_negatives out"
        )


def _are_about_descending(counts: np.ndarray) -> bool:
    """
    Returns whether words, given by their counts, are about in the order of descending frequency.

    An order is measured by the cross-entropy of the running words under Zipf's law. It is lowest in
    the order of frequency, and higher in a random order. The words may be up to half way between,
    so the vocabulary of another text passes easily.
    """
    shares = counts / counts.sum()
    ranks = np.arange(1, len(counts) + 1)
    # `-log p` of the word at each rank by Zipf's law, except for a constant.
    costs = -np.log(np.log1p(1 / ranks))
    # The mean cost of a running word in three orders.
    in_order_of_frequency = np.sort(shares)[::-1] @ costs
    in_this_order = shares @ costs
    in_random_order = costs.mean()
    half_way = 0.5 * (in_random_order - in_order_of_frequency)
    return bool(in_this_order - in_order_of_frequency <= max(half_way, _MIN_DIFFERENCE))


class AdaptedSoftmax(NamedTuple):
    """A softmax for another vocabulary than the one that it was trained with."""

    weight: Tensor  # Shape: (words, dim)
    bias: Tensor  # Shape: (words,)
    num_new_words: int  # the words of the other vocabulary that this softmax did not know


def adapt_softmax(known: SoftmaxWeights, vocab: Vocabulary) -> AdaptedSoftmax:
    """
    Returns a softmax for the words of `vocab`, made from the softmax `known`:

    - Known words keep their row and bias.
    - New words were unknown until now. So they get the row of the unknown word. Its probability is
      divided equally among the unknown word and the new words: the bias of each is lower by
      `log(number of new words + 1)`. If all known words are in the new vocabulary, they are as
      probable as before.
    - Padding keeps its row, if it has one. Otherwise it also gets the row of the unknown word, but
      next to no probability.

    Raises `ConfigurationError` if the known softmax lacks a row for unknown words.
    """
    unknown_names = (vocab._oov_token, *UNKNOWN_WORDS)
    unknown_row = known.unknown_number(unknown_names)
    if unknown_row is None:
        raise ConfigurationError(
            "model.initial: the softmax of the source has no row for unknown words "
            f"({' or '.join(dict.fromkeys(unknown_names))})"
        )
    row_of_word = _rows_of_known_words(known, unknown_row, vocab)
    words = []
    for number in range(vocab.get_vocab_size(WORDS)):
        words.append(vocab.get_token_from_index(number, WORDS))
    rows = [row_of_word.get(word, unknown_row) for word in words]
    num_new_words = sum(1 for word in words if word not in row_of_word)
    weight = known.weight[rows]  # a copy, as is the bias
    bias = known.bias[rows]
    shares_unknown_row = torch.tensor(rows) == unknown_row
    bias[shares_unknown_row] -= math.log(num_new_words + 1)
    if not known.has_padding:
        bias[0] -= _PADDING_HANDICAP  # in `vocab`, padding has the number 0: see `check_vocabulary`
    return AdaptedSoftmax(weight, bias, num_new_words)


def _rows_of_known_words(
    known: SoftmaxWeights, unknown_row: int, vocab: Vocabulary
) -> dict[str, int]:
    """
    Returns the row that each known word has in a softmax, the unknown word and the padding
    included. These two have the names that `vocab` uses for them, and may be called otherwise in
    the softmax. A softmax without padding gives it the row of the unknown word.
    """
    row_of_word = known.numbers()
    del row_of_word[known.words[unknown_row]]
    row_of_word[vocab._oov_token] = unknown_row
    if known.has_padding:
        row_of_word[vocab._padding_token] = 0
    else:
        row_of_word[vocab._padding_token] = unknown_row
    return row_of_word
