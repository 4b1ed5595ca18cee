"""The character ids of a vocabulary's words, for `namespace_to_cache` of AllenNLP 0.x."""

from allennlp.data import Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, TokenIndexer
from allennlp.data.tokenizers import Token
from overrides import overrides


@TokenIndexer.register("old_cached_elmo_characters")
class VocabularyWordsIndexer(ELMoTokenCharactersIndexer):
    """
    Gives each token the character ids of its word in the vocabulary. A token that the vocabulary
    does not have is read as the text `@@UNKNOWN@@`.

    AllenNLP 0.x computed the vectors of all words of the namespace `namespace_to_cache` once. It
    then read them by the number of a word, so words that the vocabulary does not have shared the
    vector of `@@UNKNOWN@@`, and lowercased ones had the vectors of lowercased words.

    Registered as a `TokenIndexer` with name "old_cached_elmo_characters".

    # Parameters

    vocabulary_namespace : `str`, optional (default = `"tokens"`)
        The namespace of the words.
    lowercase_tokens : `bool`, optional (default = `False`)
        Whether tokens are looked up in lower case.
    token_min_padding_length : `int`, optional (default = `0`)
        See `TokenIndexer`.
    """

    def __init__(
        self,
        vocabulary_namespace: str = "tokens",
        lowercase_tokens: bool = False,
        token_min_padding_length: int = 0,
    ) -> None:
        super().__init__(token_min_padding_length=token_min_padding_length)
        self._vocabulary_namespace = vocabulary_namespace
        self._lowercase_tokens = lowercase_tokens

    @overrides
    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> dict[str, list[list[int]]]:
        words = [Token(self._word(token, vocabulary)) for token in tokens]
        return super().tokens_to_indices(words, vocabulary)

    def _word(self, token: Token, vocabulary: Vocabulary) -> str:
        """Returns the token's word in the vocabulary, or the vocabulary's unknown word."""
        text = token.ensure_text()
        if self._lowercase_tokens:
            text = text.lower()
        number = vocabulary.get_token_index(text, self._vocabulary_namespace)
        return vocabulary.get_token_from_index(number, self._vocabulary_namespace)
