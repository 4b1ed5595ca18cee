"""Tokenizers of plain sentences: a sentence is tokenized as the training data of its task is."""

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tokenize import TreebankWordTokenizer
from overrides import overrides
from spacy.tokens import Doc

from elmo_plugin.common.spacy_rules import SpacyRules

MAX_RUN = 2_000  # characters without white space take 0.3 seconds; the time grows with their square


@Tokenizer.register("penn_treebank")
class PennTreebankTokenizer(Tokenizer):
    """
    Splits a sentence as in the Penn Treebank, except that both quotation marks are `"`. Text that biLMs are
    trained on, such as the 1 Billion Word Benchmark, is tokenized like this.

    Registered as a `Tokenizer` with name "penn_treebank".
    """

    def __init__(self) -> None:
        self._tokenizer = TreebankWordTokenizer()

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token('"' if word in ("``", "''") else word) for word in self._tokenizer.tokenize(text)]


class EnglishRules(SpacyRules):
    """spaCy's rules for English. Raises `ConfigurationError` for 2,001 characters without white space."""

    def __init__(self, *pipes: str) -> None:
        super().__init__("en", *pipes)

    def __call__(self, text: str) -> Doc:
        longest = max(map(len, text.split()), default=0)
        if longest > MAX_RUN:
            raise ConfigurationError(
                f"spaCy's rules read {MAX_RUN:,} characters without white space, not {longest:,}"
            )
        return super().__call__(text)


class SpacyRulesTokenizer(Tokenizer):
    """Splits a sentence by spaCy's rules for English, without a trained model. Spaces are not tokens."""

    def __init__(self) -> None:
        self._rules = EnglishRules()

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token(token.text, token.idx) for token in self._rules(text) if not token.is_space]
