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
    """A word as the model reads it, with its place in the text and its form there, as `typed`."""

    __slots__ = ("typed",)

    def __init__(self, token: Token, start: int, end: int, typed: str) -> None:
        # A copy of the token with another place. A token of spaCy lacks some of the attributes.
        super().__init__(**{name: getattr(token, name, None) for name in Token.__slots__})
        self.idx = start
        self.idx_end = end
        self.typed = typed


def text_as_typed(token: Token) -> str:
    """Returns a word, to be shown, as it stands in the text: not as the model reads it."""
    if isinstance(token, TypedToken):
        return token.typed
    return token.ensure_text()


class RawTextTokenizer(Tokenizer):
    """
    The base of tokenizers of text as people type it. `split` gets ASCII twins of typographic
    characters, see `normalize_text`; the tokens have their places and forms in the text as typed.
    """

    needs_spaces = True
    """Whether it splits words at spaces; then Han and kana characters are words."""

    @abstractmethod
    def split(self, text: str) -> Iterable[Token]:
        """
        Returns the words of a normalized text. A word without `idx` is looked for right after the
        word before it, and the white space there.
        """

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        if self.needs_spaces:
            with as_configuration_error():  # for text in a script without spaces, such as Thai
                check_script(text, option="tokenizer")
        normalized = NormalizedText(text, separate=self.needs_spaces)
        tokens: list[Token] = []
        end = 0
        for token in self.split(normalized.text):
            place = _find_token(token, normalized.text, end)
            if place is None:  # a token that is not in the text is kept without a place
                tokens.append(token)
                continue
            end = place.stop
            typed_place = normalized.word(place.start, end)
            typed = text[typed_place.start : typed_place.end]
            # Only a token of AllenNLP can be changed, not one of spaCy.
            if isinstance(token, Token) and token.ensure_text() == typed:
                token.idx = typed_place.start
                token.idx_end = typed_place.end
            else:
                token = TypedToken(token, typed_place.start, typed_place.end, typed)
            tokens.append(token)
        return tokens


def _find_token(token: Token, text: str, end_before: int) -> slice | None:
    """
    Returns the place of a token in a text, after the token that ends at `end_before`; `None` for
    one that is not in the text, such as [CLS].
    """
    word = token.ensure_text()
    start = token.idx
    if start is None:
        start = _end_of_space(text, end_before)
        if not word or not text.startswith(word, start):
            return None
    end = getattr(token, "idx_end", None)  # tokens of spaCy have no such attribute
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
        Yields NLTK's words with their places in the text. Two backticks or apostrophes, as NLTK
        writes a quotation mark, become `"` again.
        """
        end = 0
        for word in self._words(text):
            start = _end_of_space(text, end)
            end = start + len(word)
            if word in ("``", "''"):
                word = '"'
                if text[start] == '"':  # otherwise the text itself has the two characters
                    end = start + 1
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
        # It plainly ends a sentence: two small letters or digits come before the stop.
        parts = [match["word"], match["stop"]]
        if match["next"]:
            parts.append(match["next"])
        return parts
    if not word.endswith("."):  # as in 3.5
        return [word]
    stem = word.removesuffix(".")
    _, _, last = stem.rpartition(".")
    is_letter_with_case = len(last) == 1 and last.lower() != last.upper()  # as in J. and U.S.
    is_after_stop = not last  # as in "…and so on.."
    if is_letter_with_case or is_after_stop or last[-1] in punctuation:
        return [word]
    return [stem, "."]


class LimitedRules(SpacyRules):
    """
    spaCy's rules for a language with spaces between words. More than 2,000 characters without white
    space are a `ConfigurationError`, as the rules would take long.
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
        The language by spaCy's code. For "ja" and "th" spaCy names the package that it needs; for
        all other text, each Han or kana character is a word.
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
    """Returns a tokenizer for text as people type it, from any tokenizer, or else the default."""
    if tokenizer is None:
        return default()
    return as_raw_text_tokenizer(tokenizer)


def as_raw_text_tokenizer(tokenizer: Tokenizer) -> RawTextTokenizer:
    """Returns a tokenizer for text as people type it that splits like the given one."""
    if isinstance(tokenizer, RawTextTokenizer):
        return tokenizer
    return NormalizingTokenizer(tokenizer)
