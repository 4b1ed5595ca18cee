"""From a line to its words."""

from collections.abc import Callable

Tokenize = Callable[[str], list[str]]

_MAX_STRINGS = 2**17  # that a tokenizer of spaCy remembers before it is made anew


def make_tokenizer(name: str, language: str) -> Tokenize:
    """
    # Parameters

    name : `str`
        "whitespace" or "spacy": the rules that spaCy has for a language, with no model.
    language : `str`
        Its code, such as "en".

    Raises `ImportError` where spaCy has no such rules, or they need a package that is not there.
    """
    return str.split if name == "whitespace" else SpacyRules(language)


class SpacyRules:
    """spaCy's rule-based tokenizer. spaCy keeps each string that it has seen; here they are few."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._make()

    def __call__(self, text: str) -> list[str]:
        words = [token.text for token in self._tokenizer(text) if not token.is_space]
        if len(self._strings) > self._most_strings:
            self._make()
        return words

    def _make(self) -> None:
        import spacy  # takes a second, which those with tokenised text need not wait

        rules = spacy.blank(self._language)
        self._tokenizer, self._strings = rules.tokenizer, rules.vocab.strings
        self._most_strings = len(self._strings) + _MAX_STRINGS
