"""Tokenizers of plain sentences: a sentence is tokenised as the training data of its task is."""

import spacy
from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tokenize import TreebankWordTokenizer
from overrides import overrides


@Tokenizer.register("penn_treebank")
class PennTreebankTokenizer(Tokenizer):
    """
    Splits a sentence as the Penn Treebank does, except that both quotation marks are `"`. Text that biLMs are
    trained on, such as the 1 Billion Word Benchmark, is tokenised like this.

    Registered as a `Tokenizer` with name "penn_treebank".
    """

    def __init__(self) -> None:
        self._tokenizer = TreebankWordTokenizer()

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token('"' if word in ("``", "''") else word) for word in self._tokenizer.tokenize(text)]


class SpacyRulesTokenizer(Tokenizer):
    """
    Splits a sentence by spaCy's rules for English, which need no trained model, unlike those of AllenNLP's
    `SpacyTokenizer`. Spaces are not tokens.
    """

    def __init__(self) -> None:
        self._tokenizer = spacy.blank("en").tokenizer

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token(token.text, token.idx) for token in self._tokenizer(text) if not token.is_space]
