"""`ElmoEmbedder` of AllenNLP before 1.0: sentences to arrays and to files of arrays."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Protocol, TextIO

import h5py
import numpy as np
import torch
from torch import Tensor

from elmo_plugin.allennlp_api.bilm import AllenNlpBiLm, ElmoBiLm
from elmo_plugin.bilm import BiLm, BiLmError, check_words, sentences_to_character_ids
from elmo_plugin.bilm.io import MODELS
from elmo_plugin.bilm.precision import get_precision
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.formats.hdf5_files import new_hdf5

OPTIONS_FILE, WEIGHT_FILE = MODELS["original"]

# From the vectors of a sentence, shape (layers, words, dim), to what is written.
_LAYERS_WRITTEN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all": lambda vectors: vectors,
    "top": lambda vectors: vectors[-1],
    "average": lambda vectors: vectors.mean(axis=0),
}
INDEX = "sentence_to_index"


class Token(Protocol):
    """A word of spaCy's or AllenNLP's."""

    @property
    def text(self) -> str: ...


Word = str | Token


def texts(words: Sequence[Word]) -> list[str]:
    """Returns the text of each word. Raises `BiLmError` for text that is not split into words."""
    if isinstance(words, str):
        check_words(words)
    return [word if isinstance(word, str) else word.text for word in words]


def batch_to_ids(batch: Sequence[Sequence[Word]]) -> Tensor:
    """
    # Parameters

    batch : `Sequence[Sequence[Word]]`
        The words of each sentence: strings, or the tokens of spaCy and AllenNLP.

    # Returns

    `Tensor`
        The characters of the words, for `Elmo`: shape (sentences, words of the longest, 50), int64, zeros at
        padding.
    """
    return torch.from_numpy(sentences_to_character_ids([texts(words) for words in batch])).long()


class ElmoEmbedder:
    """
    Takes the arguments of AllenNLP 0.9's class of this name. A sentence has the same vectors each time.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs. By default the original model, downloaded once.
    cuda_device : `int`
        The number of a GPU, or -1 for the CPU.
    bilm : `str | Mapping[str, str] | BiLm | None`
        Instead of the files: a source of `BiLm.from_pretrained`, such as "tiny", or a biLM.
    precision : `str`, optional
        The precision of the biLM: "float32", "bfloat16" or "int8". By default that of `bilm`, or "float32".

    The attribute `elmo_bilm` is the biLM as AllenNLP's class has it.

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
    ) -> None:
        if bilm is None:
            bilm = {"options": str(options_file), "weights": str(weight_file)}
        loaded = AllenNlpBiLm.from_source(bilm, precision or "float32")
        if precision is not None:
            loaded.precision = get_precision(precision).name
        self.elmo_bilm = ElmoBiLm(loaded)
        self.cuda_device = cuda_device
        if cuda_device >= 0:
            self.elmo_bilm.to(f"cuda:{cuda_device}")

    @property
    def bilm(self) -> AllenNlpBiLm:
        return self.elmo_bilm.bilm

    def batch_to_embeddings(self, batch: Sequence[Sequence[Word]]) -> tuple[Tensor, Tensor]:
        """
        # Parameters

        batch : `Sequence[Sequence[Word]]`
            The words of each sentence.

        # Returns

        `tuple[Tensor, Tensor]`
            The vectors, shape (batch, num_layers, time, output_dim), zeros at padding; and the mask, shape
            (batch, time).
        """
        with torch.no_grad():
            layers, mask, _ = self.elmo_bilm.run(batch_to_ids(batch).to(self.bilm.boundaries.device))
        return layers.transpose(0, 1).clone(), mask

    def embed_sentence(self, sentence: Sequence[Word]) -> np.ndarray:
        """
        # Returns

        `numpy.ndarray`
            The vectors of the words in all layers, shape (num_layers, words, output_dim), float32.
        """
        return self.embed_batch([sentence])[0]

    def embed_batch(self, batch: Sequence[Sequence[Word]]) -> list[np.ndarray]:
        """Returns the vectors of each sentence, see `embed_sentence`. Sentences may be empty."""
        self.bilm.notice_changes()
        return [vectors.cpu().numpy() for vectors in self.bilm.embed([texts(words) for words in batch])]

    def embed_sentences(
        self, sentences: Iterable[Sequence[Word]], batch_size: int = 64
    ) -> Iterator[np.ndarray]:
        """Yields the vectors of each sentence, see `embed_sentence`, with one batch in memory."""
        rest = iter(sentences)
        while batch := list(islice(rest, batch_size)):
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
        Embeds a file, and closes it: writes a float32 dataset for each sentence. The output is written
        completely or not at all. `allennlp elmo-embed` does more, and is faster.

        # Parameters

        input_file : `TextIO`
            A sentence a line, its words separated by white space.
        output_file_path : `str | PathLike`
            The HDF5 file.
        output_format : `str`
            Whether to write "all" layers, the "top" layer, or their "average".
        batch_size : `int`
            How many sentences are computed together.
        forget_sentences : `bool`
            Whether to leave out the dataset "sentence_to_index", a JSON string with the key of each sentence.
        use_sentence_keys : `bool`
            Whether the key of a sentence is the sentence itself, not its number from 0. The index is then
            left out.

        Raises `BiLmError` if a sentence is empty, or cannot be the key.
        """
        if output_format not in _LAYERS_WRITTEN:
            formats = ", ".join(_LAYERS_WRITTEN)
            raise BiLmError(f"output_format must be one of {formats}, not {output_format!r}")
        with input_file:
            sentences = [line.strip() for line in input_file]
        empty = [number for number, sentence in enumerate(sentences) if not sentence]
        if empty:
            raise BiLmError(f"there are empty lines, which have no vectors: numbers {empty}, from 0 on")
        keys = sentences if use_sentence_keys else [str(number) for number in range(len(sentences))]
        if len(set(keys)) < len(keys):
            raise BiLmError("a sentence occurs twice, so sentences cannot be the keys")
        all_vectors = self.embed_sentences((sentence.split() for sentence in sentences), batch_size)
        with atomic_write(output_file_path) as temporary, new_hdf5(temporary) as (file, target):
            for key, vectors in zip(keys, all_vectors, strict=True):
                if target.error is not None:
                    raise target.error
                layers = _LAYERS_WRITTEN[output_format](vectors)
                try:
                    file.create_dataset(key, data=layers, dtype="float32")
                except (TypeError, ValueError):  # ".", or "a/b" where "a" is a key; OSError is the disk's
                    raise BiLmError(f"HDF5 cannot have the sentence {key!r} as a key") from None
            if not forget_sentences and not use_sentence_keys:
                index = json.dumps(dict(zip(sentences, keys, strict=True)))
                file.create_dataset(INDEX, (1,), dtype=h5py.string_dtype())[0] = index
