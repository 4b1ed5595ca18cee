"""Columns that tell sentences apart, by their names or by what they contain."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from elmo_plugin.common.integers import DIGITS, is_whole_number
from elmo_plugin.importers.column_names import SENTENCE_NAMES, is_numbered, is_word_class
from elmo_plugin.importers.tables import Row
from elmo_plugin.importers.tag_encodings import OUTSIDE_MARKS
from elmo_plugin.tasks.spans import parse_tag

_SENTENCE_AND_WORD = re.compile(rf"(?P<sentence>\d+)[-.](?P<word>{DIGITS})")  # as "3-1"
_DIGITS = re.compile(r"\d+")
_MIN_LENGTH_OF_LONGEST = 3  # words of a sentence; a column that counts to two may be anything

Block = list[Row]
"""Rows between two blank ones."""


def find_sentence_columns(names: Sequence[str], blocks: Sequence[Block]) -> dict[int, list[str]]:
    """
    Returns the marks of the columns that tell sentences apart, by the numbers of the columns. Each
    column has a mark for every row, and a sentence begins where a mark changes: in a column with
    the numbers of sentences, for example, or with the names of documents. Returns an empty
    dictionary if blank rows alone separate sentences.
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
    has_other_columns = len(columns) > 2  # beside the words and their tags
    for number, values in enumerate(columns):
        marks = _sentences_of_places(values)
        if not marks and has_other_columns:
            marks = _texts_of_sentences(values, columns)
        if not marks and has_other_columns:
            marks = _sentences_of_word_numbers(values)
        if marks:
            return {number: marks}
    # If nothing else separates sentences, names in the first column may.
    has_blank_rows = len(blocks) > 1
    has_tags_first = any(_is_tag(value) for value in columns[0])
    if has_other_columns and not has_blank_rows and not has_tags_first:
        return _columns_of_documents(columns[:1])
    return {}


def _find_numbered_sentences(
    columns: Sequence[Sequence[str]], blocks: Sequence[Block]
) -> dict[int, list[str]]:
    """
    Returns the marks of the columns that number sentences, and of the columns before them that name
    documents. Several may be numbered: one may count paragraphs, another the sentences in each.
    """
    begins_block = []  # for each row, whether it is the first of its block
    for block in blocks:
        begins_block.append(True)
        begins_block.extend([False] * (len(block) - 1))
    candidates = columns
    if len(columns) <= 2:
        candidates = columns[:-1]  # the last column has the words or their tags
    numbered: dict[int, list[str]] = {}
    for number, values in enumerate(candidates):
        documents = _columns_of_documents(columns[:number])
        marks = _numbers_of_sentences(values, begins_block, documents.values())
        if marks:
            numbered[number] = marks
    if not numbered:
        return {}
    # Sentences change more often than the paragraphs around them.
    finest = max(numbered, key=lambda number: _count_changes(numbered[number]))
    return numbered | _columns_of_documents(columns[:finest])


def split_at_changes(blocks: Sequence[Block], marks: Sequence[Sequence[str]]) -> Iterator[Block]:
    """
    Yields the rows of each sentence. One ends with its block, and where the mark of a row differs
    from the mark before it in one of the columns of `marks`.
    """
    row_number = 0  # across all blocks, as in the marks
    for block in blocks:
        sentence: Block = []
        for row in block:
            if sentence and any(column[row_number] != column[row_number - 1] for column in marks):
                yield sentence
                sentence = []
            sentence.append(row)
            row_number += 1
        yield sentence


def _is_tag(value: str) -> bool:
    """Returns whether a field looks like a tag of any kind."""
    return value in OUTSIDE_MARKS or is_word_class(value) or parse_tag(value) is not None


def _fill_down(values: Sequence[str]) -> list[str]:
    """Returns the values with the last value above in place of each blank."""
    filled = []
    last = ""
    for value in values:
        if value:
            last = value
        filled.append(last)
    return filled


def _count_changes(marks: Sequence[str]) -> int:
    """Returns how often a mark differs from the one before it."""
    return sum(before != after for before, after in pairwise(marks))


