"""Sentences as numpy arrays, as AllenNLP before 1.0 gave them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, load_bilm, sentences_to_character_ids
from elmo_plugin.bilm.io import MODELS

OPTIONS_FILE, WEIGHT_FILE = MODELS["original"]


def batch_to_ids(batch: Sequence[Sequence[str]]) -> Tensor:
    """
    # Parameters

    batch : `Sequence[Sequence[str]]`
        The words of each sentence.

    # Returns

    `Tensor`
        The characters of the words, for `Elmo`: shape (sentences, words of the longest, 50), int64, zeros at
        padding.
    """
    return torch.from_numpy(sentences_to_character_ids(batch)).long()


class ElmoEmbedder:
    """
    Takes the arguments of AllenNLP 0.9's class of this name, and gives a sentence the same vectors each time.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs. By default the original model, downloaded once.
    cuda_device : `int`
        The number of a GPU, or -1 for the CPU.
    bilm : `str | Mapping[str, str] | BiLm | None`
        In place of the files: whatever `load_bilm` takes, such as "tiny", or a biLM.
    precision : `str`
        In which numbers the biLM computes: "float32", "bfloat16" or "int8".

    Raises `BiLmError` where the biLM cannot be loaded.
    """

    def __init__(
        self,
        options_file: str | PathLike[str] = OPTIONS_FILE,
        weight_file: str | PathLike[str] = WEIGHT_FILE,
        cuda_device: int = -1,
        *,
        bilm: str | Mapping[str, str] | BiLm | None = None,
        precision: str = "float32",
    ) -> None:
        if bilm is None:
            bilm = {"options": str(options_file), "weights": str(weight_file)}
        self.bilm = bilm if isinstance(bilm, BiLm) else load_bilm(bilm, precision)
        if cuda_device >= 0:
            self.bilm.to(f"cuda:{cuda_device}")

    def embed_sentence(self, sentence: Sequence[str]) -> np.ndarray:
        """
        # Returns

        `numpy.ndarray`
            The vectors of the words in all layers, shape (num_layers, words, output_dim), float32.
        """
        return self.embed_batch([sentence])[0]

    def embed_batch(self, batch: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Returns what `embed_sentence` gives, for each sentence; some may be empty."""
        return [vectors.cpu().numpy() for vectors in self.bilm.embed(batch)]

    def embed_sentences(
        self, sentences: Iterable[Sequence[str]], batch_size: int = 64
    ) -> Iterator[np.ndarray]:
        """Yields what `embed_sentence` gives for each sentence, with one batch of them in memory."""
        rest = iter(sentences)
        while batch := list(islice(rest, batch_size)):
            yield from self.embed_batch(batch)
