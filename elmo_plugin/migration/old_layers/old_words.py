"""The words of AllenNLP 0.x, for configurations that `elmo port` changed."""

import re
from collections.abc import Callable, Iterable, Iterator

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import LettersDigitsTokenizer, Token, Tokenizer
from overrides import overrides

# Marks that may precede a word
_OPENING = "\"'([{#$\u201c\u2018"
# Marks that may follow a word
_CLOSING = tuple("\"'.,;)]}:!?%\u201d\u2019")
_ABBREVIATIONS = {"mr.", "mrs.", "etc.", "e.g.", "cf.", "c.f.", "eg.", "al."}
# The end of a contraction, such as "n't" and "'ll"
_SUFFIX = "n['\u2019]t|['\u2019](?:s|ve|re|ll|d|m)"
_STEM_AND_SUFFIXES = re.compile(
    f"(?P<stem>.*?)(?P<suffixes>(?:{_SUFFIX})*)", re.IGNORECASE | re.ASCII | re.DOTALL
)
_BERT_SPECIAL_TOKENS = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]


@Tokenizer.register("old_words")
class OldWords(Tokenizer):
    """
    Splits text as a word splitter of AllenNLP 0.x did. AllenNLP 2 does not have some of these
    splitters, and it cannot add start and end tokens to the words of others.

    Registered as a `Tokenizer` with name "old_words".

    # Parameters

    splitter : `str`
        "simple", "just_spaces", "letters_digits" or "bert-basic".
    start_tokens, end_tokens : `list[str]`, optional (default = `None`)
        Words that are added before and after the words of each text.
    do_lower_case : `bool`, optional (default = `True`)
        Whether the splitter "bert-basic" makes words lowercase. The other splitters ignore it.
    never_split : `list[str]`, optional (default = `None`)
        Words that the splitter "bert-basic" leaves whole: by default BERT's special tokens. The
        other splitters ignore it.
    """

    def __init__(
        self,
        splitter: str,
        start_tokens: list[str] | None = None,
        end_tokens: list[str] | None = None,
        do_lower_case: bool = True,
        never_split: list[str] | None = None,
    ) -> None:
        self._split: Callable[[str], list[Token]]
        if splitter == "simple":
            self._split = _make_tokenizer(_simple_words)
        elif splitter == "just_spaces":
            self._split = _make_tokenizer(str.split)
        elif splitter == "letters_digits":
            self._split = LettersDigitsTokenizer().tokenize
        elif splitter == "bert-basic":
            self._split = _make_tokenizer(_bert_splitter(do_lower_case, never_split))
        else:
            raise ConfigurationError(
                "splitter: expected one of simple, just_spaces, letters_digits, bert-basic, "
                f"found {splitter!r}"
            )
        self._start_tokens = [Token(word) for word in start_tokens or []]
        self._end_tokens = [Token(word) for word in end_tokens or []]

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [*self._start_tokens, *self._split(text), *self._end_tokens]


def _make_tokenizer(split: Callable[[str], Iterable[str]]) -> Callable[[str], list[Token]]:
    """Returns a function that splits a text with `split`, and makes a token of each word."""

    def tokenize(text: str) -> list[Token]:
        return [Token(word) for word in split(text)]

    return tokenize


def _bert_splitter(
    do_lower_case: bool, never_split: list[str] | None
) -> Callable[[str], list[str]]:
    """Returns a function that splits text as BERT does before it looks for word pieces."""
    try:
        from transformers.models.bert.tokenization_bert import BasicTokenizer
    except ModuleNotFoundError:
        raise ConfigurationError(
            "splitter: \"bert-basic\" needs transformers: pip install 'elmo_plugin[transformers]'"
        ) from None
    if never_split is None:
        never_split = _BERT_SPECIAL_TOKENS
    return BasicTokenizer(do_lower_case, never_split).tokenize


def _simple_words(text: str) -> Iterator[str]:
    """
    Yields the words of a text. The text is split at spaces. Then each mark of punctuation at an end
    of a piece becomes a word, and the rest is split into a stem and its contractions.
    """
    for piece in text.split():
        without_opening = piece.lstrip(_OPENING)
        opening_marks = piece.removesuffix(without_opening)
        word = _without_closing(without_opening)
        closing_marks = without_opening.removeprefix(word)
        yield from opening_marks
        yield from _split_contractions(word)
        yield from closing_marks


def _without_closing(word: str) -> str:
    """Removes closing marks from a word until none is left, or until it is an abbreviation."""
    while word.endswith(_CLOSING) and word.lower() not in _ABBREVIATIONS:
        word = word[:-1]
    return word


def _split_contractions(word: str) -> Iterator[str]:
    """Yields the stem of a word, and the contractions after it, such as "n't" and "'ll"."""
    parts = _STEM_AND_SUFFIXES.fullmatch(word)
    assert parts is not None  # the expression matches every text
    if parts["stem"]:
        yield parts["stem"]
    yield from re.findall(_SUFFIX, parts["suffixes"], re.IGNORECASE | re.ASCII)
