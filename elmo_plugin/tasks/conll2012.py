"""The columns of CoNLL-2012, which semantic roles, coreference and their scorers read; words in
them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns

FIXED_COLUMNS = 11  # then the columns of the predicates and, as the last, the column of coreference
FOLDER_PATTERNS = ("*gold_conll", "*auto_conll", "*.conll", "*.jsonl")
TAB_HINT = "columns with spaces are separated by tabs, sentences by blank lines"
NO_ANNOTATION = ("-", "_", "*", "")  # in a column of a word without an annotation
_MARK = re.compile(r"\s*#\s*(?P<kind>begin|end) document\b.*", re.ASCII | re.DOTALL)
_ARGUMENT = re.compile(r"\([^()]+\*|\*\S*\)")  # mentions have no `*` next to their brackets
_LABEL = re.compile(r"[-_]?|\S*[()*]\S*")
_PLAIN = {
    **{"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"},
    **{"``": '"', "''": '"', "/.": ".", "/?": "?"},  # the last two: OntoNotes
}


class ConllSentence(NamedTuple):
    """
    A sentence of a document: its rows, all of the same length, its words as in plain text, the
    bracket labels of each predicate in `frames`, and those of mentions.
    """

    rows: list[Row]
    words: list[str]
    frames: Sequence[Sequence[str]]
    mentions: Sequence[str]

    @property
    def location(self) -> str:
        """File and line of its first word."""
        return self.rows[0][0].location


def line_kind(line: Line) -> str:
    """Returns "blank", "begin" or "end" for the marks of a document, or "word"."""
    match = _MARK.fullmatch(line.text) if "#" in line.text else None
    return match["kind"] if match else "blank" if line.text.isspace() or not line.text else "word"


def split_sentence(lines: Sequence[Line]) -> list[Row]:
    """
    Splits the lines of a sentence into columns: at tabs, so that a column may have spaces or be
    empty, if all words have tabs, otherwise at white space. Skips comments, and last columns that
    are blank at all words.
    """
    words = [line for line in lines if not line.text.startswith("#")] or lines
    use_tabs = all("\t" in line.text for line in words)
    if use_tabs and words[0].text.count("\t") + 1 < FIXED_COLUMNS:  # a mixture of both?
        use_tabs = len(words[0].columns) <= FIXED_COLUMNS
    rows = [
        (line, line.text.strip("\r\n").split("\t") if use_tabs else line.columns) for line in lines
    ]
    rows = [(line, [column.strip(" ") for column in row]) for line, row in rows]
    lengths = [len(row) for line, row in rows if line in words]
    usual = max(lengths, key=lengths.count)
    rows = [(line, row) for line, row in rows if line.text[0] != "#" or _is_word(row, usual)]
    while rows and not any(row[-1] for _, row in rows):
        rows = [(line, row[:-1]) for line, row in rows]
    return rows


def _is_word(columns: list[str], length: int) -> bool:
    """Returns whether a line that begins with # is a word, not a comment."""
    return len(columns) == length and bool(_LABEL.fullmatch(columns[-1]))


def parse_sentence(rows: list[Row], word: int = 3) -> ConllSentence:
    """
    Returns a sentence, with its words in the column `word`. The last column has mentions, unless it
    has words, entities or the labels of a predicate: one without mentions may be missing.

    Raises `ConfigurationError`, naming file and line, if rows differ in length, the numbers of
    words begin again, or the file is a skeleton.
    """
    line, first = rows[0]
    check_columns(rows, len(first), f"as in line {line.number}; {TAB_HINT}")
    columns = list(zip(*(row for _, row in rows), strict=True))
    if set(columns[word]) == {"[WORD]"}:
        raise line.error("the words are missing, [WORD]: make a gold_conll of this gold_skel first")
    for (_, before), (line, row) in pairwise(rows):
        if word and before[word - 1] != row[word - 1] == first[word - 1]:
            raise line.error(f"expected a blank line before word {row[word - 1]}")
    frames, last = columns[FIXED_COLUMNS:], columns[-1]
    is_frame = any(map(_ARGUMENT.search, last))
    if "*" in last and not any("(" in label or ")" in label for label in last):
        is_frame = len(frames) == (len(framed_words(rows)) if frames else 0)
    if (
        is_frame
        or len(columns) == word + 1
        or (len(columns) == FIXED_COLUMNS and "*" in "".join(last))
    ):
        last = ("-",) * len(rows)
    else:
        frames = frames[:-1]
    return ConllSentence(rows, list(map(unescape_word, columns[word])), frames, last)


def framed_words(rows: Sequence[Row]) -> list[int]:
    """Returns the words with a lemma and a frameset: the predicates."""
    return [word for word, (_, row) in enumerate(rows) if not {row[6], row[7]} & set(NO_ANNOTATION)]


def unescape_word(word: str) -> str:
    """Removes the escapes of the Penn Treebank and OntoNotes: such as `-LRB-` for `(`."""
    return _PLAIN.get(word, word).replace("\\/", "/").replace("\\*", "*")
