"""AllenNLP's `elmo_characters`, with each word's ids made and held once."""

from functools import lru_cache

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.data.tokenizers import Token
from overrides import overrides

from elmo_plugin.bilm import MAX_CHARACTERS_PER_TOKEN, word_to_character_ids


class ElmoCharactersIndexer(ELMoTokenCharactersIndexer):
    """
    Gives the same ids as AllenNLP's `elmo_characters`. All occurrences of a word share one list of them.

    # Parameters

    namespace : `str`, optional (default = `"elmo_characters"`)
        Without effect, as in AllenNLP.
    tokens_to_add : `dict[str, int]`, optional (default = `None`)
        Words that are one character each, below 261.
    token_min_padding_length : `int`, optional (default = `0`)
        See `TokenIndexer`.
    """

    def __init__(
        self,
        namespace: str = "elmo_characters",
        tokens_to_add: dict[str, int] | None = None,
        token_min_padding_length: int = 0,
    ) -> None:
        super().__init__(namespace, tokens_to_add, token_min_padding_length)
        self._ids_to_add = {word: self._mapper.convert_word_to_char_ids(word) for word in tokens_to_add or {}}

    @overrides
    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> dict[str, list[list[int]]]:
        words = [token.ensure_text() for token in tokens]
        return {"elmo_tokens": [self._ids_to_add.get(word) or _character_ids(word) for word in words]}

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        # Returns

        `Dict[str, torch.Tensor]`
            With `elmo_tokens`: shape (padded length, 50), int64, zeros at padding.
        """
        ids = np.zeros((padding_lengths["elmo_tokens"], MAX_CHARACTERS_PER_TOKEN), dtype=np.int64)
        rows = tokens["elmo_tokens"][: len(ids)]
        if rows:
            ids[: len(rows)] = rows
        return {"elmo_tokens": torch.from_numpy(ids)}


@lru_cache(maxsize=1 << 17)
def _character_ids(word: str) -> list[int]:
    return word_to_character_ids(word).tolist()
