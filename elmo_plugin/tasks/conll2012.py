"""The columns of CoNLL-2012, the one form of semantic roles and of coreference."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.tasks.dataset_reader import Line

FIXED_COLUMNS = 11  # then one for each predicate of the sentence, and coreference
FOLDER_PATTERNS = ("*gold_conll", "*auto_conll", "*.conll")
NO_ANNOTATION = ("-", "_", "*", "")  # the cell of a word without an annotation
HIDDEN_WORD = "[WORD]"  # in place of each word in files published without the text of OntoNotes
_DOCUMENT_MARK = re.compile(
    r"\s*#\s*(?P<begin_or_end>begin|end) document\b.*", re.ASCII | re.DOTALL
)
_PLAIN = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "/.": ".",  # in OntoNotes, as is the next one
    "/?": "?",
}


class ConllWord(NamedTuple):
    """A word of a sentence and its columns."""

    line: Line
    document: str
    part: str
    number: str
    word: str
    tag: str = "-"  # its part of speech
    parse: str = "*"
    lemma: str = "-"  # predicates have a lemma and a frameset
    frameset: str = "-"
    sense: str = "-"
    speaker: str = "-"
    entity: str = "*"
    frames: Sequence[str] = ()  # a bracket label for each predicate of the sentence
    mention: str = "-"

    @property
    def is_predicate(self) -> bool:
        """Whether it has a lemma and a frameset."""
        return self.lemma not in NO_ANNOTATION and self.frameset not in NO_ANNOTATION

    @property
    def num_columns(self) -> int:
        """The number of the columns of its line."""
        return FIXED_COLUMNS + len(self.frames) + 1

    @property
    def plain(self) -> str:
        """The word as in plain text."""
        return unescape_word(self.word)


class DocumentLines(NamedTuple):
    """
    The lines of a document.

    begin: the mark `#begin document`
    sentences: the lines of each sentence
    has_end: whether the mark `#end document` follows
    """

    begin: Line
    sentences: list[list[Line]]
    has_end: bool = False


@contextmanager
def errors_suggest_import(task: str) -> Iterator[None]:
    """
    Adds to the message of a `ConfigurationError` inside a `with` block the command that converts
    other formats to CoNLL-2012.
    """
    try:
        yield
    except ConfigurationError as error:
        message = f"{error}; `elmo import {task}` makes CoNLL-2012 of files of other forms"
        raise ConfigurationError(message) from None


def line_kind(line: Line) -> str:
    """
    Returns "begin" for a line `#begin document`, "end" for `#end document`, "blank" for a blank
    line, and "word" for any other line.
    """
    if not line.text.strip():
        return "blank"
    match = _DOCUMENT_MARK.fullmatch(line.text)
    if match is None:
        return "word"
    return match["begin_or_end"]


def split_documents(lines: Iterable[Line]) -> Iterator[DocumentLines]:
    """
    Yields the documents of a file. The last one may lack its end mark: `has_end` is then False, and
    the caller decides whether that is an error. End marks outside documents are ignored.

    Raises `ConfigurationError`, naming file and line, if words are outside a document, or if a
    document begins before the end of another.
    """
    document: DocumentLines | None = None  # the one that has begun and not yet ended
    for kind, consecutive_lines in groupby(lines, key=line_kind):
        if kind == "word":
            sentence = list(consecutive_lines)
            if document is None:
                found = sentence[0].text.strip()
                raise sentence[0].error(
                    f"expected #begin document (NAME); part 000, got {found!r:.60}"
                )
            document.sentences.append(sentence)
        elif kind == "begin":
            # Two lines that begin a document may follow each other. The second one is an error.
            for begin in consecutive_lines:
                if document is not None:
                    raise missing_end_error(document)
                document = DocumentLines(begin=begin, sentences=[])
        elif kind == "end" and document is not None:
            yield document._replace(has_end=True)
            document = None
    if document is not None:
        yield document


def missing_end_error(document: DocumentLines) -> ConfigurationError:
    """Returns the error for a document without its end mark."""
    return document.begin.error("the document that begins here lacks #end document")


def parse_sentence(lines: Sequence[Line]) -> list[ConllWord]:
    """
    Parses the lines of a sentence, one word each. All lines must have the same number of columns,
    at least twelve, and the words must be numbered without gaps.

    Raises `ConfigurationError`, naming file and line, if a line is malformed.
    """
    words = [_parse_word(line) for line in lines]
    for before, word in pairwise(words):
        if word.num_columns != before.num_columns:
            raise word.line.error(
                f"expected {before.num_columns} columns as in the line before, got "
                f"{word.num_columns}"
            )
        next_number = int(before.number) + 1
        if int(word.number) != next_number:
            raise word.line.error(
                f"expected word {next_number} in column 3, got {word.number}, and a blank line "
                "between sentences"
            )
    return words


def _parse_word(line: Line) -> ConllWord:
    """Parses the line of a word. Raises `ConfigurationError` if the line is malformed."""
    columns = line.fields
    if len(columns) <= FIXED_COLUMNS:
        raise line.error(f"expected at least {FIXED_COLUMNS + 1} columns, got {len(columns)}")
    # The fields of `ConllWord` have the order of the columns. Between the fixed columns and the
    # last one, for coreference, is a column for each predicate of the sentence.
    word = ConllWord(line, *columns[:FIXED_COLUMNS])
    word = word._replace(frames=columns[FIXED_COLUMNS:-1], mention=columns[-1])
    _check_word(word)
    return word


def _check_word(word: ConllWord) -> None:
    """Raises `ConfigurationError` if a column differs from the columns of CoNLL-2012."""
    line = word.line
    if not is_whole_number(word.number):
        raise line.error(f"expected the number of a word in column 3, got {word.number!r:.60}")
    if not word.word or word.word == HIDDEN_WORD:
        raise line.error(f"expected a word in column 4, got {word.word!r}")
    # A line without tabs is split at spaces, so the second part of a speaker's name would be here.
    if word.entity not in NO_ANNOTATION and "*" not in word.entity:
        raise line.error(
            "expected the speaker and the named entity in columns 10 and 11, got "
            f"{word.speaker!r} and {word.entity!r} (a name with spaces needs tabs between columns)"
        )
    # An asterisk is part of a predicate's label, so this column belongs to a predicate, and the
    # column of coreference is missing.
    if "*" in word.mention or not word.mention:
        raise line.error(
            f"expected coreference, such as (12 or -, in the last column, got {word.mention!r}"
        )


def format_sentence(words: Iterable[ConllWord]) -> str:
    """
    Returns the lines of a sentence, with a blank line at its end. Tabs separate the columns,
    because words and speakers may contain spaces.
    """
    lines = []
    for word in words:
        columns = [
            word.document,
            word.part,
            word.number,
            word.word,
            word.tag,
            word.parse,
            word.lemma,
            word.frameset,
            word.sense,
            word.speaker,
            word.entity,
            *word.frames,
            word.mention,
        ]
        lines.append("\t".join(columns) + "\n")
    return "".join(lines) + "\n"


def format_begin(document: str, part: str) -> str:
    """Returns the line that begins a document. Not all documents have a part: it may be empty."""
    if not part:
        return f"#begin document ({document});\n"
    return f"#begin document ({document}); part {part}\n"


END = "#end document\n"


def unescape_word(word: str) -> str:
    """Removes the escapes of the Penn Treebank and OntoNotes: such as `-LRB-` for `(`."""
    return _PLAIN.get(word, word).replace("\\/", "/").replace("\\*", "*")
