"""What all token encoders share: each word of a batch is encoded once, and its vector is kept if frozen."""

from functools import partial

from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.type_cache import TypeCache
from elmo_plugin.bilm.char_cnn.unique_rows import unique_rows
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.precision import PRECISIONS, Precision

TYPE_CACHE_SIZE = 32768  # words


class CachedTokenEncoder(nn.Module):
    """
    The token layer of a biLM: gives each word a vector that depends on nothing but the word.

    Those who inherit from it have a `projection`, their last layer, and define `encode_types`.

    # Parameters

    type_cache_size : `int`
        How many vectors of words are kept at most while the weights are frozen; 0 for none. With the default
        and words of 50 characters they take up to 71 MB for vectors of 512 numbers, 21 MB for 128.
    """

    projection: nn.Linear

    def __init__(self, type_cache_size: int = TYPE_CACHE_SIZE) -> None:
        super().__init__()
        self.type_cache_size = type_cache_size

    def encode_types(
        self,
        character_ids: Tensor,
        precision: Precision = PRECISIONS["float32"],
        weights: InferenceWeights | None = None,
    ) -> Tensor:
        """
        Encodes all of the words, whether their vectors are kept or not.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), integers, one row a word.
        precision, weights
            See `forward`.

        # Returns

        `Tensor`
            Shape (types, projection_dim), of the parameters' type.

        Raises `BiLmError` where a number stands for no character.
        """
        raise NotImplementedError

    def forward(
        self,
        character_ids: Tensor,
        precision: Precision = PRECISIONS["float32"],
        weights: InferenceWeights | None = None,
    ) -> Tensor:
        """
        Encodes each distinct word once, or takes its kept vector, and gives it to all its occurrences.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.
        precision : `Precision`
            The numbers in which it computes where no gradient is asked for.
        weights : `InferenceWeights | None`
            Where vectors are kept, if the parameters are frozen.

        # Returns

        `Tensor`
            Shape (..., projection_dim).
        """
        tokens = character_ids.reshape(-1, character_ids.size(-1))
        types, type_of_token = unique_rows(tokens)
        encode = partial(self.encode_types, precision=precision, weights=weights)
        if weights is None:
            vectors = encode(types)
        else:
            vectors = self._type_cache(precision, weights).look_up(types, encode)
        token_vectors = nn.functional.embedding(type_of_token, vectors)
        return token_vectors.view(*character_ids.shape[:-1], vectors.size(-1))

    def precompute_types(
        self, character_ids: Tensor, precision: Precision, weights: InferenceWeights
    ) -> None:
        """
        Encodes the words of a vocabulary now. Their vectors stay as long as `weights`, beyond
        `type_cache_size`; the other ones that are kept make room for them.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.
        precision, weights
            See `forward`.
        """
        types, _ = unique_rows(character_ids.reshape(-1, character_ids.size(-1)))
        encode = partial(self.encode_types, precision=precision, weights=weights)
        self._type_cache(precision, weights).pin(types, encode)

    def _type_cache(self, precision: Precision, weights: InferenceWeights) -> TypeCache:
        return weights.get(("types", precision.name), lambda: TypeCache(self.type_cache_size))
