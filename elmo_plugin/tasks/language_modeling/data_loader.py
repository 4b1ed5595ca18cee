"""Batches for a biLM: two independent streams of sentences, one for each direction."""

import math
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, Instance, TensorDict, Vocabulary
from allennlp.nn.util import move_to_device
from overrides import overrides

from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    MAX_CHARACTERS_PER_TOKEN,
    word_to_character_ids,
)
from elmo_plugin.tasks.language_modeling.dataset_reader import BiLmTextReader
from elmo_plugin.tasks.language_modeling.streams import stream_windows

NOTHING = 0  # the type, and the vocabulary's number, of a place without a word


class WordTypes:
    """
    The distinct words met so far, numbered from 1 in the order of their first appearance: the character ids
    of each, and its number in the vocabulary.

    # Parameters

    vocab : `Vocabulary`
        Gives the numbers of the words to be predicted.
    namespace : `str`
        Where in the vocabulary they are.
    max_characters : `int`
        Character slots per word.
    """

    def __init__(self, vocab: Vocabulary, namespace: str, max_characters: int) -> None:
        self._numbers = vocab.get_token_to_index_vocabulary(namespace)
        self._unknown = self._numbers[vocab._oov_token]
        self._max_characters = max_characters
        self._types: dict[str, int] = {}
        self._character_ids = [np.zeros(max_characters, dtype=np.int16)]
        self._vocabulary = [NOTHING]

    def of(self, words: list[str]) -> np.ndarray:
        """The type of each word, shape (words,)."""
        return np.fromiter((self._types.get(word) or self._add(word) for word in words), np.int64, len(words))

    def _add(self, word: str) -> int:
        self._types[word] = len(self._vocabulary)
        self._character_ids.append(word_to_character_ids(word, self._max_characters))
        self._vocabulary.append(self._numbers.get(word, self._unknown))
        return self._types[word]

    def character_ids(self, types: np.ndarray) -> np.ndarray:
        """Shape (types, max_characters)."""
        return np.stack([self._character_ids[word_type] for word_type in types])

    def vocabulary_numbers(self, types: np.ndarray) -> np.ndarray:
        """The number of each type in the vocabulary, in the shape of `types`."""
        distinct, inverse = np.unique(types, return_inverse=True)
        numbers = np.array([self._vocabulary[word_type] for word_type in distinct])
        return numbers[inverse].reshape(types.shape)


@DataLoader.register("bilm_stream")
class BiLmStreamLoader(DataLoader):
    """
    Each row of a batch is a stream of sentences that goes on in the next batch; the backward language model
    reads a stream of its own, of reversed sentences in another order. One shard at a time is in memory for
    each direction. A pass over the data has every sentence once in each direction; towards its end, rows that
    have run out of sentences are empty.

    # Parameters

    reader : `BiLmTextReader`
        Reads the shards.
    data_path : `str`
        A file or a pattern.
    batch_size : `int`
        The number of streams in a batch.
    unroll_steps : `int`
        The number of words of each stream in a batch, over which the gradient goes back.
    shuffle : `bool`
        Whether shards, and the sentences in each, come in random order (numpy's global random state).
    max_characters_per_token : `int`
        Must be the model's.
    """

    def __init__(
        self,
        reader: BiLmTextReader,
        data_path: str,
        batch_size: int = 128,
        unroll_steps: int = 20,
        shuffle: bool = True,
        max_characters_per_token: int = MAX_CHARACTERS_PER_TOKEN,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("unroll_steps", unroll_steps)):
            if value < 1:
                raise ConfigurationError(f"bilm_stream: {name} must be at least 1, not {value}")
        self._reader = reader
        self._data_path = data_path
        self._shards = reader.shards(data_path)
        self._batch_size = batch_size
        self._unroll_steps = unroll_steps
        self._shuffle = shuffle
        self._max_characters = max_characters_per_token
        self._types: WordTypes | None = None
        self._device: torch.device | None = None
        self._length: int | None = None

    @overrides
    def __len__(self) -> int:
        """The number of batches in a pass, not counting the few at the end in which only some rows go on."""
        if self._length is None:
            # A sentence of n words has n + 1 targets.
            targets = sum(len(words) + 1 for shard in self._shards for words in self._reader.sentences(shard))
            self._length = math.ceil(targets / (self._batch_size * self._unroll_steps))
        return self._length

    @overrides
    def iter_instances(self) -> Iterator[Instance]:
        return iter(self._reader.read(self._data_path))

    @overrides
    def index_with(self, vocab: Vocabulary) -> None:
        self._types = WordTypes(vocab, self._reader.namespace, self._max_characters)

    @overrides
    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    @overrides
    def __iter__(self) -> Iterator[TensorDict]:
        if self._types is None:
            raise ConfigurationError("bilm_stream: index_with(vocab) must come before the first batch")
        if is_distributed():
            raise ConfigurationError("bilm_stream: streams are not divided among processes; train in one")
        empty = np.full((self._batch_size, self._unroll_steps), NOTHING, dtype=np.int64)
        windows = zip_longest(
            self._windows(reverse=False), self._windows(reverse=True), fillvalue=(empty, empty)
        )
        for number, directions in enumerate(windows):
            batch = self._batch(*directions)
            if self._device is not None:
                batch = move_to_device(batch, self._device)
            yield {**batch, "stream_starts": number == 0}

    def _windows(self, reverse: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return stream_windows(self._sentences(reverse), self._batch_size, self._unroll_steps, NOTHING)

    def _sentences(self, reverse: bool) -> Iterator[np.ndarray]:
        """All sentences of a pass as types, with their boundaries; reversed for the backward direction."""
        for shard in self._in_order(self._shards):
            sentences = [
                self._types.of([BEGIN_SENTENCE_TOKEN, *words, END_SENTENCE_TOKEN])
                for words in self._reader.sentences(shard)
            ]
            for sentence in self._in_order(sentences):
                yield sentence[::-1] if reverse else sentence

    def _in_order(self, items: list) -> Iterator:
        return (items[i] for i in (np.random.permutation(len(items)) if self._shuffle else range(len(items))))

    def _batch(
        self, forward: tuple[np.ndarray, np.ndarray], backward: tuple[np.ndarray, np.ndarray]
    ) -> TensorDict:
        (forward_inputs, forward_targets), (backward_inputs, backward_targets) = forward, backward
        inputs = np.stack([forward_inputs, backward_inputs])
        types, places = np.unique(inputs, return_inverse=True)
        forward_places, backward_places = places.reshape(inputs.shape)
        arrays = {
            "character_ids": self._types.character_ids(types),
            "forward_types": forward_places,
            "forward_targets": self._types.vocabulary_numbers(forward_targets),
            "backward_types": backward_places,
            "backward_targets": self._types.vocabulary_numbers(backward_targets),
        }
        return {name: torch.from_numpy(array) for name, array in arrays.items()}
