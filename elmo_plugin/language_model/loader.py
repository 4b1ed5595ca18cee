"""Batches for a biLM: shuffled streams to train on, blocks of text in its order to evaluate on."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, DatasetReader, Instance, TensorDict, Vocabulary
from allennlp.nn.util import move_to_device
from overrides import overrides
from torch import distributed
from torch.utils import data

from elmo_plugin.bilm import MAX_CHARACTERS_PER_TOKEN, BiLmError
from elmo_plugin.common.errors import as_configuration_error, check_at_least
from elmo_plugin.common.integers import ceil_div
from elmo_plugin.language_model.blocks import count_evaluation_windows, evaluation_windows
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.corpus import Corpus, find_shards, prepare_corpus
from elmo_plugin.language_model.vocabulary import (
    WORDS,
    CountedWords,
    check_order,
    check_vocabulary,
    vocabulary_fingerprint,
)
from elmo_plugin.language_model.windows import (
    StreamLayout,
    Window,
    batch_arrays,
    count_training_windows,
    training_windows,
)


@DatasetReader.register("bilm_text")
class BiLmTextReader(DatasetReader):
    """Stands for text in a configuration; the data loader `bilm_stream` reads it."""

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        raise ConfigurationError(
            "bilm_text: expected data_loader.type 'bilm_stream', which reads the text"
        )


def _check_option(option: str, value: int, least: int = 1) -> None:
    """Raises `ConfigurationError`, naming the option, if its value is too small."""
    check_at_least(f"bilm_stream: {option}", value, least=least, error=ConfigurationError)


@DataLoader.register("bilm_stream")
class BiLmStreamLoader(DataLoader):
    """
    Text for a biLM, tokenized once into files of a cache and read from there, so that only its
    distinct words are in memory. Each direction's language model reads another text.

    With `shuffle`, to train: each row of a batch is a stream of sentences in random order that
    continues in the next batch. An epoch has every sentence once in each direction, in a new order.
    In its last batches, rows that have run out of sentences are empty.

    Without `shuffle`, to evaluate: the text in its order is cut into blocks of sentences. Each is
    read from the zero state, so that no other option changes the predictions.

    In distributed training each process has `batch_size` rows. The global random states are
    neither used nor changed.

    # Parameters

    data_path : `str`
        A file or a pattern such as `corpus/train-*.txt.gz`: UTF-8 text, plain, `.gz` or `.zst`,
        with one sentence per line, its words separated by white space.
    batch_size : `int`
        The number of streams or blocks that are read in parallel.
    unroll_steps : `int`
        The number of words of each in a batch, the length of back-propagation.
    shuffle : `bool`
        Whether to train on streams, or to evaluate on blocks.
    seed : `int`
        The seed of the order in streams.
    block_words : `int`
        A block is the fewest sentences that have at least this number of words. With 1, it is a
        single sentence. Streams start from the zero state after this many words.
    num_workers : `int`
        The number of processes that prepare batches; 0 for this one. The batches are the same.
    max_characters_per_token : `int`
        Must be the model's.
    """

    def __init__(
        self,
        data_path: str,
        batch_size: int = 128,
        unroll_steps: int = 20,
        shuffle: bool = True,
        seed: int = 13370,
        block_words: int = 1000,
        num_workers: int = 0,
        max_characters_per_token: int = MAX_CHARACTERS_PER_TOKEN,
    ) -> None:
        _check_option("batch_size", batch_size)
        _check_option("unroll_steps", unroll_steps)
        _check_option("seed", seed, least=0)
        _check_option("block_words", block_words)
        _check_option("num_workers", num_workers, least=0)
        _check_option("max_characters_per_token", max_characters_per_token, least=3)
        self._data_path = data_path
        with as_configuration_error():
            self._shards = find_shards(data_path)
        self._batch_size = batch_size
        self._unroll_steps = unroll_steps
        self._shuffle = shuffle
        self._seed = seed
        self._block_words = block_words
        self._num_workers = num_workers
        self._max_characters = max_characters_per_token
        self._vocab: Vocabulary | None = None
        self._device: torch.device | None = None
        self._indexed: IndexedCorpus | None = None  # see `_indexed_corpus`
        # The number of batches of each epoch for which `__len__` has counted them.
        self._counted_batches: dict[int, int] = {}
        # The number of batches of each finished epoch.
        self._finished_epoch_sizes: list[int] = []
        # If this loader resumes after another one: the number of batches of each epoch that the
        # other one finished, and how many batches of the next epoch it yielded.
        self._resumed_epoch_sizes: list[int] = []
        self._resumed_batches = 0

    @cached_property
    def _corpus(self) -> Corpus:
        """The text. The first access tokenizes it, unless it is in the cache."""
        with as_configuration_error():
            return prepare_corpus(self._shards, num_processes=max(1, self._num_workers))

    @property
    def _layout(self) -> StreamLayout:
        """How text is divided into rows, and the rows of this process."""
        layout = StreamLayout(self._batch_size, self._unroll_steps)
        if not is_distributed():
            return layout
        return layout._replace(
            process=distributed.get_rank(), processes=distributed.get_world_size()
        )

    @property
    def fingerprint(self) -> dict[str, str]:
        """What must be equal to resume: the text, its order, and how it is cut into batches."""
        fingerprint = {
            "text": self._corpus.fingerprint,
            "vocabulary": vocabulary_fingerprint(self._known_vocab),
            "batch_size": str(self._batch_size),
            "unroll_steps": str(self._unroll_steps),
            "seed": str(self._seed),
            "processes": str(self._layout.processes),
        }
        if not self._shuffle:
            # The size of blocks decides which sentences are in a batch. For streams it only decides
            # how often they start from the zero state.
            fingerprint["order"] = f"blocks of {self._block_words} words"
        return fingerprint

    @overrides
    def __len__(self) -> int:
        """
        Returns the number of batches in the next epoch.

        Epochs of streams differ a little in this number, because some streams end later than
        others. Before a trainer takes the loader, AllenNLP asks for one number for all epochs, for
        the schedule of a learning rate. Then the answer is the number if all streams ended at the
        same time.
        """
        layout = self._layout
        if not self._shuffle:
            return count_evaluation_windows(self._indexed_corpus, layout, self._block_words)
        has_trainer = self._device is not None  # a trainer sets the device
        if not has_trainer:
            targets = self._corpus.tokens + self._corpus.sentences  # n + 1 in a sentence of n words
            return ceil_div(targets, layout.rows * layout.unroll_steps)
        epoch = len(self._finished_epoch_sizes)
        if epoch not in self._counted_batches:
            num_batches = count_training_windows(self._corpus, layout, self._seed, epoch)
            self._counted_batches[epoch] = num_batches
        return self._counted_batches[epoch]

    @overrides
    def iter_instances(self) -> Iterator[Instance]:
        """Yields one instance, with the counts of all words, to make a vocabulary from."""
        yield CountedWords(self._corpus)

    @overrides
    def index_with(self, vocab: Vocabulary) -> None:
        check_vocabulary(vocab)
        self._vocab = vocab
        self._indexed = None  # it may have been made with another vocabulary

    @overrides
    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def check_order(self, vocab: Vocabulary) -> None:
        """
        Raises `ConfigurationError` if the words of a vocabulary are not about in the order of their
        frequency in this text.
        """
        check_order(vocab, self._corpus)

    def progress(self) -> list[int]:
        """Returns the number of batches of each finished epoch."""
        return list(self._finished_epoch_sizes)

    def resume(self, finished_epoch_sizes: list[int], batches: int) -> None:
        """
        Continues where another loader with the same fingerprint stopped. `finished_epoch_sizes` is
        its `progress()`, and `batches` is how many batches of the next epoch it has yielded.
        Iterating begins with the first epoch again, but yields an empty dictionary in place of each
        batch that the other loader has yielded.
        """
        self._resumed_epoch_sizes = list(finished_epoch_sizes)
        self._resumed_batches = batches

    @overrides
    def __iter__(self) -> Iterator[TensorDict]:
        epoch = len(self._finished_epoch_sizes)
        num_batches = self._num_yielded_before(epoch)
        # A trainer that resumes counts through the batches of the training before. It does not look
        # into them, so they are not prepared again.
        for _ in range(num_batches):
            yield {}
        was_finished_before = epoch < len(self._resumed_epoch_sizes)
        if not was_finished_before:
            new_batches = self._epoch_batches(epoch, first=num_batches)
            for batch in _load_batches(new_batches, self._num_workers):
                num_batches += 1
                if self._device is not None:
                    batch = move_to_device(batch, self._device)
                yield batch
        self._finished_epoch_sizes.append(num_batches)

    def _num_yielded_before(self, epoch: int) -> int:
        """
        Returns how many batches of an epoch were yielded by the loader from which this one resumes.
        """
        num_finished = len(self._resumed_epoch_sizes)
        if epoch < num_finished:
            return self._resumed_epoch_sizes[epoch]
        if epoch == num_finished:
            return self._resumed_batches
        return 0

    def _epoch_batches(self, epoch: int, first: int) -> "_EpochBatches":
        """
        Returns the batches of an epoch from the one with index `first` on. Raises
        `ConfigurationError` if the text has too few sentences to train on.
        """
        corpus = self._indexed_corpus
        layout = self._layout
        windows: Callable[[], Iterable[Window]]
        if not self._shuffle:
            # Windows over blocks are quick to make, so the ones before `first` are made and left
            # out.
            windows = partial(evaluation_windows, corpus, layout, self._block_words)
            return _EpochBatches(corpus, windows, num_left_out=first)
        if self._corpus.sentences < layout.rows:
            raise ConfigurationError(
                f"bilm_stream: {self._data_path} has {self._corpus.sentences} sentences, fewer "
                f"than the {layout.rows} streams that all processes together read in parallel; "
                "choose a smaller batch_size"
            )
        windows = partial(
            training_windows, corpus, layout, self._block_words, self._seed, epoch, first
        )
        return _EpochBatches(corpus, windows)

    @property
    def _known_vocab(self) -> Vocabulary:
        """The vocabulary. Raises `ConfigurationError` if `index_with` has not been called."""
        if self._vocab is None:
            raise ConfigurationError(
                "bilm_stream: index_with(vocab) must come before the first batch"
            )
        return self._vocab

    @property
    def _indexed_corpus(self) -> IndexedCorpus:
        """The text as a model with the vocabulary reads it. The first access indexes it."""
        if self._indexed is None:
            vocab = self._known_vocab
            number_of_word = vocab.get_token_to_index_vocabulary(WORDS)
            unknown_number = number_of_word[vocab._oov_token]
            with as_configuration_error():
                self._indexed = IndexedCorpus(
                    self._corpus.chunks, number_of_word, unknown_number, self._max_characters
                )
        return self._indexed


@dataclass(frozen=True)
class _EpochBatches(data.IterableDataset):
    """
    The batches of one epoch as numpy arrays. Worker processes of torch's data loader take turns: of
    3 workers, the first one yields the batches 0, 3, 6 and so on.

    A `BiLmError` is yielded in place of a batch, and not raised, because torch would change its
    message.
    """

    corpus: IndexedCorpus
    windows: Callable[[], Iterable[Window]]  # returns the window of each batch
    num_left_out: int = 0  # how many batches to leave out at the beginning

    def __iter__(self) -> Iterator[dict[str, Any] | BiLmError]:
        first = self.num_left_out
        step = 1
        worker = data.get_worker_info()
        if worker is not None:
            first += worker.id
            step = worker.num_workers
        try:
            for window in islice(self.windows(), first, None, step):
                batch: dict[str, Any] = dict(batch_arrays(self.corpus, window))
                batch["stream_starts"] = window.starts_at_zero
                yield batch
        except BiLmError as error:
            yield error


def _load_batches(batches: _EpochBatches, num_workers: int) -> Iterator[TensorDict]:
    """
    Yields the batches as tensors. They are made in `num_workers` processes, or in this one if the
    number is 0. The number changes neither the batches nor their order. Raises
    `ConfigurationError` if the text cannot be read.
    """
    loader = data.DataLoader(
        batches,
        batch_size=None,  # they are batches already
        num_workers=num_workers,
        collate_fn=_unchanged,
        generator=torch.Generator(),  # without it, torch would draw from the global random state
    )
    for batch in loader:
        if isinstance(batch, BiLmError):
            raise ConfigurationError(str(batch))
        yield data.default_convert(batch)


def _unchanged(batch: Any) -> Any:
    """
    Returns the arrays of a batch as they are. By default torch would turn them into tensors in the
    worker, and each tensor that comes from a worker keeps a file open; arrays come through a pipe.
    """
    return batch
