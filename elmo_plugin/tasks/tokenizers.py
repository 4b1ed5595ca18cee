"""Tokenizers of plain sentences: a sentence is tokenized as the training data of its task is."""

import re
from abc import abstractmethod
from collections.abc import Iterable

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tokenize import TreebankWordTokenizer
from overrides import overrides
from spacy.tokens import Doc

from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import NormalizedText

MAX_RUN = 2_000  # characters without white space take 0.3 seconds; the time grows with their square
_SPACE = re.compile(r"\s*")


class TypedToken(Token):
    """A word as the model reads it, with its place in the text and its form there, as `typed`."""

    __slots__ = ("typed",)

    def __init__(self, token: Token, start: int, end: int, typed: str) -> None:
        super().__init__(**{name: getattr(token, name, None) for name in Token.__slots__})
        self.idx, self.idx_end, self.typed = start, end, typed


def as_typed(token: Token) -> str:
    """Returns a word as it stands in the text, to be shown."""
    return token.typed if isinstance(token, TypedToken) else token.ensure_text()


class RawTextTokenizer(Tokenizer):
    """
    The base of tokenizers of text as people type it. `split` gets ASCII twins of typographic characters, see
    `normalize_text`; the tokens have their places and forms in the text as typed.
    """

    @abstractmethod
    def split(self, text: str) -> Iterable[Token]:
        """Returns the words of a normalized text; without `idx` each begins where the one before ends."""

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        normalized = NormalizedText(text)
        tokens: list[Token] = []
        end = 0
        for token in self.split(normalized.text):
            word, start = token.ensure_text(), token.idx
            if start is None:
                start = _SPACE.match(normalized.text, end).end()  # type: ignore[union-attr]
                if not word or not normalized.text.startswith(word, start):
                    tokens.append(token)  # it is not in the text, such as [CLS]
                    continue
            end = getattr(token, "idx_end", None) or start + len(word)
            _, first, last = normalized.word(start, end)
            if isinstance(token, Token) and word == text[first:last]:
                token.idx, token.idx_end = first, last
            else:
                token = TypedToken(token, first, last, text[first:last])
            tokens.append(token)
        return tokens


class NormalizingTokenizer(RawTextTokenizer):
    """Makes a `RawTextTokenizer` of any other."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        return self._tokenizer.tokenize(text)


@Tokenizer.register("penn_treebank")
class PennTreebankTokenizer(RawTextTokenizer):
    """
    Splits a sentence as in the Penn Treebank, except that both quotation marks are `"`. Text that biLMs are
    trained on, such as the 1 Billion Word Benchmark, is tokenized like this.

    Registered as a `Tokenizer` with name "penn_treebank".
    """

    def __init__(self) -> None:
        self._tokenizer = TreebankWordTokenizer()

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        end = 0
        for word in self._tokenizer.tokenize(text):
            start = _SPACE.match(text, end).end()  # type: ignore[union-attr]
            is_quote = word in ("``", "''")
            end = start + (1 if is_quote and text[start] == '"' else len(word))
            yield Token('"' if is_quote else word, start, end)


class EnglishRules(SpacyRules):
    """spaCy's rules for English. Raises `ConfigurationError` for 2,001 characters without white space."""

    def __init__(self, *pipes: str) -> None:
        super().__init__("en", *pipes)

    @overrides
    def parse(self, text: str) -> Doc:
        longest = max(map(len, text.split()), default=0)
        if longest > MAX_RUN:
            raise ConfigurationError(
                f"spaCy's rules read {MAX_RUN:,} characters without white space, not {longest:,}"
            )
        return super().parse(text)


class SpacyRulesTokenizer(RawTextTokenizer):
    """Splits a sentence by spaCy's rules for English, without a trained model. Spaces are not tokens."""

    def __init__(self) -> None:
        self._rules = EnglishRules()

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        return [Token(token.text, token.idx) for token in self._rules.parse(text) if not token.is_space]


def raw_text_tokenizer(tokenizer: Tokenizer | None, default: type[RawTextTokenizer]) -> RawTextTokenizer:
    """Returns the tokenizer of a reader or predictor: the one that was given, normalizing, or the default."""
    if tokenizer is None:
        return default()
    return tokenizer if isinstance(tokenizer, RawTextTokenizer) else NormalizingTokenizer(tokenizer)
