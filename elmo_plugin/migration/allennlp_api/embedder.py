"""`ElmoEmbedder` of AllenNLP before 1.0: sentences to arrays and to files of arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TextIO

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError, select_layers, sentences_to_character_ids
from elmo_plugin.bilm.io import MODELS
from elmo_plugin.common.errors import check_at_least, check_choice
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.formats.hdf5_files import new_hdf5
from elmo_plugin.common.process import get_device
from elmo_plugin.migration.allennlp_api.elmo_bilm import ElmoBiLm

OPTIONS_FILE, WEIGHT_FILE = MODELS["original"]

_LAYERS = {"all": "all", "top": "top", "average": "mean"}  # AllenNLP's names and ours
_INDEX = "sentence_to_index"
Word = Any  # a string, or a token of spaCy's or AllenNLP's with a `text`


def batch_to_ids(batch: Sequence[Sequence[Word]]) -> Tensor:
    """
    Returns the character ids of sentences, the input of `Elmo`: int64, zeros at padding, of shape
    (sentences, words of the longest sentence, 50). Words are strings, or tokens of spaCy or
    AllenNLP.
    """
    return torch.from_numpy(sentences_to_character_ids(batch)).long()


class ElmoEmbedder:
    """
    Takes the arguments of AllenNLP 0.9's class of this name. A sentence has the same vectors each
    time. If `stateful` is true, they depend on the batches before it, as in AllenNLP 0.9.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs. By default the original model, downloaded
        once.
    cuda_device : `int`
        The number of a GPU, or -1 for the CPU.
    bilm : `str | Mapping[str, str] | BiLm | None`
        Instead of the files: a source of `BiLm.from_pretrained`, such as "tiny", or a biLM
        (copied).
    precision : `str`, optional
        The precision of the biLM: "float32", "bfloat16" or "int8". By default as in `bilm`, or
        "float32".
    stateful : `bool`
        Whether the LSTMs continue, row by row, from their state after the last batch, so that the
        same batches in the same order have the vectors of an old run.

    The attribute `elmo_bilm` is the biLM with the interface of AllenNLP's class.

    Raises `BiLmError` if the biLM cannot be loaded.
    """

    def __init__(
        self,
        options_file: str | PathLike[str] = OPTIONS_FILE,
        weight_file: str | PathLike[str] = WEIGHT_FILE,
        cuda_device: int = -1,
        *,
        bilm: str | Mapping[str, str] | BiLm | None = None,
        precision: str | None = None,
        stateful: bool = False,
    ) -> None:
        if bilm is None:
            bilm = {"options": str(options_file), "weights": str(weight_file)}
        self.elmo_bilm = ElmoBiLm(bilm, precision=precision, stateful=stateful)
        self.cuda_device = cuda_device
        if cuda_device >= 0:
            self.elmo_bilm.to(get_device(f"cuda:{cuda_device}"))

    @property
    def bilm(self) -> BiLm:
        """The biLM that this runs."""
        return self.elmo_bilm.bilm

    def reset_state(self) -> None:
        """Makes a stateful biLM start the next batch from zero."""
        self.elmo_bilm.elmo.reset_state()

    def batch_to_embeddings(self, batch: Sequence[Sequence[Word]]) -> tuple[Tensor, Tensor]:
        """
        Returns vectors, (batch, num_layers, time, output_dim), zeros at padding, and the mask.
        """
        return self._embed_character_ids(self.bilm.character_ids(batch))

    @torch.no_grad()
    def _embed_character_ids(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Returns what `batch_to_embeddings` returns, from character ids."""
        layers, mask = self.elmo_bilm.run(character_ids)
        # As in AllenNLP, callers get a copy, to which they may write.
        return layers.transpose(0, 1).clone(), mask

    def embed_sentence(self, sentence: Sequence[Word]) -> np.ndarray:
        """
        Returns the vectors of the words in all layers, shape (num_layers, words, output_dim),
        float32.
        """
        (vectors,) = self.embed_batch([sentence])
        return vectors

    def embed_batch(self, batch: Sequence[Sequence[Word]]) -> list[np.ndarray]:
        """
        Returns the vectors of each sentence. Sentences may be empty. A batch without any word
        leaves the state of a stateful biLM unchanged.
        """
        if self.elmo_bilm.elmo.stateful:
            return self._embed_from_state(batch)
        return [vectors.cpu().numpy() for vectors in self.bilm.embed(batch)]

    def _embed_from_state(self, batch: Sequence[Sequence[Word]]) -> list[np.ndarray]:
        """Embeds a batch as `embed_batch` does, from the state after the previous batch."""
        character_ids = self.bilm.character_ids(batch)
        num_sentences, longest, _ = character_ids.shape
        if longest == 0:  # no LSTM runs, so the state is unchanged
            shape = (self.elmo_bilm.num_layers, 0, self.bilm.output_dim)
            return [np.zeros(shape, np.float32) for _ in range(num_sentences)]
        padded, mask = self._embed_character_ids(character_ids)
        lengths = mask.sum(dim=1).tolist()
        embedded = []
        for vectors, length in zip(padded, lengths, strict=True):
            # A copy, because a view would keep the vectors of the whole batch in memory.
            embedded.append(vectors[:, :length].clone().cpu().numpy())
        return embedded

    def embed_sentences(
        self, sentences: Iterable[Sequence[Word]], batch_size: int = 64
    ) -> Iterator[np.ndarray]:
        """Yields the vectors of each sentence, with one batch in memory."""
        check_at_least("batch_size", batch_size, least=1)
        batch = []
        for sentence in sentences:
            batch.append(sentence)
            if len(batch) == batch_size:
                yield from self.embed_batch(batch)
                batch = []
        if batch:
            yield from self.embed_batch(batch)

    def embed_file(
        self,
        input_file: TextIO,
        output_file_path: str | PathLike[str],
        output_format: str = "all",
        batch_size: int = 64,
        forget_sentences: bool = False,
        use_sentence_keys: bool = False,
    ) -> None:
        """
        Embeds a file, and closes it: writes a float32 dataset for each sentence. The output is
        written completely or not at all. `elmo embed` does more, and is faster.

        # Parameters

        input_file : `TextIO`
            One sentence per line, its words separated by white space.
        output_file_path : `str | PathLike`
            The HDF5 file.
        output_format : `str`
            Whether to write "all" layers, the "top" layer, or their "average".
        batch_size : `int`
            The number of sentences that are computed together.
        forget_sentences : `bool`
            Whether to leave out the dataset "sentence_to_index", a JSON string with the key of each
            sentence.
        use_sentence_keys : `bool`
            Whether the key of a sentence is the sentence itself, not its number from 0. The index
            is then left out.

        Raises `BiLmError` if a sentence is empty, or if HDF5 does not accept it as a key.
        """
        check_choice("output_format", output_format, _LAYERS)
        sentences = _read_sentences(input_file)
        keys = _keys_of_sentences(sentences, use_sentence_keys)
        words = (sentence.split() for sentence in sentences)
        with atomic_write(output_file_path) as temporary, new_hdf5(temporary) as (file, target):
            for key, vectors in zip(keys, self.embed_sentences(words, batch_size), strict=True):
                if target.error is not None:  # the disk is full, or the user has pressed Ctrl-C
                    raise target.error
                layers = select_layers(torch.from_numpy(vectors), _LAYERS[output_format])
                _add_vectors(file, key, layers)
            if not forget_sentences and not use_sentence_keys:
                _add_index(file, sentences, keys)


