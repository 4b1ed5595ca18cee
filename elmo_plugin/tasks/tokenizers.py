"""Tokenizers of plain sentences: a sentence is tokenised as the training data of its task is."""

import spacy
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tokenize import TreebankWordTokenizer
from overrides import overrides
from spacy.language import Language
from spacy.tokens import Doc

MAX_RUN = 2_000  # characters without white space take 0.3 seconds; the time grows with their square


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


class SpacyRules:
    """
    spaCy's rules for English, which need no trained model. spaCy stores each new word for ever, so the rules
    are loaded again after many. Several threads may use them.

    Raises `ConfigurationError` where a text has more than 2,000 characters without white space.

    # Parameters

    pipes : `str`
        The names of spaCy's components that follow the tokenizer, such as "sentencizer".
    """

    max_new_words = 100_000
    """After which the rules are loaded again, in 0.2 seconds. This many words take about 50 MB."""

    def __init__(self, *pipes: str) -> None:
        self._pipes = pipes
        self._rules = self._make()

    def __call__(self, text: str) -> Doc:
        longest = max(map(len, text.split()), default=0)
        if longest > MAX_RUN:
            raise ConfigurationError(
                f"spaCy's rules read {MAX_RUN:,} characters without white space, not {longest:,}"
            )
        nlp, first_words = self._rules
        if len(nlp.vocab.strings) > first_words + self.max_new_words:
            nlp, _ = self._rules = self._make()
        doc = nlp.tokenizer(text)
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        return doc

    def _make(self) -> tuple[Language, int]:
        """Returns new rules, and the number of words that they know."""
        nlp = spacy.blank("en")
        for pipe in self._pipes:
            nlp.add_pipe(pipe)
        return nlp, len(nlp.vocab.strings)


class SpacyRulesTokenizer(Tokenizer):
    """
    Splits a sentence by spaCy's rules for English, which need no trained model, unlike those of AllenNLP's
    `SpacyTokenizer`. Spaces are not tokens.
    """

    def __init__(self) -> None:
        self._rules = SpacyRules()

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [Token(token.text, token.idx) for token in self._rules(text) if not token.is_space]
