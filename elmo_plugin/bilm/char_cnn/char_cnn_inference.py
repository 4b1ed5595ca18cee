"""The token encoder without gradients: what is derived from its weights, and its arithmetic with that."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.cached_token_encoder import CachedTokenEncoder
from elmo_plugin.bilm.precision import FLOAT32, Precision


class CharCnnInference:
    """
    A convolution over the vectors of characters is a sum of one row a character: row (k, c) of its table is
    what the character c contributes as the kth of a window. Reading these sums takes a fraction of the time
    of the products, and is as exact. The products of the highway layers, most of the remaining time, are in
    the precision asked for. The vector that they carry is not rounded to it, nor is the projection, which
    takes a tenth of their time and would double the error.

    # Parameters

    encoder : `CachedTokenEncoder`
        Has the weights of a char CNN. Later changes of them do not reach the result.
    precision : `Precision`
        That of the highway layers.

    Raises `BiLmError` where this machine cannot compute in the precision.
    """

    def __init__(self, encoder: CachedTokenEncoder, precision: Precision) -> None:
        projection = encoder.projection
        precision.check(projection.weight.device)
        vectors = encoder.character_embedding.weight
        self._tables = [_table(vectors, convolution) for convolution in encoder.convolutions]
        self._highways = [precision.pack(*layer.joined_weights()) for layer in encoder.highways]
        self._projection = FLOAT32.pack(projection.weight, projection.bias)
        self._activation = encoder.activation

    def __call__(self, character_ids: Tensor) -> Tensor:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (types, characters).

        # Returns

        `Tensor`
            Shape (types, dim).
        """
        maxima = torch.cat([_maxima(character_ids, table) for table in self._tables], dim=1)
        features = self._activation(maxima)
        for linear in self._highways:
            transformed, gate = linear(features).to(features.dtype).chunk(2, dim=1)
            features = torch.lerp(features, transformed.relu_(), gate.sigmoid_())
        return self._projection(features)


def _table(character_vectors: Tensor, convolution: nn.Conv1d) -> Tensor:
    """Shape (width, number of characters, filters); the bias is in the rows of the first of a window."""
    table = torch.einsum("cd,ndk->kcn", character_vectors, convolution.weight).contiguous()
    if convolution.bias is not None:
        table[0] += convolution.bias
    return table


def _maxima(character_ids: Tensor, table: Tensor) -> Tensor:
    """The greatest value of each filter over all windows of a word, shape (types, filters)."""
    width, number, filters = table.shape
    first_rows = torch.arange(0, width * number, number, device=table.device, dtype=character_ids.dtype)
    windows = character_ids.unfold(1, width, 1) + first_rows  # Shape: (types, windows, width)
    sums = F.embedding_bag(windows.flatten(0, 1), table.flatten(0, 1), mode="sum")
    return sums.view(*windows.shape[:2], filters).amax(dim=1)
