"""The lexicons of ELMoForManyLangs: for each character or word, the row of its vector."""

from collections.abc import Container, Sequence

from elmo_plugin.bilm.characters import BEGIN_SENTENCE, END_SENTENCE
from elmo_plugin.common.errors import BiLmError, check_at_least

# Characters or words, each with the row of its vector.
Lexicon = tuple[tuple[str, int], ...]

MAX_ROW_DIGITS = 9  # no lexicon has a thousand million words, so a longer number is damage
UNKNOWN = "<oov>"
PADDING = "<pad>"
BOUNDARIES = {BEGIN_SENTENCE: "<bos>", END_SENTENCE: "<eos>"}
# This is no mistake: the released models were trained with the two marks of a word swapped.
FIRST_MARK = "<eow>"
LAST_MARK = "<bow>"
NEEDED_CHARACTERS = (UNKNOWN, PADDING, *BOUNDARIES.values(), FIRST_MARK, LAST_MARK)
NEEDED_WORDS = (UNKNOWN,)


def num_rows(lexicon: Lexicon) -> int:
    """Returns how many rows the embedding matrix of a lexicon has."""
    return max(row for _, row in lexicon) + 1


def check_lexicon(name: str, lexicon: Lexicon, needed: Sequence[str]) -> None:
    """
    Raises `BiLmError`, beginning with `name`, unless each entry is a text with a row, and the
    `needed` ones are among them.
    """
    for token, row in lexicon:
        if not isinstance(token, str):
            raise BiLmError(f"{name}: expected a text, got {token!r:.60}")
        place = f"{name}: the row of {token!r:.60}"
        check_at_least(place, row, least=0, most=10**MAX_ROW_DIGITS)
    check_tokens(name, {token for token, _ in lexicon}, needed)


def check_tokens(name: str, tokens: Container[str], needed: Sequence[str]) -> None:
    """Raises `BiLmError`, beginning with `name`, unless the tokens include the `needed` ones."""
    for token in needed:
        if token not in tokens:
            raise BiLmError(f"{name}: {token} is missing")
