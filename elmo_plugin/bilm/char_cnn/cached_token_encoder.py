"""What all token encoders have in common: each word of a batch is encoded once, and remembered if frozen."""

from typing import Any

from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.type_cache import TypeCache
from elmo_plugin.bilm.char_cnn.unique_rows import unique_rows
from elmo_plugin.bilm.kept import Kept, need_gradient
from elmo_plugin.bilm.precision import check_precision
from elmo_plugin.common.errors import BiLmError

TYPE_CACHE_SIZE = 32768  # words


class CachedTokenEncoder(nn.Module):
    """
    The token layer of a biLM: gives each word a vector that depends on nothing but the word.

    While all parameters are frozen (`requires_grad_(False)`) it remembers the vectors of words, across calls,
    until a parameter changes or the module is moved. Copies and pickles do not take them along.

    Those who inherit from it have a `projection`, their last layer, and define `encode_types`.

    # Parameters

    precision : `str`
        One of `elmo_plugin.bilm.precision.PRECISIONS`.
    type_cache_size : `int`
        How many words are remembered at most; 0 for none. With the default and words of 50 characters they
        take up to 71 MB for vectors of 512 numbers, 21 MB for 128.

    Raises `BiLmError` where there is no such precision.
    """

    projection: nn.Linear

    def __init__(self, precision: str = "float32", type_cache_size: int = TYPE_CACHE_SIZE) -> None:
        super().__init__()
        self.precision = check_precision(precision)
        self.type_cache_size = type_cache_size
        self._type_cache: Kept[TypeCache] = Kept()

    def encode_types(self, character_ids: Tensor) -> Tensor:
        """
        Encodes all of the words, whether they are known or not.

        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), integers, one row a word.

        # Returns

        `Tensor`
            Shape (types, projection_dim), of the parameters' type.

        Raises `BiLmError` where a number stands for no character.
        """
        raise NotImplementedError

    def forward(self, character_ids: Tensor) -> Tensor:
        """
        Encodes each distinct word once, or takes it from the words encoded before, and gives its vector to
        all its occurrences.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.

        # Returns

        `Tensor`
            Shape (..., projection_dim).
        """
        tokens = character_ids.reshape(-1, character_ids.size(-1))
        types, type_of_token = unique_rows(tokens)
        parameters = list(self.parameters())
        if need_gradient(parameters):
            vectors = self.encode_types(types)
        else:
            vectors = self._known_types(parameters).look_up(types, self.encode_types)
        return vectors[type_of_token].view(*character_ids.shape[:-1], vectors.size(-1))

    def precompute_types(self, character_ids: Tensor) -> None:
        """
        Encodes the words of a vocabulary now. They stay as long as the parameters do, beyond
        `type_cache_size`; other words that are remembered make room for them.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.

        Raises `BiLmError` where the parameters are not frozen.
        """
        parameters = list(self.parameters())
        if need_gradient(parameters):
            raise BiLmError("only a frozen biLM encodes words ahead: call its requires_grad_(False) first")
        types, _ = unique_rows(character_ids.reshape(-1, character_ids.size(-1)))
        self._known_types(parameters).pin(types, self.encode_types)

    def clear_type_cache(self) -> None:
        """Forgets all words, those encoded ahead too."""
        self._type_cache.forget()

    def _known_types(self, parameters: list[nn.Parameter]) -> TypeCache:
        return self._type_cache.get(parameters, self.precision, lambda: TypeCache(self.type_cache_size))

    def _apply(self, *args: Any, **kwargs: Any) -> "CachedTokenEncoder":
        """Moves and converts the module. New storage may be where the old was, so nothing is kept."""
        self._type_cache.forget()
        return super()._apply(*args, **kwargs)
