"""The rows of a file of columns: what separates its fields and its sentences, comments and a header."""

import ast
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.tasks.dataset_reader import Line
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
_NOT_SPACES = re.compile(r"\S+", re.ASCII)  # other spaces may be part of a word
_NAMED_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")
_NAME = re.compile(r"[^\W\d][\w -]+")
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of words in CoNLL-U; contracted words have two, and empty nodes


Row = tuple[int, tuple[str, ...]]
"""The number of a line and its fields. Python's garbage collector passes over tuples of text and numbers."""


class Table(NamedTuple):
    """
    The rows of a file, with `None` between sentences; the names of the columns if there is a header; and the
    lines that begin with "#", either words or comments.
    """

    file: str
    rows: list[Row | None]
    names: list[str]
    hashes: set[int]

    def error(self, number: int, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file}, line {number}: {message}")

    def words(self) -> list[Row]:
        """Returns the rows that cannot be comments, or all if there is no other."""
        rows = list(filter(None, self.rows))
        return [row for row in rows if row[0] not in self.hashes] or rows

    def sentences(self, is_word: Callable[[Row, bool], bool]) -> Iterator[list[Row]]:
        """
        Yields the rows of each sentence, without comments. `is_word` gets a row that begins with "#", and
        whether it is within a sentence. Comments separate sentences only if nothing else does.
        """
        words = [number for number, row in enumerate(self.rows) if row]
        is_separated = bool(words) and None in self.rows[words[0] : words[-1]]
        sentence: list[Row] = []
        for row in self.rows:
            if row and (row[0] not in self.hashes or is_word(row, is_separated and bool(sentence))):
                sentence.append(row)
            elif sentence and (row is None or not is_separated):
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def gather_lines(lines: Iterable[Line]) -> tuple[str, list[str]]:
    """Returns the name of a file and the text of its lines."""
    file, texts = "", []
    for line in lines:
        file = line.file
        texts.append(line.text)
    return file, texts


def read_table(
    file: str, texts: Sequence[str], separator: str | None, columns: Sequence[int | str | None]
) -> Table:
    """
    Splits the lines of a file into fields: as CSV if its name or a header says so; else at tabs if the lines
    have them; else at spaces. A header may have any names if they are among `columns`.
    """
    chosen = {column for column in columns if isinstance(column, str)}
    number, first = next(
        ((n, text) for n, text in enumerate(texts, start=1) if not _is_boundary(text)), (0, "")
    )
    if not number:
        return Table(file, [], [], set())
    if "\r" in first.rstrip("\r\n"):
        raise ConfigurationError(
            f"{file}, line {number}: expected \\n or \\r\\n at the end of lines, got \\r"
        )
    fields = _csv_fields(file, first, separator, chosen)
    if fields is not None:
        return _separate(_one_word_per_row(_read_csv(file, texts, fields, _is_header(fields, chosen))))
    has_tabs = _has_tabs(texts, separator)
    table = _take_header(_split_lines(file, texts, _split_at_tabs if has_tabs else _split), chosen)
    return _separate(_one_word_per_row(table) if has_tabs else table)


def _is_boundary(text: str) -> bool:
    return (
        not text
        or text.isspace()
        or ("-DOCSTART" in text and text.lstrip("0123456789\t ").startswith("-DOCSTART"))
    )


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


def _csv_fields(file: str, first: str, separator: str | None, chosen: set[str]) -> list[str] | None:
    """Returns the fields of the first line of a CSV file, or `None` for columns."""
    is_csv = file.removesuffix(compression(file)).lower().endswith(".csv")
    for delimiter in ",;|" if separator is None else separator.strip():
        row = next(csv.reader([first.replace("\r", "")], delimiter=delimiter))
        fields = [field.strip() for field in row]
        if separator or _is_header(fields, chosen) or (is_csv and len(fields) > 1):
            return fields
    return None


