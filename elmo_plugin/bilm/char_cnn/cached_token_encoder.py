"""The base of all token encoders: encodes each word of a batch once, and stores its vector if frozen."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.unique_rows import encode_unique_rows, unique_rows
from elmo_plugin.bilm.char_cnn.word_cache import WordCache
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.options import CharCnnOptions, LexiconCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision


class Highway(nn.Module):
    """
    `y = g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_c x + b_c)` (Srivastava et al., 2015), with
    the sign of the gate as in the published weight files.

    # Parameters

    dim : `int`
        The size of input and output.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.transform = nn.Linear(dim, dim)
        self.carry = nn.Linear(dim, dim)
        for linear in (self.transform, self.carry):
            nn.init.normal_(linear.weight, std=dim**-0.5)
        nn.init.zeros_(self.transform.bias)
        nn.init.constant_(self.carry.bias, -2.0)

    def forward(self, inputs: Tensor) -> Tensor:
        gate = torch.sigmoid(self.carry(inputs)).to(inputs.dtype)
        return torch.lerp(inputs, torch.relu(self.transform(inputs)).to(inputs.dtype), gate)

    def joined_weights(self) -> tuple[Tensor, Tensor]:
        """Returns weight and bias of one product for both: W_t above W_c, b_t before b_c."""
        weight = torch.cat([self.transform.weight, self.carry.weight])
        return weight, torch.cat([self.transform.bias, self.carry.bias])


class CachedTokenEncoder(nn.Module):
    """
    The token layer of a biLM: gives each word a vector that depends on nothing but the word.

    Subclasses have a `projection`, their last layer, and define `encode_words`. Those that read characters
    also have a `character_embedding`, and the layers that `_make_char_cnn` makes.

    The attribute `word_cache_size` is the largest number of word vectors that are stored while the weights
    are frozen; 0 for none. With the default and words of 50 characters they take up to 71 MB for vectors of
    512 numbers, 21 MB for 128.
    """

    word_cache_size = 32768

    character_embedding: nn.Embedding
    convolutions: Sequence[nn.Conv1d]
    highways: Sequence[Highway]
    activation: Callable[[Tensor], Tensor]
    widest_filter: int
    projection: nn.Linear

    def _make_char_cnn(self, options: CharCnnOptions | LexiconCnnOptions, character_dim: int) -> None:
        """Makes the convolutions over character vectors, and the highway layers."""
        convolutions = (nn.Conv1d(character_dim, number, width) for width, number in options.filters)
        self.convolutions = cast("Sequence[nn.Conv1d]", nn.ModuleList(convolutions))
        highways = (Highway(options.n_filters) for _ in range(options.n_highway))
        self.highways = cast("Sequence[Highway]", nn.ModuleList(highways))
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.widest_filter = max(width for width, _ in options.filters)

    def encode_words(
        self, character_ids: Tensor, precision: Precision = FLOAT32, weights: InferenceWeights | None = None
    ) -> Tensor:
        """
        Encodes all words, whether or not their vectors are stored.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), integers, one row a word.
        precision, weights
            See `encode`.

        # Returns

        `Tensor`
            Shape (types, projection_dim), of the parameters' type.

        Raises `BiLmError` if a number is not a character id.
        """
        raise NotImplementedError

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls `encode`."""
        return self.encode(*args, **kwargs)

    def encode(
        self, character_ids: Tensor, precision: Precision = FLOAT32, weights: InferenceWeights | None = None
    ) -> Tensor:
        """
        Encodes each distinct word once, or looks up its stored vector.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.
        precision : `Precision`
            The precision without gradients.
        weights : `InferenceWeights | None`
            Stores the vectors, if the parameters are frozen.

        # Returns

        `Tensor`
            Shape (..., projection_dim).
        """
        encode = partial(self.encode_words, precision=precision, weights=weights)
        if weights is not None:
            encode = partial(self._word_cache(precision, weights).look_up, encode=encode)
        return encode_unique_rows(character_ids, encode)

    def precompute(self, character_ids: Tensor, precision: Precision, weights: InferenceWeights) -> None:
        """
        Encodes the words of a vocabulary now. Their vectors are stored as long as `weights`, in addition to
        `word_cache_size` others; those stored so far are dropped to make room.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.
        precision, weights
            See `encode`.
        """
        types, _ = unique_rows(character_ids.reshape(-1, character_ids.size(-1)))
        encode = partial(self.encode_words, precision=precision, weights=weights)
        self._word_cache(precision, weights).pin(types, encode)

    def _word_cache(self, precision: Precision, weights: InferenceWeights) -> WordCache:
        return weights.get(("types", precision.name), lambda: WordCache(self.word_cache_size))
