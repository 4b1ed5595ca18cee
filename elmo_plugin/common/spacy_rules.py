"""spaCy's rules that split text into words, in bounded memory."""

from typing import TYPE_CHECKING, Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.typography import SEGMENTED_LANGUAGES, NormalizedText, Word, check_script

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


class SpacyRules:
    """
    The tokenizer of a language, followed by `pipes`, such as "sentencizer". spaCy stores each new
    word for ever, so the rules are loaded again after many. Threads may share them.
    """

    # After so many the rules are loaded again, in 0.2 seconds. This many words take about 50 MB.
    max_new_words = 100_000

    # The option that a message names if a text needs the rules of another language.
    option = "language"

    def __init__(self, language: str, *pipes: str) -> None:
        self._language = language
        self._pipes = pipes
        self._needs_spaces = language not in SEGMENTED_LANGUAGES
        self._rules = self._load()

    def words(self, text: str) -> list[Word]:
        """Returns the words of a text, without white space."""
        return [word for sentence in self.sentences(text) for word in sentence]

    def sentences(self, text: str) -> list[list[Word]]:
        """Returns the words of each sentence; the text is one sentence if no pipe splits it."""
        if self._needs_spaces:
            check_script(text, self.option)
        normalized = NormalizedText(text, separate=self._needs_spaces)
        doc = self.parse(normalized.text)
        sentences = []
        for span in doc.sents if self._pipes else [doc]:
            words = [
                normalized.word(token.idx, token.idx + len(token))
                for token in span
                if not token.is_space
            ]
            if words:
                sentences.append(words)
        return sentences

    def parse(self, text: str) -> "Doc":
        """Returns spaCy's document of a normalized text."""
        nlp, first_words = self._rules
        if len(nlp.vocab.strings) > first_words + self.max_new_words:
            nlp, _ = self._rules = self._load()
        doc = nlp.tokenizer(text)
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        return doc

    def _load(self) -> "tuple[Language, int]":
        """Returns new rules, and the number of words that they know."""
        import spacy  # here, as it takes a second
        from spacy.util import compile_prefix_regex, compile_suffix_regex

        try:
            # spaCy's Chinese also splits Latin words and numbers into characters, and sentences at
            # 3.14.
            nlp = spacy.blank("xx" if self._language == "zh" else self._language)
        except ImportError as error:
            raise BiLmError(
                f"spaCy has no rules for language {self._language!r} ({error})"
            ) from None
        # The rules split an em dash from a word; its ASCII twin as well, and a full stop from a
        # Korean word.
        rules: Any = nlp.tokenizer
        rules.prefix_search = compile_prefix_regex([*(nlp.Defaults.prefixes or []), "--"]).search
        suffixes = [
            *(nlp.Defaults.suffixes or []),
            "--",
            r"(?<=[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3])\.",
        ]
        rules.suffix_search = compile_suffix_regex(suffixes).search
        for pipe in self._pipes:
            nlp.add_pipe(pipe)
        return nlp, len(nlp.vocab.strings)
