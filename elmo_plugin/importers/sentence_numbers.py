"""Columns that tell sentences apart, by their names or by what they contain."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from elmo_plugin.importers.column_names import SENTENCE_NAMES, is_numbered, is_word_class
from elmo_plugin.importers.tables import Row
from elmo_plugin.importers.tag_encodings import OUTSIDE_MARKS
from elmo_plugin.tasks.spans import parse_tag

_SENTENCE_AND_WORD = re.compile(r"(\d+)[-.](\d+)")  # as "3-1"
_FEWEST_WORDS = 3  # of the longest sentence; a column of 0 and 1 may be anything

Block = list[Row]
"""Rows between two blank ones."""


def find_sentence_columns(names: Sequence[str], blocks: Sequence[Block]) -> dict[int, list[str]]:
    """
    Returns the columns that change at each sentence's beginning, and for each of them a mark for
    every row, the same within a sentence. These are a column that tells sentences apart, and the
    columns that name documents. Returns nothing if blank rows alone separate sentences.
    """
    rows = [row for block in blocks for row in block]
    if not rows:
        return {}
    columns = list(zip(*(row.fields for row in rows), strict=True))
    for number, name in enumerate(names):
        if name.lower() in SENTENCE_NAMES:
            marks = _fill_down(columns[number])
            return {number: marks} | _columns_of_documents(columns[:number])
    numbered = _find_numbered_sentences(columns, blocks)
    if numbered:
        return numbered
    for number, values in enumerate(columns):
        marks = _sentences_of_places(values)
        if not marks and len(columns) > 2:
            marks = _texts_of_sentences(values, columns) or _sentences_of_word_numbers(values)
        if marks:
            return {number: marks}
    # If nothing else separates sentences, names in the first column may.
    if len(columns) > 2 and len(blocks) == 1 and not any(_is_tag(value) for value in columns[0]):
        return _columns_of_documents(columns[:1])
    return {}


def _find_numbered_sentences(
    columns: Sequence[Sequence[str]], blocks: Sequence[Block]
) -> dict[int, list[str]]:
    """
    Returns the columns that number sentences, and the columns of their documents, each with a mark
    for every row. Several may number them, such as the numbers of paragraphs and of sentences.
    """
    begins_block = []  # for each row
    for block in blocks:
        for place in range(len(block)):
            begins_block.append(place == 0)
    numbered: dict[int, list[str]] = {}
    num_candidates = len(columns)
    if num_candidates <= 2:
        num_candidates -= 1  # the last column has the words or their tags
    for number in range(num_candidates):
        documents = _columns_of_documents(columns[:number])
        marks = _numbers_of_sentences(columns[number], begins_block, documents.values())
        if marks:
            numbered[number] = marks
    if not numbered:
        return {}
    finest = max(numbered, key=lambda number: _count_changes(numbered[number]))
    return numbered | _columns_of_documents(columns[:finest])


def split_at_changes(blocks: Sequence[Block], marks: Sequence[Sequence[str]]) -> Iterator[Block]:
    """Yields the sentences: the rows of each block between two changes of any of the marks."""
    number = 0
    for block in blocks:
        sentence: Block = []
        for row in block:
            if sentence and any(column[number] != column[number - 1] for column in marks):
                yield sentence
                sentence = []
            sentence.append(row)
            number += 1
        yield sentence


def _is_tag(value: str) -> bool:
    """Returns whether a field looks like a tag of any kind."""
    return value in OUTSIDE_MARKS or is_word_class(value) or parse_tag(value) is not None


def _fill_down(values: Sequence[str]) -> list[str]:
    """Returns the values with those that are blank filled from above."""
    filled = []
    last = ""
    for value in values:
        last = value or last
        filled.append(last)
    return filled


def _count_changes(marks: Sequence[str]) -> int:
    """Returns how often a mark differs from the one before it."""
    return sum(before != after for before, after in pairwise(marks))


def _columns_of_documents(columns: Sequence[Sequence[str]]) -> dict[int, list[str]]:
    """Returns the columns with names of documents: each stands in several rows, all together."""
    found = {}
    for number, values in enumerate(columns):
        parts = _count_changes(values) + 1
        if parts == len(set(values)) and 2 * parts <= len(values) and "" not in values:
            found[number] = list(values)
    return found


def _numbers_of_sentences(
    values: Sequence[str], begins_block: Sequence[bool], documents: Collection[Sequence[str]]
) -> list[str]:
    """
    Returns the number of the sentence of each row, or an empty list if the values are something
    else. A sentence's number stands in its first row or in all of its rows. Numbers rise within a
    document, and if blank rows separate sentences too, they rise by one between these. A document
    begins behind a blank row, or with a new name in a column of the `documents`.
    """
    filled = _fill_down(values)
    if not all(is_numbered(value) for value in filled):
        return []
    num_sentences = _count_changes(filled) + 1
    if 2 * num_sentences > len(filled):  # on average, a sentence has at least two words
        return []
    numbers = [_number_in(value) for value in filled]
    has_blank_rows = sum(begins_block) > 1
    for row in range(1, len(numbers)):
        step = numbers[row] - numbers[row - 1]
        begins_document = any(names[row] != names[row - 1] for names in documents)
        if begins_block[row] or (begins_document and numbers[row] == numbers[0]):
            continue  # numbers may begin again
        if step < 0 or (has_blank_rows and step > 1):
            return []
    return filled


def _number_in(value: str) -> int:
    """
    Returns the number in a field such as "Sentence: 12" or "12.0", where the zero does not count,
    or -1 if the number stands behind a full stop.
    """
    before_point = value.split(".")[0]
    digits = re.sub(r"\D", "", before_point)
    return int(digits or -1)


def _sentences_of_places(values: Sequence[str]) -> list[str]:
    """
    Returns the number of each row's sentence if the values are the numbers of a sentence and of a
    word in it, such as 1-1, 1-2, 2-1; else an empty list.
    """
    places = [_SENTENCE_AND_WORD.fullmatch(value) for value in values]
    first = places[0]
    if first is None:
        return []
    first_word = int(first[2])  # 0 or 1
    marks = []
    last = ""
    expected = first_word
    for place in places:
        if place is None:
            return []
        sentence, word = place.groups()
        if sentence != last:
            expected = first_word
        if int(word) != expected:
            return []
        expected += 1
        last = sentence
        marks.append(sentence)
    return marks


def _texts_of_sentences(values: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """
    Returns the text of each row's sentence if the values are such texts, in which the words of
    another column occur; else an empty list.
    """
    texts = _fill_down(values)
    if not any(" " in text for text in texts):
        return []
    for words in columns:
        are_words = words != values and all(word for word in words)
        if are_words and all(word in text for word, text in zip(words, texts, strict=True)):
            return texts
    return []


def _sentences_of_word_numbers(values: Sequence[str]) -> list[str]:
    """
    Returns a mark of each row's sentence if the values count the words of sentences, such as 1, 2,
    3, 1, 2; else an empty list.
    """
    if not all(value.isdecimal() for value in values):
        return []
    numbers = [int(value) for value in values]
    sentence = 0
    marks = ["0"]
    for before, number in pairwise(numbers):
        if number == numbers[0]:
            sentence += 1
        elif number != before + 1:
            return []
        marks.append(str(sentence))
    longest = max(numbers) - numbers[0] + 1
    if sentence == 0 or longest < _FEWEST_WORDS:
        return []
    return marks