def _columns_of_documents(columns: Sequence[Sequence[str]]) -> dict[int, list[str]]:
    """
    Returns the columns that may have the names of documents, by their numbers. The rows of each
    document must be together, and documents have at least two rows on average.
    """
    found = {}
    for number, values in enumerate(columns):
        num_runs = _count_changes(values) + 1  # rows in succession with the same value
        are_together = num_runs == len(set(values))
        if are_together and 2 * num_runs <= len(values) and "" not in values:
            found[number] = list(values)
    return found


def _numbers_of_sentences(
    values: Sequence[str], begins_block: Sequence[bool], documents: Collection[Sequence[str]]
) -> list[str]:
    """
    Returns the number of each row's sentence, or an empty list if the values are something else. A
    sentence's number stands in its first row, or in all of its rows.
    """
    filled = _fill_down(values)
    if not all(is_numbered(value) for value in filled):
        return []
    num_sentences = _count_changes(filled) + 1
    if 2 * num_sentences > len(filled):  # on average, a sentence has at least two words
        return []
    numbers = [_number_in(value) for value in filled]
    if not _are_ascending(numbers, begins_block, documents):
        return []
    return filled


def _are_ascending(
    numbers: Sequence[int], begins_block: Sequence[bool], documents: Collection[Sequence[str]]
) -> bool:
    """
    Returns whether numbers of sentences ascend from row to row. They may begin again behind a blank
    row. Where a column of `documents` has a new name, they may return to the first number.
    """
    has_blank_rows = sum(begins_block) > 1
    for row in range(1, len(numbers)):
        if begins_block[row]:
            continue
        begins_document = any(names[row] != names[row - 1] for names in documents)
        if begins_document and numbers[row] == numbers[0]:
            continue
        step = numbers[row] - numbers[row - 1]
        if step < 0:
            return False
        if step > 1 and has_blank_rows:
            return False  # numbers may be missing between blocks, but not within one
    return True


def _number_in(value: str) -> int:
    """Returns the number in a field such as "Sentence: 12", "12.0" or "S.12"."""
    numbers = _DIGITS.findall(value)  # the second one is the 0 of 12.0
    return int(numbers[0])


def _sentences_of_places(values: Sequence[str]) -> list[str]:
    """
    Returns the number of each row's sentence if each value is the number of a sentence and of a
    word in it, such as 1-1, 1-2, 2-1. Returns an empty list for other values.
    """
    matches = [_SENTENCE_AND_WORD.fullmatch(value) for value in values]
    if matches[0] is None:
        return []
    first_word = int(matches[0]["word"])  # words are counted from 0 or from 1
    expected_word = first_word
    marks: list[str] = []
    for match in matches:
        if match is None:
            return []
        if marks and match["sentence"] != marks[-1]:
            expected_word = first_word
        if int(match["word"]) != expected_word:
            return []
        expected_word += 1
        marks.append(match["sentence"])
    return marks


def _texts_of_sentences(values: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """
    Returns the text of each row's sentence if the values are texts, in which the words of another
    column occur. Returns an empty list for other values.
    """
    texts = _fill_down(values)
    if not any(" " in text for text in texts):
        return []
    for column in columns:
        if column != values and _occur_in(column, texts):
            return texts
    return []


def _occur_in(words: Sequence[str], texts: Sequence[str]) -> bool:
    """Returns whether each word occurs in the text of the same row. None may be blank."""
    return all(word and word in text for word, text in zip(words, texts, strict=True))


def _sentences_of_word_numbers(values: Sequence[str]) -> list[str]:
    """
    Returns a mark of each row's sentence if the values count the words of sentences, such as 1, 2,
    3, 1, 2. Returns an empty list for other values, and if all rows are one sentence.
    """
    if not all(is_whole_number(value) for value in values):
        return []
    numbers = [int(value) for value in values]
    first_number = numbers[0]
    sentence = 0
    marks = [str(sentence)]
    for before, number in pairwise(numbers):
        if number == first_number:
            sentence += 1
        elif number != before + 1:
            return []
        marks.append(str(sentence))
    length_of_longest = max(numbers) - first_number + 1
    if sentence == 0 or length_of_longest < _MIN_LENGTH_OF_LONGEST:
        return []
    return marks
