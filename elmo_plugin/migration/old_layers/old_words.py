"""The words of AllenNLP 0.x, for configurations that `elmo port` changed."""

import re
from collections.abc import Callable, Iterable, Iterator

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import LettersDigitsTokenizer, Token, Tokenizer
from overrides import overrides

_OPENING = "\"'([{#$\u201c\u2018"
_CLOSING = "\"'.,;)]}:!?%\u201d\u2019"
_ABBREVIATIONS = {"mr.", "mrs.", "etc.", "e.g.", "cf.", "c.f.", "eg.", "al."}
_SUFFIX = "n['\u2019]t|['\u2019](?:s|ve|re|ll|d|m)"
_WITH_SUFFIXES = re.compile(f"(.*?)((?:{_SUFFIX})*)", re.I | re.A | re.S)
_SPECIAL = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")  # words of BERT


@Tokenizer.register("old_words")
class OldWords(Tokenizer):
    """
    Splits text like those word splitters of AllenNLP 0.x that AllenNLP 2 lacks, or to which it
    cannot add start and end tokens.

    Registered as a `Tokenizer` with name "old_words".

    # Parameters

    splitter : `str`
        "simple", "just_spaces", "letters_digits" or "bert-basic".
    start_tokens, end_tokens : `list[str]`, optional (default = `[]`)
        Added to each text.
    do_lower_case : `bool`, optional (default = `True`)
        Of "bert-basic".
    never_split : `list[str]`, optional (default = BERT's special tokens)
        Of "bert-basic".
    """

    def __init__(
        self,
        splitter: str,
        # AllenNLP makes no tuples of a configuration's lists, and nothing changes these.
        start_tokens: list[str] = [],  # noqa: B006
        end_tokens: list[str] = [],  # noqa: B006
        do_lower_case: bool = True,
        never_split: list[str] = list(_SPECIAL),  # noqa: B006
    ) -> None:
        self._split: Callable[[str], list[Token]]
        if splitter == "simple":
            self._split = _tokenizer_of(_simple_words)
        elif splitter == "just_spaces":
            self._split = _tokenizer_of(str.split)
        elif splitter == "letters_digits":
            self._split = LettersDigitsTokenizer().tokenize
        elif splitter == "bert-basic":
            self._split = _tokenizer_of(_bert_splitter(do_lower_case, never_split))
        else:
            raise ConfigurationError(
                "splitter: expected one of simple, just_spaces, letters_digits, bert-basic, "
                f"found {splitter!r}"
            )
        self._start = [Token(word) for word in start_tokens]
        self._end = [Token(word) for word in end_tokens]

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        return [*self._start, *self._split(text), *self._end]


def _tokenizer_of(split: Callable[[str], Iterable[str]]) -> Callable[[str], list[Token]]:
    """Returns a function that makes tokens of the words of a text."""

    def tokenize(text: str) -> list[Token]:
        return [Token(word) for word in split(text)]

    return tokenize


def _bert_splitter(do_lower_case: bool, never_split: list[str]) -> Callable[[str], list[str]]:
    """Returns a function that splits text as BERT does before it looks for word pieces."""
    try:
        from transformers.models.bert.tokenization_bert import BasicTokenizer
    except ModuleNotFoundError:
        raise ConfigurationError(
            "splitter: \"bert-basic\" needs transformers: pip install 'elmo_plugin[transformers]'"
        ) from None
    return BasicTokenizer(do_lower_case, never_split).tokenize


def _simple_words(text: str) -> Iterator[str]:
    """
    Yields the words of a text. In each piece between spaces, punctuation at both ends is separated,
    then contractions.
    """
    for field in text.split():
        word = field.lstrip(_OPENING)
        yield from field[: len(field) - len(word)]  # each opening mark is a word
        end = len(word)
        while end and word[end - 1] in _CLOSING and word[:end].lower() not in _ABBREVIATIONS:
            end -= 1
        # The rest is a stem and its contractions, such as "'ll" and "n't".
        stem, suffixes = _WITH_SUFFIXES.fullmatch(word, 0, end).groups()  # type: ignore[union-attr]
        if stem:
            yield stem
        yield from re.findall(_SUFFIX, suffixes, re.I | re.A)
        yield from word[end:]  # each closing mark is a word
