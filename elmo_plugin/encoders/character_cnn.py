"""A character CNN that also gives features to words shorter than its filters, and encodes each word
once.
"""

from collections.abc import Sequence
from typing import cast

from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders import Embedding, TokenEmbedder
from allennlp.nn import Activation
from overrides import overrides
from torch import Tensor, nn

from elmo_plugin.bilm import Dropout, convolve_by_length, unique_rows


@TokenEmbedder.register("character_cnn")
class CharacterCnn(TokenEmbedder):
    """
    Embeds the characters of a word, convolves them, and takes the greatest value of each filter,
    `activation(max_t (W [c_t; ...; c_{t + width - 1}]) + b)`. Endless padding follows each word,
    with zeros as its vectors. So a word shorter than a filter has features, and a word's vector
    does not depend on the longest word of the batch. Each distinct word of a batch is computed
    once.

    Other implementations treat padding in other ways:

    - AllenNLP 1's `CnnEncoder` computes the same if a batch pads the word by at least a filter's
      width.
    - e2e-coref (Lee et al., 2017) does the same, but with a learned vector for padding.
    - document-qa (Clark and Gardner, 2018) skips windows that contain only padding. The value of
      such a window would be `activation(b)`.
    - AllenNLP 2's `CnnEncoder` skips all windows with any padding, and gives zeros to words shorter
      than a filter.

    The filters are drawn as in AllenNLP's `CnnEncoder`: weights and biases uniformly from
    `-(width * embedding_dim)^-0.5` to `(width * embedding_dim)^-0.5`.

    Registered as a `TokenEmbedder` with name "character_cnn", for the indexer "characters".

    # Parameters

    embedding : `Embedding`
        The embedding of the characters; 0 is padding, whatever its row contains.
    num_filters : `int`
        The number of filters of each width.
    widths : `Sequence[int]`
        The numbers of characters that the filters see.
    activation : `Activation`, optional (default=ReLU)
        Applied to the greatest values, so it should be one that never decreases, such as `relu` and
        `tanh`.
    dropout : `float`, optional (default=0.0)
        The rate of dropout on the characters' vectors. All occurrences of a word in a batch have
        the same mask.

    Raises `ConfigurationError` if there are no filters, or a filter's width is below 1.
    """

    def __init__(
        self,
        embedding: Embedding,
        num_filters: int,
        widths: Sequence[int],
        activation: Activation = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if num_filters < 1 or len(widths) == 0 or min(widths) < 1:
            raise ConfigurationError(
                "a character CNN needs filters, each of at least one character, but `num_filters` "
                f"is {num_filters} and `widths` are {list(widths)}"
            )
        dim = embedding.get_output_dim()
        self.embedding = embedding
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, num_filters, width) for width in widths)
        if activation is None:
            activation = Activation.by_name("relu")()
        self.activation = activation
        self.dropout = Dropout(dropout)
        self._output_dim = num_filters * len(widths)
        # With more slots of padding than the widest filter covers, `convolve_by_length` computes
        # all filters in one product.
        self._slots_of_padding = max(widths) + 1

    @overrides
    def get_output_dim(self) -> int:
        return self._output_dim

    def forward(self, token_characters: Tensor) -> Tensor:
        """
        Returns the vectors of tokens, shape (..., output_dim), zeros for tokens without characters.
        `token_characters` are the characters of each token, followed by zeros, shape (...,
        characters).
        """
        # Shapes: (distinct words, characters), (tokens,)
        words, word_of_token = unique_rows(token_characters.flatten(0, -2))
        padded = nn.functional.pad(words, (0, self._slots_of_padding))
        filters = cast("Sequence[nn.Conv1d]", self.convolutions)
        # The maxima are in the order of the words' lengths.
        # Shapes: (distinct words, output_dim), (distinct words,)
        maxima, word_of_row = convolve_by_length(padded, self._embed, filters)
        features = self.activation(maxima)[word_of_row.argsort()]  # in the order of `words` again
        has_characters = (words != 0).any(dim=1, keepdim=True)
        features = features * has_characters
        # `features[word_of_token]`, with a faster gradient. Shape: (tokens, output_dim)
        vectors = nn.functional.embedding(word_of_token, weight=features)
        return vectors.view(*token_characters.shape[:-1], self._output_dim)

    def _embed(self, words: Tensor) -> Tensor:
        """Returns the vectors of characters after dropout, zeros at padding."""
        is_character = (words != 0)[..., None]
        return self.dropout(self.embedding(words) * is_character)
