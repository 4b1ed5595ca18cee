"""The token layer of a biLM with the parameters of AllenNLP's `_ElmoCharacterEncoder`."""

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor, nn

from elmo_plugin.allennlp_api.bilm.layers import HighwayLayer
from elmo_plugin.bilm import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    NUM_CHARACTERS,
    CharCnnOptions,
    add_boundaries,
    word_to_character_ids,
)
from elmo_plugin.bilm.char_cnn import CharCnnEncoder, Highway

CHARACTERS = "_char_embedding_weights"


class CharacterEncoder(CharCnnEncoder):
    """
    Gives words the vectors that do not depend on their context: what `ElmoBiLm` has as `_token_embedder`. It
    is called as AllenNLP's is; a biLM calls its `encode`.

    # Parameters

    options : `CharCnnOptions`
        The sizes of its parts.
    projection_dim : `int`
        The size of a word's vector, which AllenNLP calls `output_dim`.
    """

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self.options = options
        self.output_dim = projection_dim
        vectors = torch.zeros(NUM_CHARACTERS, options.embedding_dim)
        self.register_parameter(CHARACTERS, nn.Parameter(vectors))
        for number, (width, filters) in enumerate(options.filters):
            convolution = nn.Conv1d(options.embedding_dim, filters, width)
            self.add_module(f"char_conv_{number}", convolution)
        self._highways = nn.Module()
        layers = nn.ModuleList(HighwayLayer(options.n_filters) for _ in range(options.n_highway))
        self._highways._layers = layers
        self._projection = nn.Linear(options.n_filters, projection_dim)
        # What `CharCnnEncoder` reads. Lists are no part of the state dict.
        self.character_embedding = cast(nn.Embedding, _CharacterEmbedding(self._parameters))
        convolutions = (getattr(self, f"char_conv_{number}") for number in range(len(options.filters)))
        self.convolutions = list(convolutions)
        self.highways = cast("list[Highway]", list(layers))
        self._set_char_cnn(options)
        characters = options.max_characters_per_token
        words = (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        self._boundaries = [
            torch.from_numpy(word_to_character_ids(word, characters).copy()) for word in words
        ]

    @property
    def projection(self) -> nn.Linear:  # type: ignore[override]
        return self._projection

    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(self, inputs: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).

        # Returns

        `dict[str, Tensor]`
            `token_embedding`, shape (batch, time + 2, output_dim), zeros at padding; and `mask`, shape
            (batch, time + 2). Sentence boundaries are in them.
        """
        boundaries = torch.stack(self._boundaries).to(inputs)
        ids, mask = add_boundaries(inputs, (inputs > 0).any(dim=-1), boundaries)
        vectors = self.encode(ids[mask])
        token_embedding = vectors.new_zeros(*mask.shape, self.output_dim)
        return {"token_embedding": token_embedding.index_put((mask,), vectors), "mask": mask}


class _CharacterEmbedding:
    """What `nn.Embedding` would be, over a parameter of the encoder itself."""

    def __init__(self, parameters: Mapping[str, nn.Parameter | None]) -> None:
        self._parameters = parameters

    @property
    def weight(self) -> Tensor:
        return cast(Tensor, self._parameters[CHARACTERS])

    def __call__(self, character_ids: Tensor) -> Tensor:
        return nn.functional.embedding(character_ids, self.weight)
