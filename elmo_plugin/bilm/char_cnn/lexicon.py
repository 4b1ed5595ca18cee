"""The characters and words that a model of ELMoForManyLangs knows: their files, and looking them up."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from elmo_plugin.bilm.characters import BEGIN_SENTENCE, END_SENTENCE
from elmo_plugin.bilm.options import Lexicon, LexiconCnnOptions
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes

UNKNOWN = "<oov>"
PADDING_ENTRY = "<pad>"
BEGIN_OF_SENTENCE, END_OF_SENTENCE = "<bos>", "<eos>"
# The released models were trained with these two marks the wrong way round, so this is right.
FIRST_MARK, LAST_MARK = "<eow>", "<bow>"

NEEDED_OF_CHARACTERS = (UNKNOWN, PADDING_ENTRY, BEGIN_OF_SENTENCE, END_OF_SENTENCE, FIRST_MARK, LAST_MARK)
NEEDED_OF_WORDS = (UNKNOWN,)
_MAX_DIGITS = 9  # of the number of a row

_NAME_OF_BOUNDARY = {BEGIN_SENTENCE: BEGIN_OF_SENTENCE, END_SENTENCE: END_OF_SENTENCE}


def read_lexicon(path: Path, needed: Sequence[str]) -> Lexicon:
    """
    # Parameters

    path : `Path`
        Has a line `token<TAB>number` for each character or word. White space around it is ignored, so of a
        character that is white space only the number is left: it is taken for the ideographic space U+3000.
    needed : `Sequence[str]`
        What must be among them.

    Raises `BiLmError` where the file is missing, is not UTF-8 text of such lines, or lacks what is needed.
    """
    numbers: dict[str, int] = {}
    try:
        lines = read_bytes(path, f"lexicon {path}").decode("utf-8-sig").rstrip("\n").split("\n")
    except UnicodeDecodeError as error:
        raise BiLmError(f"lexicon {path}: not UTF-8 ({error})") from None
    for line_number, line in enumerate(lines, start=1):
        *tokens, number = line.strip().split("\t")
        if len(tokens) > 1 or not number.isdecimal() or len(number) > _MAX_DIGITS:
            raise BiLmError(
                f"lexicon {path}, line {line_number}: not a token, a tab and a number, but {line!r}"
            )
        numbers[tokens[0] if tokens else "\u3000"] = int(number)
    for token in needed:
        if token not in numbers:
            raise BiLmError(f"lexicon {path}: has no {token}")
    return tuple(numbers.items())


def number_of_rows(lexicon: Lexicon) -> int:
    """Of the matrix of the vectors."""
    return max(row for _, row in lexicon) + 1


class LexiconReader:
    """
    Looks words up, which come as the character ids of published models: the bytes of their UTF-8 form.

    # Parameters

    options : `LexiconCnnOptions`
        With the lexicons, and how many characters of a word count.
    """

    def __init__(self, options: LexiconCnnOptions) -> None:
        self._slots = options.max_characters_per_word
        self._characters = dict(options.characters)
        self._words = dict(options.words)

    def texts(self, character_ids: Tensor) -> list[str]:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (types, bytes).

        # Returns

        `list[str]`
            Each word, cut to the characters that count, or the name of a boundary of a sentence.
        """
        return [self._text(row) for row in character_ids.tolist()]

    def word_ids(self, texts: Sequence[str]) -> list[int]:
        """The row of each word's vector."""
        unknown = self._words[UNKNOWN]
        return [self._words.get(text, unknown) for text in texts]

    def character_ids(self, texts: Sequence[str]) -> Tensor:
        """
        # Returns

        `Tensor`
            The rows of the vectors of each word's characters, between their marks: shape
            (types, max_characters_per_word).
        """
        return torch.tensor([self._character_ids(text) for text in texts])

    def _text(self, character_ids: Sequence[int]) -> str:
        if character_ids[1] in _NAME_OF_BOUNDARY:
            return _NAME_OF_BOUNDARY[character_ids[1]]
        content = bytes(number - 1 for number in character_ids if 0 < number <= 256)
        return content.decode("utf-8", "ignore")[: self._slots - 2]

    def _character_ids(self, text: str) -> list[int]:
        rows, unknown = self._characters, self._characters[UNKNOWN]
        characters = [text] if text in _NAME_OF_BOUNDARY.values() else text
        ids = [rows[FIRST_MARK], *(rows.get(character, unknown) for character in characters), rows[LAST_MARK]]
        return ids + [rows[PADDING_ENTRY]] * (self._slots - len(ids))
