"""The rows of a file of columns: what separates its fields and its sentences, comments and a header."""

import ast
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.tasks.dataset_reader import Line, Row
from elmo_plugin.tasks.ner.tags import parse_tag
from elmo_plugin.tasks.records import parse_records

WORD_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface", "sentence")
ENTITY_NAMES = (
    *("ner_tags", "ner_tag", "ner", "ne-coarse-lit", "ne", "entity", "entities", "iob", "bio", "ner_label"),
    *("tag", "tags", "label", "labels"),
)
WORD_CLASS_NAMES = ("upos", "pos", "pos_tag", "pos_tags", "xpos", "chunk", "chunk_tags")
_SENTENCE_NAMES = ("sentence #", "sentence", "sentence_id", "sentence_idx", "sent_id", "sent", "sid")
_CONLLU = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]
_split = re.compile(r"\S+", re.ASCII).findall  # other spaces may be part of a word
_NAMED_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")
_NAME = re.compile(r"[^\W\d][\w -]+")
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of words in CoNLL-U; contracted words have two, and empty nodes


class Table(NamedTuple):
    """
    The rows of a file, with `None` between sentences; the names of the columns if there is a header; and
    whether rows that begin with "#" may be comments.
    """

    rows: list[Row | None]
    names: list[str]
    may_have_comments: bool

    def is_hash(self, row: Row) -> bool:
        """Returns whether a row is either a word or a comment."""
        return self.may_have_comments and row[0].text[0] == "#"

    def words(self) -> list[Row]:
        """Returns the rows that cannot be comments, or all if there is no other."""
        rows = [row for row in self.rows if row]
        return [row for row in rows if not self.is_hash(row)] or rows

    def sentences(self, is_word: Callable[[Row, bool], bool]) -> Iterator[list[Row]]:
        """
        Yields the rows of each sentence, without comments. `is_word` gets a row that begins with "#", and
        whether it is within a sentence. Comments separate sentences only if nothing else does.
        """
        words = [number for number, row in enumerate(self.rows) if row]
        is_separated = bool(words) and None in self.rows[words[0] : words[-1]]
        sentence: list[Row] = []
        for row in self.rows:
            if row and (not self.is_hash(row) or is_word(row, is_separated and bool(sentence))):
                sentence.append(row)
            elif sentence and (row is None or not is_separated):
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def read_table(lines: Sequence[Line], separator: str | None, columns: Sequence[int | str | None]) -> Table:
    """
    Splits lines into fields: as CSV if the name or a header of the file says so; else at tabs if the lines
    have them; else at spaces. A header may have any names if they are among `columns`.
    """
    chosen = {column for column in columns if isinstance(column, str)}
    texts = [line for line in lines if not _is_boundary(line)]
    if not texts:
        return Table([], [], may_have_comments=False)
    if "\r" in texts[0].text.rstrip("\r\n"):
        raise ConfigurationError(
            f"{texts[0].location}: expected \\n or \\r\\n at the end of lines, got \\r alone"
        )
    fields = _csv_fields(texts[0], separator, chosen)
    if fields is not None:
        return _separate(_read_csv(lines, fields, _is_header(fields, chosen)))
    return _separate(_take_header(_split_lines(lines, _splitter(texts, separator)), chosen))


def _is_boundary(line: Line) -> bool:
    return not line.text.strip() or line.text.lstrip("0123456789\t ").startswith("-DOCSTART")


def _is_header(fields: Sequence[str], chosen: set[str]) -> bool:
    names = {field.lower() for field in fields}
    is_usual = names & set(WORD_NAMES) and names & set(ENTITY_NAMES + WORD_CLASS_NAMES)
    return bool(is_usual or (chosen and chosen <= set(fields)))


def _is_unlike(fields: Sequence[str], row: Sequence[str]) -> bool:
    """Returns whether fields name the words and, unlike the row that follows, have no tag of an entity."""
    if len(fields) != len(row) or not any(field.lower() in WORD_NAMES for field in fields):
        return False
    others = [(name, tag) for name, tag in zip(fields, row, strict=True) if name.lower() not in WORD_NAMES]
    are_names = all(_NAME.fullmatch(name) and not parse_tag(name) for name, _ in others)
    return are_names and any(parse_tag(tag) for _, tag in others)


def _csv_fields(first: Line, separator: str | None, chosen: set[str]) -> list[str] | None:
    """Returns the fields of the first line of a CSV file, or `None` for columns."""
    is_csv = first.file.removesuffix(compression(first.file)).lower().endswith(".csv")
    for delimiter in ",;|" if separator is None else separator.strip():
        fields = [
            field.strip() for field in next(csv.reader([first.text.replace("\r", "")], delimiter=delimiter))
        ]
        if separator or _is_header(fields, chosen) or (is_csv and len(fields) > 1):
            return fields
    return None


