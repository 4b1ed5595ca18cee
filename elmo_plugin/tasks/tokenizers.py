"""Tokenizers of plain sentences: a sentence is tokenized as the training data of its task is."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from string import punctuation

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides
from spacy.lang.char_classes import CONCAT_ICONS
from spacy.lang.en.tokenizer_exceptions import TOKENIZER_EXCEPTIONS
from spacy.tokens import Doc

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.spacy_rules import SpacyRules
from elmo_plugin.common.typography import SEGMENTED_LANGUAGES, NormalizedText, check_script

# Characters without white space: 2,000 take 0.3 seconds, and the time grows with their square.
MAX_RUN = 2_000
_MORE = "etc. No. Nos. Fig. Sgt. Lt. Col. Capt. Maj. Hon. Sr. Ave. approx."
_ABBREVIATIONS = TOKENIZER_EXCEPTIONS.keys() | set(_MORE.split())
# The last word of a sentence, and maybe the first of the next one, with no space between them.
_RUN_ON = re.compile(r"(?P<word>.*[a-z0-9]{2})(?P<stop>\.+)(?P<next>[A-Z][a-z]+)?")
_SPACE = re.compile(r"\s*")
_ICON = rf"(?![\u0000-\u214f])[{CONCAT_ICONS}]"  # not a degree sign, which stays at its number
_EMOJI = (
    r"[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    rf"|{_ICON}(?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d{_ICON})*"
)
_MARKS = re.compile(f"([¿¡।॥۔؟؛،።፣։]|{_EMOJI})")  # noqa: RUF001


class TypedToken(Token):
    """
    A word with its place in the text, from `idx` to `idx_end`, and with its form there, `typed`.
    The model may read another form of it, `text`.
    """

    __slots__ = ("typed",)

    def __init__(self, token: Token, start: int, end: int, typed: str) -> None:
        # A token of spaCy does not have all of these attributes.
        attributes = {name: getattr(token, name, None) for name in Token.__slots__}
        super().__init__(**attributes)
        self.idx = start
        self.idx_end = end
        self.typed = typed


def text_as_typed(token: Token) -> str:
    """Returns a word as it stands in the text, to show it: the model may read another form."""
    if isinstance(token, TypedToken):
        return token.typed
    return token.ensure_text()


class RawTextTokenizer(Tokenizer):
    """
    The base of tokenizers of text as people type it. Typographic characters are first replaced by
    ASCII characters, see `normalize_text`, and a subclass splits the normalized text. But the
    places of the tokens, and the forms that are shown, are those in the text as typed.
    """

    needs_spaces = True
    """Whether a text must have spaces between words. Each Han or kana character is then a word."""

    @abstractmethod
    def split(self, text: str) -> Iterable[Token]:
        """
        Returns the words of a normalized text. A word without `idx` is expected at the end of the
        word before it, or after white space there.
        """

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        if self.needs_spaces:
            # Text in a script without spaces, such as Thai, is an error.
            with as_configuration_error():
                check_script(text, option="tokenizer")
        normalized = NormalizedText(text, separate=self.needs_spaces)
        tokens: list[Token] = []
        end_before = 0  # the end of the token before, in the normalized text
        for token in self.split(normalized.text):
            place = _find_token(token, normalized.text, end_before)
            if place is None:  # not in the text, such as [CLS]: it remains without a place
                tokens.append(token)
            else:
                end_before = place.stop
                typed_place = normalized.word(place.start, place.stop)
                tokens.append(_with_place(token, typed_place.start, typed_place.end, text))
        return tokens


def _with_place(token: Token, start: int, end: int, text: str) -> Token:
    """
    Returns a token with its place in the text as typed, and with its form there if the model reads
    another one.
    """
    typed = text[start:end]
    is_changeable = isinstance(token, Token)  # spaCy's tokens are not
    if is_changeable and token.ensure_text() == typed:
        token.idx = start
        token.idx_end = end
        return token
    return TypedToken(token, start, end, typed)


def _find_token(token: Token, text: str, end_before: int) -> slice | None:
    """
    Returns the place of a token in a text: the one that the token states, or the next one after the
    token before, which ends at `end_before`. Returns `None` for a token that is not there, such as
    [CLS].
    """
    word = token.ensure_text()
    start = token.idx
    if start is None:
        start = _end_of_space(text, end_before)
        if not word or not text.startswith(word, start):
            return None
    end = getattr(token, "idx_end", None)  # a token of spaCy does not have it
    if end is None:
        end = start + len(word)
    return slice(start, end)


def _end_of_space(text: str, start: int) -> int:
    """Returns the place of the first character from `start` on that is not white space."""
    return _SPACE.match(text, start).end()  # type: ignore[union-attr]


class NormalizingTokenizer(RawTextTokenizer):
    """Makes a `RawTextTokenizer` of any other."""

    needs_spaces = False

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        return self._tokenizer.tokenize(text)


@Tokenizer.register("penn_treebank")
class PennTreebankTokenizer(RawTextTokenizer):
    """
    Splits a sentence as in the Penn Treebank, except that both quotation marks are `"`. Text that
    biLMs are trained on, such as the 1 Billion Word Benchmark, is tokenized like this. In a text of
    several sentences each full stop is a word. Each Han or kana character is a word.

    Registered as a `Tokenizer` with name "penn_treebank".
    """

    def __init__(self) -> None:
        from nltk.tokenize import TreebankWordTokenizer  # here, because importing it takes a moment

        self._tokenizer = TreebankWordTokenizer()

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        """
        Yields NLTK's words with their places in the text. NLTK writes a quotation mark as two
        backticks or apostrophes, and this turns them back into `"`.
        """
        end = 0
        for word in self._words(text):
            start = _end_of_space(text, end)
            length = len(word)
            if word in ("``", "''"):
                word = '"'
                if text[start] == '"':  # the text may also have two backticks or apostrophes
                    length = 1
            end = start + length
            yield Token(word, start, end)

    def _words(self, text: str) -> Iterator[str]:
        """Yields NLTK's words, split further at marks that NLTK does not know."""
        for chunk in self._tokenizer.tokenize(text):
            for part in _split_marks(chunk):
                yield from _split_stop(part)


