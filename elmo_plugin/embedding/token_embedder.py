"""ELMo as a token indexer and a token embedder, for any model of AllenNLP."""

from os import PathLike

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.data.tokenizers import Token
from allennlp.modules import TokenEmbedder
from overrides import overrides
from torch import Tensor

from elmo_plugin.bilm import MAX_BATCH_TOKENS, MAX_CHARACTERS_PER_TOKEN, word_to_character_ids
from elmo_plugin.common.errors import check_at_least
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.embedding.contextual_elmo import ContextualElmo, ElmoPlacement, RegisteredCache
from elmo_plugin.embedding.text_indexer import TextIndexer


@TokenIndexer.register("elmo")
class ElmoTokenIndexer(TextIndexer):
    """
    Indexes tokens with the same character ids as AllenNLP's `elmo_characters`, in less memory: an
    indexed token is its text, and the ids are looked up when a batch is made, as 16-bit integers.
    It needs no vocabulary.

    Registered as a `TokenIndexer` with name "elmo".

    # Parameters

    max_characters_per_token : `int`, optional (default = `50`)
        `max_characters_per_token` of the biLM's options (50 in all published models).
    token_min_padding_length : `int`, optional (default = `0`)
        See `TokenIndexer`.
    normalize : `bool`, optional (default = `False`)
        Read typographic characters as their ASCII twins, see `normalize_text`. This is for text
        that is split into words already: tokenizers of raw text always normalize it.
    """

    key = "elmo_tokens"

    def __init__(
        self,
        max_characters_per_token: int = MAX_CHARACTERS_PER_TOKEN,
        token_min_padding_length: int = 0,
        normalize: bool = False,
    ) -> None:
        super().__init__(token_min_padding_length)
        check_at_least(
            "max_characters_per_token",
            max_characters_per_token,
            least=3,  # the markers of a word's beginning and end, and one character
            error=ConfigurationError,
        )
        self._max_characters = max_characters_per_token
        self._normalize = normalize

    @overrides
    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        """Returns `elmo_tokens`: the text of each token, normalized if `normalize` was given."""
        indexed = super().tokens_to_indices(tokens, vocabulary)
        if not self._normalize:
            return indexed
        words = []
        for word in indexed[self.key]:
            normalized = normalize_text(word)
            if normalized == "":
                # All of its characters are invisible, but a word must not vanish.
                normalized = word
            words.append(normalized)
        return {self.key: words}

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        Returns `elmo_tokens`: shape (padded length, max_characters_per_token), int16, zeros at
        padding.
        """
        ids = np.zeros((padding_lengths["elmo_tokens"], self._max_characters), dtype=np.int16)
        for row, word in zip(ids, tokens["elmo_tokens"], strict=False):  # the other rows stay zeros
            row[:] = word_to_character_ids(word, self._max_characters)
        return {"elmo_tokens": torch.from_numpy(ids)}


@TokenEmbedder.register("elmo")
class ElmoTokenEmbedder(TokenEmbedder):
    """
    Embeds tokens with a mix of a biLM's layers: a `ContextualElmo` with one placement.

    Registered as a `TokenEmbedder` with name "elmo". Its token indexer is `elmo`, or AllenNLP's
    `elmo_characters`. The parameters to regularize are `….scalar_mix.weights`.

    # Parameters

    bilm : `str | dict[str, str]`
        See `ContextualElmo`, also for `requires_grad`, `stateful`, `precision`, `max_batch_tokens`,
        `cache` and `serialization_dir`.
    layers : `str | int | list[int]`, optional (default = `"all"`)
        See `MixSettings`, also for `layer_norm`, `dropout` and `mixing_weights`.

    Raises `ConfigurationError` if `bilm` is not a usable model, or the other parameters do not fit
    it.
    """

    def __init__(
        self,
        bilm: str | dict[str, str],
        *,
        layers: str | int | list[int] = "all",
        layer_norm: bool = False,
        dropout: float = 0.5,
        mixing_weights: list[float] | None = None,
        requires_grad: bool = False,
        stateful: bool = False,
        precision: str = "float32",
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._elmo = ContextualElmo(
            bilm,
            input=ElmoPlacement(
                layers=layers,
                layer_norm=layer_norm,
                dropout=dropout,
                mixing_weights=mixing_weights,
            ),
            requires_grad=requires_grad,
            stateful=stateful,
            precision=precision,
            max_batch_tokens=max_batch_tokens,
            cache=cache,
            serialization_dir=serialization_dir,
        )

    @overrides
    def get_output_dim(self) -> int:
        return self._elmo.output_dim

    def forward(self, elmo_tokens: Tensor) -> Tensor:
        """
        Returns shape (batch, time, output_dim) for character ids of shape (batch, time,
        characters), of any integer type; both have zeros at padding. Raises `BiLmError` if the
        token indexer does not fit the biLM.
        """
        return self._elmo(elmo_tokens).representations[0]
