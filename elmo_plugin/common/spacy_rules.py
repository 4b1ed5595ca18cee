"""spaCy's rules that split text into words, in bounded memory."""

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.typography import SEGMENTED_LANGUAGES, NormalizedText, Word, check_script

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span


# A full stop after a letter or syllable of Korean, as a regular expression of a suffix.
_KOREAN_FULL_STOP = r"(?<=[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3])\."

_ARMENIAN_FULL_STOP = r"(?<=[\u0531-\u0587])\u0589"


class _LoadedRules(NamedTuple):
    """spaCy's rules, and the number of words that they knew when they were loaded."""

    nlp: "Language"
    num_words_at_load: int


class SpacyRules:
    """
    The tokenizer of a language, followed by `pipes`, such as "sentencizer". spaCy never forgets a
    word that it has seen, so the rules are loaded again after many new words. Threads may share an
    object of this class.
    """

    # The rules are loaded again after this many new words: the words take about 50 MB, and loading
    # takes 0.2 seconds.
    max_new_words = 100_000

    # The option that a message names if a text needs the rules of another language.
    option = "language"

    def __init__(self, language: str, *pipes: str) -> None:
        self._language = language
        self._pipes = pipes
        # For all but a few languages, spaCy finds words only by spaces and punctuation.
        self._needs_spaces = language not in SEGMENTED_LANGUAGES
        self._rules = self._load()

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out spaCy's rules, because pickle cannot write their class."""
        state = self.__dict__.copy()
        del state["_rules"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Loads spaCy's rules again."""
        self.__dict__.update(state)
        self._rules = self._load()

    def words(self, text: str) -> list[Word]:
        """Returns the words of a text, without white space."""
        return list(chain.from_iterable(self.sentences(text)))

    def sentences(self, text: str) -> list[list[Word]]:
        """
        Returns the words of each sentence, without white space. Without pipes, the whole text is
        one sentence. Raises `BiLmError` if the rules cannot find words in the script of the text.
        """
        if self._needs_spaces:
            check_script(text, self.option)
        # Rules that need spaces also get them around Han and kana characters.
        normalized = NormalizedText(text, separate=self._needs_spaces)
        doc = self.parse(normalized.text)
        sentences = []
        spans: Iterable[Doc | Span]
        if self._pipes:
            spans = doc.sents
        else:
            spans = [doc]  # nothing has found sentences in it
        for span in spans:
            words = [
                normalized.word(token.idx, token.idx + len(token))
                for token in span
                if not token.is_space
            ]
            if words:
                sentences.append(words)
        return sentences

    def parse(self, text: str) -> "Doc":
        """Splits a normalized text into words, runs the pipes, and returns spaCy's document."""
        # Another thread may replace `self._rules` meanwhile, so it is read only once.
        rules = self._rules
        num_new_words = len(rules.nlp.vocab.strings) - rules.num_words_at_load
        if num_new_words > self.max_new_words:
            rules = self._load()
            self._rules = rules
        nlp = rules.nlp
        # Not `nlp(text)`, because that refuses texts of over a million characters.
        doc = nlp.tokenizer(text)
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        return doc

    def _load(self) -> _LoadedRules:
        """Loads spaCy's rules of the language, with a few suffixes and a prefix of our own."""
        from spacy.util import get_lang_class  # imported here, because that takes a second

        language = self._language
        if language == "zh":
            # spaCy's rules for Chinese split Latin words and numbers into characters, and begin a
            # new sentence after the point in 3.14. Its rules for any language ("xx") do not.
            language = "xx"
        try:
            nlp = _with_own_rules(get_lang_class(language))()
        except ImportError as error:
            raise BiLmError(
                f"spaCy has no rules for language {self._language!r} ({error})"
            ) from None
        for pipe in self._pipes:
            nlp.add_pipe(pipe)
        return _LoadedRules(nlp, num_words_at_load=len(nlp.vocab.strings))


def _with_own_rules(language: "type[Language]") -> "type[Language]":
    """
    Returns a subclass of spaCy's class of a language, with a few suffixes and a prefix of our own.
    The rules are changed in a class because that is fast: a finished tokenizer would read its
    thousands of exceptions again after each change.
    """

    class WithOwnRules(language):  # type: ignore[misc, valid-type]
        class Defaults(language.Defaults):  # type: ignore[name-defined]
            pass

    # spaCy splits an em dash from a word, but not "--", its ASCII form. It also leaves the full
    # stop on a Korean or an Armenian word.
    prefixes = list(language.Defaults.prefixes or [])
    prefixes.append("--")
    WithOwnRules.Defaults.prefixes = prefixes
    suffixes = list(language.Defaults.suffixes or [])
    suffixes += ["--", _KOREAN_FULL_STOP, _ARMENIAN_FULL_STOP]
    WithOwnRules.Defaults.suffixes = suffixes
    return WithOwnRules
