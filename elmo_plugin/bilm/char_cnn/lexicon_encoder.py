"""The token layer of a model of ELMoForManyLangs: a word's vector, and a CNN over its characters' vectors."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.cached_token_encoder import CachedTokenEncoder
from elmo_plugin.bilm.char_cnn.lexicon import LexiconReader, number_of_rows
from elmo_plugin.bilm.char_cnn.token_encoder import by_length
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.options import LexiconCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision


class LexiconTokenEncoder(CachedTokenEncoder):
    """
    The projection of [word vector ; highway layers over the CNN's features]; of one of the two where the
    model reads only words or only characters (Che et al., 2018).

    It reads the same character ids as other biLMs, the bytes of words, only more of them. It computes in
    float32, whatever the precision of the biLM.

    # Parameters

    options : `LexiconCnnOptions`
        The lexicons, and the sizes of its parts.
    projection_dim : `int`
        The size of a token's vector.
    """

    def __init__(self, options: LexiconCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self._reader = LexiconReader(options)
        self._reads_words, self._reads_characters = bool(options.words), bool(options.characters)
        if self._reads_words:
            self.word_embedding = nn.Embedding(number_of_rows(options.words), options.word_dim)
        if self._reads_characters:
            rows = number_of_rows(options.characters)
            self.character_embedding = nn.Embedding(rows, options.character_dim)
            self._make_char_cnn(options, options.character_dim)
        self.projection = nn.Linear(options.n_features, projection_dim)

    def encode_words(
        self, character_ids: Tensor, precision: Precision = FLOAT32, weights: InferenceWeights | None = None
    ) -> Tensor:
        weight = self.projection.weight
        if len(character_ids) == 0:
            return weight.new_zeros(0, len(weight))
        texts = self._reader.texts(character_ids)
        features = []
        if self._reads_words:
            ids = torch.tensor(self._reader.word_ids(texts), device=weight.device)
            features.append(self.word_embedding(ids))
        if self._reads_characters:
            ids = self._reader.character_ids(texts).to(weight.device)
            maxima, order = by_length(ids, self.widest_filter, self._maxima)
            of_characters = self.activation(maxima[order.argsort()])
            for highway in self.highways:
                of_characters = highway(of_characters)
            features.append(of_characters)
        return self.projection(torch.cat(features, dim=1)).to(weight.dtype)

    def _maxima(self, ids: Tensor) -> Tensor:
        """The greatest value of each filter over all windows of a word, shape (types, filters)."""
        characters = self.character_embedding(ids).transpose(1, 2)
        return torch.cat([convolution(characters).amax(dim=2) for convolution in self.convolutions], dim=1)