def _keys_of_sentences(sentences: list[str], use_sentence_keys: bool) -> list[str]:
    """
    Returns the name of each sentence's dataset: the sentence itself with `use_sentence_keys`, and
    otherwise its number. Raises `BiLmError` if two sentences would have the same name.
    """
    if not use_sentence_keys:
        return [str(number) for number in range(len(sentences))]
    if len(set(sentences)) < len(sentences):
        raise BiLmError("use_sentence_keys needs different sentences, but one occurs twice")
    return sentences


def _read_sentences(input_file: TextIO) -> list[str]:
    """
    Reads a file of one sentence per line, and closes it. Raises `BiLmError` if a line is empty.
    """
    sentences = []
    with input_file:
        for number, line in enumerate(input_file, start=1):
            sentence = line.strip()
            if not sentence:
                raise BiLmError(f"empty lines are not supported (line {number})")
            sentences.append(sentence)
    return sentences


def _add_index(file: h5py.File, sentences: list[str], keys: list[str]) -> None:
    """
    Writes the key of each sentence, in JSON. Of equal sentences, the last one's key is written.
    """
    index = dict(zip(sentences, keys, strict=True))
    dataset = file.create_dataset(_INDEX, (1,), dtype=h5py.string_dtype())
    dataset[0] = json.dumps(index)


def _add_vectors(file: h5py.File, key: str, vectors: Tensor) -> None:
    """
    Writes the vectors of one sentence. Raises `BiLmError` if HDF5 refuses the key. It refuses ".",
    for example, and "a/b" if "a" is another key.
    """
    try:
        file.create_dataset(key, data=vectors.numpy(), dtype="float32")
    # Not `OSError`, because it says that the file cannot be written, whatever the key is.
    except (TypeError, ValueError):
        raise BiLmError(f"HDF5 cannot have the sentence {key!r} as a key") from None