def _read_csv(file: str, texts: Sequence[str], fields: list[str], has_header: bool) -> Table:
    names = fields if has_header else [str(number) for number in range(len(fields))]
    rows: list[Row | None] = []
    lines = (Line(text, file, number) for number, text in enumerate(texts, start=1))
    for line, record in parse_records(lines, format="csv", columns=names):
        row = tuple(field.strip() for field in record.values())
        rows += [None] * (line.number > 1 and _is_boundary(texts[line.number - 2]))
        rows.append((line.number, row) if any(row) else None)
    return Table(file, rows, [name for name in fields if name] if has_header else [], set())


def _has_tabs(texts: Sequence[str], separator: str | None) -> bool:
    """Returns whether lines are split at tabs: if any has one, unless only spaces fit all."""
    if separator is not None or not any("\t" in text for text in texts):
        return separator == "\t"
    texts = [text for text in texts if not _is_boundary(text)]
    texts = [text for text in texts if text[0] != "#"] or texts
    if not any("\t" in text.strip() for text in texts):
        return False
    is_regular = len({text.count("\t") for text in texts}) == 1
    is_mixed = all(" " in text.rpartition("\t")[2].strip() for text in texts)
    return (is_regular and not is_mixed) or len({len(_split(text)) for text in texts}) > 1


def _split(text: str) -> list[str]:
    return text.split() if text.isascii() else _NOT_SPACES.findall(text)


def _split_at_tabs(text: str) -> list[str]:
    fields = text.rstrip("\r\n").split("\t")
    return [field.strip(" ") for field in fields] if " " in text else fields


def _split_lines(file: str, texts: Sequence[str], split: Callable[[str], list[str]]) -> Table:
    rows: list[Row | None] = []
    names: list[str] = []
    hashes: set[int] = set()
    for number, text in enumerate(texts, start=1):
        if _is_boundary(text):
            rows.append(None)
        elif text[0] != "#":
            rows.append((number, tuple(split(text))))
        elif named := _NAMED_COLUMNS.match(text):
            names = named[1].split()
        else:
            hashes.add(number)
            rows.append((number, () if _KEY_AND_VALUE.match(text) else tuple(split(text))))
    return Table(file, rows, names, hashes)


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
    rows = table.words()
    if not any(" " in field or field[:1] == "[" for _, fields in rows for field in fields):
        return table
    split = [(number, [_parts(field) for field in fields]) for number, fields in rows]
    lengths = [[len(parts) for parts in row] for _, row in split]
    equal = [c for c in range(len(lengths[0])) if all(row[c : c + 1] == row[-1:] for row in lengths)]
    if len(equal) < 2 or max(row[-1] for row in lengths) < 2:
        return table
    words: list[Row | None] = []
    for number, row in split:
        words += [None, *((number, fields) for fields in zip(*(row[c] for c in equal), strict=True))]
    return table._replace(
        rows=words, names=[table.names[c] for c in equal] if table.names else [], hashes=set()
    )


def _parts(field: str) -> list[str]:
    try:
        return [str(part) for part in ast.literal_eval(field)] if field[:1] == "[" else field.split()
    except (SyntaxError, ValueError, TypeError):
        return field.split()


def _separate(table: Table) -> Table:
    """Separates sentences at a column's values, and leaves out CoNLL-U's contracted words and empty nodes."""
    names = [name.lower() for name in table.names]
    words = [name for name in WORD_NAMES if name in names][:1]
    sentence_column = next((names.index(n) for n in _SENTENCE_NAMES if n in names and n not in words), -1)
    misc = names.index("misc") if "misc" in names else -1
    numbers = {fields[0] for _, fields in table.words()}
    is_numbered = all(map(_NUMBER.fullmatch, numbers)) and len({number.isdigit() for number in numbers}) == 2
    if sentence_column < 0 and misc < 0 and not is_numbered:
        return table
    rows: list[Row | None] = []
    last = ""
    for row in table.rows:
        values = dict(enumerate(row[1] if row else ()))
        sentence = values.get(sentence_column, "")
        rows += [None] * (sentence not in ("", last))
        last = sentence or last
        if not is_numbered or values.get(0, "0").isdigit():
            rows.append(row)
        rows += [None] * ("EndOfSentence" in values.get(misc, ""))
    return table._replace(rows=rows)