def _split_marks(word: str) -> list[str]:
    """Splits emoji and marks of other languages from a word, as in `¿Dónde` and `good😀`."""
    if word.isascii():
        return [word]
    return [part for part in _MARKS.split(word) if part]


def _split_stop(word: str) -> list[str]:
    """
    Splits the full stop that ends a sentence from its last word, even if the next sentence follows
    without a space, as in `phone.It`. The stops of abbreviations and numbers remain.
    """
    if "." not in word or word in _ABBREVIATIONS:
        return [word]
    match = _RUN_ON.fullmatch(word)
    if match is not None and f"{match['word']}." not in _ABBREVIATIONS:
        # Two small letters or digits come before the stop, so it ends a sentence.
        parts = [match["word"], match["stop"]]
        if match["next"]:
            parts.append(match["next"])
        return parts
    if not word.endswith("."):  # as in 3.5
        return [word]
    stem = word.removesuffix(".")
    _, _, last_part = stem.rpartition(".")
    if not last_part:  # only the stop itself, or several stops at the end
        return [word]
    is_initial = len(last_part) == 1 and last_part.lower() != last_part.upper()  # as in J. and U.S.
    if is_initial or last_part[-1] in punctuation:
        return [word]
    return [stem, "."]


class LimitedRules(SpacyRules):
    """
    spaCy's rules for a language with spaces between words. They take long for many characters
    without white space, so more than 2,000 of them are a `ConfigurationError`.
    """

    option = "the words, as a list"

    @overrides
    def parse(self, text: str) -> Doc:
        longest = max((len(run) for run in text.split()), default=0)
        if longest > MAX_RUN:
            raise ConfigurationError(
                f"spaCy's rules read {MAX_RUN:,} characters without white space, not {longest:,}"
            )
        return super().parse(text)


@Tokenizer.register("spacy_rules")
class SpacyRulesTokenizer(RawTextTokenizer):
    """
    Splits a sentence by spaCy's rules for a language, without a trained model. Spaces are not
    tokens.

    Registered as a `Tokenizer` with name "spacy_rules".

    # Parameters

    language : `str`, optional (default = `"en"`)
        spaCy's code of the language. "ja" and "th" need another package; spaCy's error says which.
        In all other languages, each Han or kana character is a word.
    """

    def __init__(self, language: str = "en") -> None:
        self.needs_spaces = language not in SEGMENTED_LANGUAGES
        with as_configuration_error():
            if self.needs_spaces:
                self._rules: SpacyRules = LimitedRules(language)
            else:
                self._rules = SpacyRules(language)

    @overrides
    def split(self, text: str) -> Iterable[Token]:
        return [
            Token(token.text, token.idx) for token in self._rules.parse(text) if not token.is_space
        ]


def raw_text_tokenizer(
    tokenizer: Tokenizer | None, *, default: type[RawTextTokenizer]
) -> RawTextTokenizer:
    """Returns `as_raw_text_tokenizer(tokenizer)`, or the default if no tokenizer is given."""
    if tokenizer is None:
        return default()
    return as_raw_text_tokenizer(tokenizer)


def as_raw_text_tokenizer(tokenizer: Tokenizer) -> RawTextTokenizer:
    """Returns a tokenizer that splits like the given one, and takes text as people type it."""
    if isinstance(tokenizer, RawTextTokenizer):
        return tokenizer
    return NormalizingTokenizer(tokenizer)
