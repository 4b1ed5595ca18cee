"""The base of token indexers without a vocabulary."""

from allennlp.data import TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.data.tokenizers import Token
from overrides import overrides


class TextIndexer(TokenIndexer):
    """
    The base of token indexers without a vocabulary: an indexed token is its text, under `key`.
    """

    key: str

    @overrides
    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        pass

    @overrides
    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        return {self.key: [token.ensure_text() for token in tokens]}

    @overrides
    def get_empty_token_list(self) -> IndexedTokenList:
        return {self.key: []}
