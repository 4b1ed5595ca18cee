"""Lines to words and their vectors, in the layout that was asked for."""

from hashlib import blake2b
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import BiLm, BiLmError, load_bilm
from elmo_plugin.embed_files.settings import Settings
from elmo_plugin.embed_files.text import Passage, make_tokenizer
from elmo_plugin.embedding import ScalarMix, chosen_layers, load_mixes

PASSAGE_VECTOR_BYTES = 2**27  # that the layers of a passage take, about
_BYTES_OF_WORD = 4  # of text, the space after it included; in most languages it has more


class AllLayers(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers


class TopLayer(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers[-1]


class AverageOfLayers(nn.Module):
    def forward(self, layers: Tensor) -> Tensor:
        return layers.mean(dim=0)


_LAYOUTS = {"all": AllLayers, "top": TopLayer, "average": AverageOfLayers}


class Mixture(nn.Module):
    """
    Mixes layers as `ElmoRepresentations` does, without dropout.

    # Parameters

    layer_numbers : `list[int]`
        Which layers are mixed.
    layer_norm : `bool`
        Whether each vector of each layer is normalised before.
    scalar_mix : `ScalarMix`
        Weighs them.
    """

    def __init__(self, layer_numbers: list[int], layer_norm: bool, scalar_mix: ScalarMix) -> None:
        super().__init__()
        self.layer_numbers = layer_numbers
        self.layer_norm = layer_norm
        self.scalar_mix = scalar_mix

    def extra_repr(self) -> str:
        return f"layer_numbers={self.layer_numbers}, layer_norm={self.layer_norm}"

    def forward(self, layers: Tensor) -> Tensor:
        """Returns shape (words, dim), from (num_layers, words, dim)."""
        return self.scalar_mix(chosen_layers(layers, self.layer_numbers, self.layer_norm))


def load_mixture(archive: str, placement: str | None, precision: str) -> tuple[BiLm, Mixture]:
    """
    Loads a task model for its biLM and the mixture that it has learned, frozen and on the CPU. `archive` is a
    `model.tar.gz`, or the directory of a training; for `placement` and `precision` see `Settings`.

    Raises `BiLmError` where the model has no ELMo, or not at that place.
    """
    mixes = load_mixes(archive)
    names = [mix.placement for mix in mixes]
    model_has = f"archive {archive}: its model has"
    if placement is None and len(names) > 1:
        places = ", ".join(names)
        raise BiLmError(f"{model_has} ELMo at several places, {places}; name one as --placement")
    if placement not in (None, *names):
        raise BiLmError(f"{model_has} no ELMo at {placement!r}, but at {', '.join(names)}")
    _, elmo, scalar_mix = mixes[0 if placement is None else names.index(placement)]
    bilm = elmo.bilm.float().eval().requires_grad_(False)
    bilm.precision = precision
    return bilm, Mixture(elmo.layer_numbers, elmo.layer_norm, scalar_mix.requires_grad_(False))


class Embedder:
    """
    Tokenises and embeds lines of text with a frozen biLM.

    # Parameters

    bilm : `BiLm`
        Frozen.
    layout : `nn.Module`
        From layers, shape (num_layers, words, dim), to what is written of them, shape (..., words, dim).
    settings : `Settings`
        The tokenizer, how sentences are put into batches, and the type of the vectors.
    """

    def __init__(self, bilm: BiLm, layout: nn.Module, settings: Settings) -> None:
        bilm.max_batch_tokens = settings.max_batch_tokens
        self._bilm, self._layout, self._settings = bilm, layout, settings
        self._tokenize = make_tokenizer(settings.tokenizer, settings.language)

    @classmethod
    def load(cls, settings: Settings, device: torch.device | str = "cpu") -> "Embedder":
        """Raises `BiLmError` where the settings name no usable biLM."""
        layout: nn.Module
        if settings.layout == "mix":
            bilm, layout = load_mixture(str(settings.bilm), settings.placement, settings.precision)
        else:
            bilm, layout = load_bilm(settings.bilm, settings.precision), _LAYOUTS[settings.layout]()
        return cls(bilm.to(device), layout.to(device), settings)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of what is written of a word."""
        layers = (self._bilm.num_layers,) if self._settings.layout == "all" else ()
        return (*layers, self._bilm.output_dim)

    @property
    def passage_bytes(self) -> int:
        """How much text is embedded at a time, so that its vectors are about `PASSAGE_VECTOR_BYTES`."""
        bytes_of_vectors = 4 * self._bilm.num_layers * self._bilm.output_dim
        return max(PASSAGE_VECTOR_BYTES * _BYTES_OF_WORD // bytes_of_vectors, 1)

    def digest(self) -> str:
        """Returns a hash of the biLM's content, and of what a task has learned of the layout."""
        learned = {name: tensor.tolist() for name, tensor in self._layout.state_dict().items()}
        of_layout = f"{self._layout} {learned}".encode()
        return blake2b(self._bilm.digest() + of_layout, digest_size=16).hexdigest()

    @torch.no_grad()
    def embed(self, passage: Passage) -> tuple[list[list[str]], np.ndarray]:
        """
        Returns the same bits for the same passage, whatever was embedded before.

        # Parameters

        passage : `Passage`
            Its sentences are tokenised and embedded.

        # Returns

        `list[list[str]]`
            The words of each sentence.
        `np.ndarray`
            The vectors of all words, shape (words, num_layers, dim) or (words, dim).

        Raises `BiLmError`, naming the line, where a sentence is too long, or its vectors have numbers that
        are infinite or none in the type of the settings.
        """
        self._bilm.clear_type_cache()  # which were encoded in other batches, that is with other rounding
        sentences = [self._tokenize(line) for line in passage.sentences]
        lengths = [len(sentence) for sentence in sentences]
        for number, length in enumerate(lengths):
            if length > self._settings.max_words:
                raise BiLmError(
                    f"{passage.location(number)}: the sentence has {length:,} words, more than "
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
                    raise BiLmError(self._not_finite(layers, passage.location(number)))
                vectors[ends[number] - len(rows) : ends[number]] = rows
        return sentences, vectors

    def _not_finite(self, layers: Tensor, location: str) -> str:
        most = layers.abs().max().item()
        if np.isfinite(most) and self._settings.dtype == "float16":
            return f"{location}: the biLM gives {most:g}, which float16 cannot hold: give --dtype float32"
        return f"{location}: the biLM gives numbers that are infinite or none"