def _read_csv(lines: Sequence[Line], fields: list[str], has_header: bool) -> Table:
    names = fields if has_header else [str(number) for number in range(len(fields))]
    blank = {line.number for line in lines if _is_boundary(line)}
    rows: list[Row | None] = []
    for line, record in parse_records(lines, format="csv", columns=names):
        row = [field.strip() for field in record.values()]
        rows += [None] * (line.number - 1 in blank)
        rows.append((line, row) if any(row) else None)
    return Table(rows, [n for n in fields if n] if has_header else [], may_have_comments=False)


def _splitter(texts: Sequence[Line], separator: str | None) -> Callable[[str], list[str]]:
    """Returns how lines are split: at tabs if any has one, unless only spaces fit all."""
    rows = [line.text for line in texts if line.text[0] != "#"] or [line.text for line in texts]
    if separator is None and any("\t" in text.strip() for text in rows):
        is_regular = len({text.count("\t") for text in rows}) == 1
        is_mixed = all(" " in text.rpartition("\t")[2].strip() for text in rows)
        fit_spaces = len({len(_split(text)) for text in rows}) == 1 if is_mixed or not is_regular else False
        separator = None if fit_spaces else "\t"
    return _split_at_tabs if separator == "\t" else _split


def _split_at_tabs(text: str) -> list[str]:
    fields = text.rstrip("\r\n").split("\t")
    return [field.strip(" ") for field in fields] if " " in text else fields


def _split_lines(lines: Sequence[Line], split: Callable[[str], list[str]]) -> Table:
    rows: list[Row | None] = []
    names: list[str] = []
    for line in lines:
        if _is_boundary(line):
            rows.append(None)
        elif named := _NAMED_COLUMNS.match(line.text):
            names = named[1].split()
        else:
            rows.append((line, [] if _KEY_AND_VALUE.match(line.text) else split(line.text)))
    return Table(rows, names, may_have_comments=True)


def _take_header(table: Table, chosen: set[str]) -> Table:
    """Takes the names of the columns from the first row, even if it begins with "#"; or gives CoNLL-U's."""
    first_word, *others = table.words()
    for row in [first_word, *filter(None, table.rows)][:2] if not table.names else []:
        fields = [field for field in (field.lstrip("# ") for field in row[1]) if field]
        is_header = _is_header(fields, chosen) or (others and _is_unlike(fields, others[0][1]))
        if is_header and len(fields) == len(first_word[1]):
            return table._replace(rows=[r for r in table.rows if not r or r[1] != row[1]], names=fields)
    is_conllu = len(first_word[1]) == len(_CONLLU) and first_word[1][0][:1] in ("0", "1")
    return table._replace(names=_CONLLU) if is_conllu and not table.names else table


def _one_word_per_row(table: Table) -> Table:
    """Splits rows with the words of a whole sentence and as many tags, separated by spaces or in a list."""
    rows = [(line, [_parts(field) for field in fields]) for line, fields in table.words()]
    lengths = [[len(parts) for parts in row] for _, row in rows]
    equal = [c for c in range(len(lengths[0])) if all(row[c : c + 1] == row[-1:] for row in lengths)]
    if len(equal) < 2 or max(row[-1] for row in lengths) < 2:
        return table
    words: list[Row | None] = []
    for line, row in rows:
        words += [None, *((line, list(fields)) for fields in zip(*(row[c] for c in equal), strict=True))]
    return Table(words, [table.names[c] for c in equal] if table.names else [], may_have_comments=False)


def _parts(field: str) -> list[str]:
    try:
        return [str(part) for part in ast.literal_eval(field)] if field.startswith("[") else field.split()
    except (SyntaxError, ValueError, TypeError):
        return field.split()


def _separate(table: Table) -> Table:
    """Separates sentences at a column's values, and leaves out CoNLL-U's contracted words and empty nodes."""
    table = _one_word_per_row(table)
    names = [name.lower() for name in table.names]
    words = [name for name in WORD_NAMES if name in names][:1]
    sentence_column = next((names.index(n) for n in _SENTENCE_NAMES if n in names and n not in words), None)
    misc = names.index("misc") if "misc" in names else None
    numbers = {row[1][0] for row in table.words()}
    is_numbered = all(map(_NUMBER.fullmatch, numbers)) and len({number.isdigit() for number in numbers}) == 2
    if sentence_column is None and misc is None and not is_numbered:
        return table
    rows: list[Row | None] = []
    last = ""
    for row in table.rows:
        fields = row[1] if row else []
        if sentence_column is not None and "".join(fields[sentence_column : sentence_column + 1]) not in (
            "",
            last,
        ):
            last = fields[sentence_column]
            rows.append(None)
        if not is_numbered or not fields or fields[0].isdigit():
            rows.append(row)
        if misc is not None and "EndOfSentence" in "".join(fields[misc : misc + 1]):
            rows.append(None)
    return table._replace(rows=rows)
