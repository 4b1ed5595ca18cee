"""Words as character ids, in the scheme of the published ELMo models.

A word is the bytes of its UTF-8 form between a begin-word and an end-word id, padded to a fixed
number of slots; every id is one more than in the scheme's own numbering, so that 0 is left for "no
token here".
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from elmo_plugin.bilm.inputs import as_sentences
from elmo_plugin.common.errors import BiLmError

MAX_CHARACTERS_PER_TOKEN = 50
# 256 bytes, the five below, and 0 for "no token here".
NUM_CHARACTERS = 262

BEGIN_SENTENCE = 257
END_SENTENCE = 258
BEGIN_WORD = 259
END_WORD = 260
PADDING = 261

BEGIN_SENTENCE_TOKEN = "<S>"
END_SENTENCE_TOKEN = "</S>"
_SPECIAL_TOKENS = {BEGIN_SENTENCE_TOKEN: BEGIN_SENTENCE, END_SENTENCE_TOKEN: END_SENTENCE}


@lru_cache(maxsize=1 << 17)
def word_to_character_ids(word: str, max_characters: int = MAX_CHARACTERS_PER_TOKEN) -> np.ndarray:
    """
    Returns the ids of a word, shape (max_characters,), int16, read-only because all uses of the
    word share it.

    UTF-8 bytes beyond `max_characters - 2` are dropped, as the published models do. `<S>` and
    `</S>` stand for the sentence boundaries.
    """
    ids = np.full(max_characters, PADDING, dtype=np.int16)
    if word in _SPECIAL_TOKENS:
        ids[:3] = [BEGIN_WORD, _SPECIAL_TOKENS[word], END_WORD]
    else:
        # "ignore" leaves out halves of surrogate pairs, since they have no bytes in UTF-8.
        content = word.encode("utf-8", "ignore")[: max_characters - 2]
        end = len(content) + 1
        ids[0] = BEGIN_WORD
        ids[1:end] = np.frombuffer(content, dtype=np.uint8)
        ids[1:end] += 1
        ids[end] = END_WORD
    ids.flags.writeable = False
    return ids


def check_no_boundaries(words: Iterable[str], place: str) -> None:
    """
    Raises `BiLmError`, beginning with `place`, if the words of a sentence contain `<S>` or
    `</S>`.
    """
    words = set(words)
    boundaries = [token for token in _SPECIAL_TOKENS if token in words]
    if boundaries:
        raise BiLmError(
            f"{place}: the sentence contains {' and '.join(boundaries)}: "
            "remove it from the text, because the biLM adds the boundaries of sentences itself"
        )


def sentences_to_character_ids(
    sentences: Iterable[Iterable[Any]], max_characters: int = MAX_CHARACTERS_PER_TOKEN
) -> np.ndarray:
    """
    Returns shape (sentences, words of the longest sentence, max_characters), int16, zeros after a
    sentence's end. Sentence boundaries are not included: the biLM adds them.

    Raises `BiLmError` if a sentence is not a list of words.
    """
    sentences = as_sentences(sentences)
    longest = max([len(sentence) for sentence in sentences], default=0)
    ids = np.zeros((len(sentences), longest, max_characters), dtype=np.int16)
    for row, sentence in enumerate(sentences):
        for column, word in enumerate(sentence):
            ids[row, column] = word_to_character_ids(word, max_characters)
    return ids
