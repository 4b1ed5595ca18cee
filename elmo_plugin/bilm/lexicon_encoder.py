"""The token layer of a model of ELMoForManyLangs: a word's vector, and a CNN over its characters'
vectors.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.convolutions import encode_by_length
from elmo_plugin.bilm.derived import DerivedValues
from elmo_plugin.bilm.lexicon import BOUNDARIES, FIRST_MARK, LAST_MARK, PADDING, UNKNOWN, num_rows
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LexiconCnnOptions
from elmo_plugin.bilm.precision import Precision
from elmo_plugin.bilm.token_encoder import CachedTokenEncoder, TokenEncoder, word_features


def make_token_encoder(options: BiLmOptions) -> CachedTokenEncoder:
    """Returns the token encoder that the options describe, with random weights."""
    if isinstance(options.char_cnn, CharCnnOptions):
        return TokenEncoder(options.char_cnn, options.lstm.projection_dim)
    return LexiconTokenEncoder(options.char_cnn, options.lstm.projection_dim)


class LexiconTokenEncoder(CachedTokenEncoder):
    """
    Concatenates a word's vector with the features of a character CNN and its highway layers, and
    projects both (Che et al., 2018). Some models have only one of the two. The input is the same
    character ids as for other biLMs, the bytes of words; everything is computed in float32.
    """

    def __init__(self, options: LexiconCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self._num_slots = options.max_characters_per_word  # for characters and the two marks
        self._characters = dict(options.characters)
        self._words = dict(options.words)
        if options.words:
            self.word_embedding = nn.Embedding(num_rows(options.words), options.word_dim)
        if options.characters:
            self.character_embedding = nn.Embedding(
                num_rows(options.characters), options.character_dim
            )
            self._make_char_cnn(options, options.character_dim)
        self.projection = nn.Linear(options.n_features, projection_dim)

    def encode_words(
        self, character_ids: Tensor, precision: Precision, derived: DerivedValues | None
    ) -> Tensor:
        """
        Returns the vectors of at least one word, shape (words, projection_dim). Every precision is
        float32 here, and nothing is derived.
        """
        weight = self.projection.weight
        words = [self.decode_word(ids) for ids in character_ids.tolist()]
        features = []
        if self._words:
            rows = [self._words.get(word, self._words[UNKNOWN]) for word in words]
            features.append(self.word_embedding(torch.tensor(rows, device=weight.device)))
        if self._characters:
            features.append(self._character_features(words))
        return self.projection(torch.cat(features, dim=1)).to(weight.dtype)

    def _character_features(self, words: Sequence[str]) -> Tensor:
        """Returns the features of words from their characters, shape (words, filters)."""
        device = self.projection.weight.device
        rows = torch.tensor([self.character_rows(word) for word in words], device=device)
        maxima, order = encode_by_length(rows, self.widest_filter, self._filter_maxima)
        in_given_order = order.argsort()
        return word_features(maxima[in_given_order], self.activation, self.highways)

    def _filter_maxima(self, rows: Tensor) -> Tensor:
        """
        Returns the maximum of each filter over all windows of a word, shape (words, filters).
        `rows` are the words as `character_rows` returns them, shape (words, slots).
        """
        characters = self.character_embedding(rows).transpose(1, 2)  # (words, channels, slots)
        maxima = [convolution(characters).amax(dim=2) for convolution in self.convolutions]
        return torch.cat(maxima, dim=1)

    def decode_word(self, character_ids: Sequence[int]) -> str:
        """
        Returns the word with these character ids, cut to as many characters as the model reads. For
        a sentence boundary, returns its name in the lexicon.
        """
        after_begin = character_ids[1]  # the first slot has the mark for the begin of the word
        if after_begin in BOUNDARIES:
            return BOUNDARIES[after_begin]
        # The ids 1 to 256 are bytes; 0 and the greater ones are padding and marks.
        content = bytes(id_ - 1 for id_ in character_ids if 0 < id_ <= 256)
        text = content.decode("utf-8", "ignore")  # the last character may be cut
        return text[: self._num_slots - 2]  # two slots are for the marks

    def character_rows(self, word: str) -> list[int]:
        """
        Returns the row of each character in the embedding, with a mark before and after the word,
        and padding up to the number of slots.
        """
        row_of = self._characters
        characters = list(word)
        if word in BOUNDARIES.values():  # a boundary is one character in the lexicon
            characters = [word]
        rows = [row_of[FIRST_MARK]]
        for character in characters:
            rows.append(row_of.get(character, row_of[UNKNOWN]))
        rows.append(row_of[LAST_MARK])
        padding = [row_of[PADDING]] * (self._num_slots - len(rows))
        return rows + padding
