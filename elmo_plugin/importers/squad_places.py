"""The places of answers in a passage: those that the file says, or the only one that there is."""

import re

from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.tasks.squad.articles import Answer, is_blank

_ONE_SPACE = re.compile(r"\s")  # also a no-break space
_BLANKS_AROUND_ANSWERS = BYTE_ORDER_MARK + "\u200b\u2060 \t\n\r\u00a0"
_UNSPACED_SCRIPT = re.compile(
    r"[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
"""Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Kana, Han."""


def place_answer(
    text: str,
    start: int | None,
    passage: str,
    report: Report,
    take_first_place: bool,
) -> Answer:
    """
    Returns an answer as it stands in its passage, at the character `start`. If `start` is `None`,
    the passage must have the answer only once, or `take_first_place` takes the first of its places.
    The answer's white space may be of other kinds than in the passage, and it may have more around
    it.

    Raises `Unusable`, with the reason, if the answer is blank or its place is not certain.
    """
    num_leading_blanks = len(text) - len(text.lstrip(_BLANKS_AROUND_ANSWERS))
    text = text.strip(_BLANKS_AROUND_ANSWERS)
    if is_blank(text):
        raise Unusable("with a blank answer")
    # Each space replaces one character, so that places in `searched` are places in the passage.
    sought = _ONE_SPACE.sub(" ", text)
    searched = _ONE_SPACE.sub(" ", passage)
    if sought not in searched:
        raise Unusable("with an answer that is not in its passage")
    if start is not None:
        place = _place_near(start, num_leading_blanks, sought, searched)
    elif take_first_place:
        place = searched.index(sought)
    else:
        place = _only_place(sought, searched)
        report.took("answers without answer_start are words that their passage has only once")
    return Answer(passage[place : place + len(text)], place)


def _place_near(start: int, num_leading_blanks: int, answer: str, passage: str) -> int:
    """
    Returns the place of an answer after its leading blanks were removed. In some files `start` is
    the place of the first blank, in others of the first character behind the blanks. Raises
    `Unusable` if the answer is at neither place.
    """
    for place in (start + num_leading_blanks, start):
        if passage.startswith(answer, place):
            return place
    raise Unusable("with an answer that is not at its answer_start")


def _only_place(text: str, passage: str) -> int:
    """
    Returns the place of a text that a passage contains. Raises `Unusable` if it occurs several
    times, or not as whole words.
    """
    # The look-ahead also finds places that overlap, such as "aa" twice in "aaa".
    places = [match.start() for match in re.finditer(f"(?={re.escape(text)})", passage)]
    if len(places) > 1:
        raise Unusable("with an answer that is in its passage several times, without answer_start")
    start = places[0]
    end = start + len(text)
    if _is_inside_word(passage, start) or _is_inside_word(passage, end):
        raise Unusable("with an answer that is inside of another word, without answer_start")
    return start


def _is_inside_word(text: str, place: int) -> bool:
    """Returns whether the characters before and after a place belong to the same word."""
    if not 0 < place < len(text):
        return False  # at the beginning or the end of the text
    before = text[place - 1]
    after = text[place]
    if _UNSPACED_SCRIPT.match(before) or _UNSPACED_SCRIPT.match(after):
        return False  # without spaces, nobody can tell where a word ends
    return before.isalnum() and after.isalnum()
