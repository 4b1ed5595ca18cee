"""Tokenizes and embeds lines of text."""

from collections.abc import Callable
from hashlib import blake2b
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from elmo_plugin.archives import TrainedMix, load_mixes
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.embed_files.settings import EmbedSettings
from elmo_plugin.embed_files.text import Segment, make_tokenizer
from elmo_plugin.embedding import chosen_layers

SEGMENT_VECTOR_BYTES = 2**27  # for the layers of a segment, about
_BYTES_OF_WORD = 4  # of text, the space after it included; in most languages it has more


_LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "all": lambda layers: layers,
    "top": lambda layers: layers[-1],
    "average": lambda layers: layers.mean(dim=0),
}
"""From the layers of words, shape (num_layers, words, dim), to what is written. A trained mix is one more."""


def load_mix(archive: str, placement: str | None) -> TrainedMix:
    """
    Loads a task model, on the CPU, for the mix that it has learned. For the parameters see `EmbedSettings`.

    Raises `BiLmError` if the model has no ELMo, or none at that place.
    """
    mixes = load_mixes(archive)
    names = [mix.placement for mix in mixes]
    model_has = f"archive {archive}: its model has"
    if placement is None and len(names) > 1:
        places = ", ".join(names)
        raise BiLmError(f"{model_has} ELMo at several places, {places}; name one as --placement")
    if placement not in (None, *names):
        raise BiLmError(f"{model_has} no ELMo at {placement!r}, but at {', '.join(names)}")
    return mixes[0 if placement is None else names.index(placement)]


class Embedder:
    """
    Tokenizes and embeds lines of text with a frozen biLM.

    # Parameters

    settings : `EmbedSettings`
        The biLM, the tokenizer, how sentences are put into batches, and the type of the vectors.
    device : `torch.device | str`, optional (default = `"cpu"`)
        Where the biLM computes.

    Raises `BiLmError` if the settings name no usable biLM, mix or tokenizer.
    """

    def __init__(self, settings: EmbedSettings, device: torch.device | str = "cpu") -> None:
        self._settings = settings
        self._tokenize = make_tokenizer(settings.tokenizer, settings.language)
        if settings.layout == "mix":
            _, elmo, scalar_mix = load_mix(str(settings.bilm), settings.placement)
            scalar_mix.requires_grad_(False).to(device)
            self._bilm = elmo.bilm.float().eval().requires_grad_(False).to(device)
            self._bilm.precision = settings.precision
            weights = {name: tensor.tolist() for name, tensor in scalar_mix.state_dict().items()}
            self._mix_description = f"{elmo.layer_numbers} {elmo.layer_norm} {weights}"
            self._layout = lambda layers: scalar_mix(
                chosen_layers(layers, elmo.layer_numbers, elmo.layer_norm)
            )
        else:
            self._bilm = BiLm.from_pretrained(settings.bilm, settings.precision).to(device)
            self._mix_description = ""
            self._layout = _LAYOUTS[settings.layout]
        self._bilm.max_batch_tokens = settings.max_batch_tokens

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of a word's vectors in the output."""
        layers = (self._bilm.num_layers,) if self._settings.layout == "all" else ()
        return (*layers, self._bilm.output_dim)

    @property
    def segment_bytes(self) -> int:
        """The size of a segment of text whose vectors take about `SEGMENT_VECTOR_BYTES`."""
        bytes_of_vectors = 4 * self._bilm.num_layers * self._bilm.output_dim
        return max(SEGMENT_VECTOR_BYTES * _BYTES_OF_WORD // bytes_of_vectors, 1)

    def digest(self) -> str:
        """Returns a hash of the biLM's content, and of the mix."""
        return blake2b(self._bilm.digest() + self._mix_description.encode(), digest_size=16).hexdigest()

    @torch.no_grad()
    def embed(self, segment: Segment) -> tuple[list[list[str]], np.ndarray]:
        """
        Returns the same bits for the same segment, whatever was embedded before.

        # Parameters

        segment : `Segment`
            Its sentences are tokenized and embedded.

        # Returns

        `list[list[str]]`
            The words of each sentence.
        `np.ndarray`
            The vectors of all words, shape (words, num_layers, dim) or (words, dim).

        Raises `BiLmError`, naming the line, if a sentence is too long, or its vectors are NaN or infinite in
        the type of the settings.
        """
        self._bilm.clear_word_cache()  # as types of other batches are rounded otherwise
        sentences = [self._tokenize(line) for line in segment.sentences]
        lengths = [len(sentence) for sentence in sentences]
        for number, length in enumerate(lengths):
            if length > self._settings.max_words:
                raise BiLmError(
                    f"{segment.location(number)}: the sentence has {length:,} words, more than "
                    f"--max-words {self._settings.max_words}; is there a sentence on each line?"
                )
        ends = list(accumulate(lengths))
        vectors = np.empty((sum(lengths), *self.row_shape), self._settings.dtype)
        dtype = getattr(torch, self._settings.dtype)
        by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
        for start in range(0, len(by_length), self._settings.batch_size):
            batch = by_length[start : start + self._settings.batch_size]
            of_sentences = self._bilm.embed([sentences[number] for number in batch])
            for number, layers in zip(batch, of_sentences, strict=True):
                rows = self._layout(layers).movedim(-2, 0).to(dtype).cpu().numpy()
                if not np.isfinite(rows).all():
                    raise BiLmError(self._not_finite(layers, segment.location(number)))
                vectors[ends[number] - len(rows) : ends[number]] = rows
        return sentences, vectors

    def _not_finite(self, layers: Tensor, location: str) -> str:
        most = layers.abs().max().item()
        if np.isfinite(most) and self._settings.dtype == "float16":
            return f"{location}: the biLM gives {most:g}, which float16 cannot hold: give --dtype float32"
        return f"{location}: the biLM gives numbers that are NaN or infinite"
