"""Files of columns with a word in each row: its rows, its header, and where sentences end."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tables import Row, Table
from elmo_plugin.tasks.ner.tags import parse_tags
from elmo_plugin.tasks.spans import parse_tag

WORD_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface")
ENTITY_NAMES = (
    *("ner_tags", "ner_tag", "ner", "ne-coarse-lit", "ne", "entity", "entities", "iob", "bio"),
    *("ner_label", "tag", "tags", "label", "labels"),
)
WORD_CLASS_NAMES = ("upos", "pos", "pos_tag", "pos_tags", "xpos", "chunk", "chunk_tags")
SENTENCE_NAMES = (
    *("sentence #", "sentence", "sentence_id", "sentence_idx", "sent_id", "sent", "sid"),
)
_WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[\W_]+")  # as tag sets have them
_NUMBERS = re.compile(r"[\d.,:-]*\d")  # also the places of words in a text, such as 12-15
_NUMBERED = re.compile(r"[^\d]*\d+\.?0?")  # as "Sentence: 12"
_WORD_NUMBER = re.compile(r"\d+([-.]\d+)?")  # contracted words have two, and empty nodes
_NOT_SPACES = re.compile(r"\S+", re.ASCII)  # other spaces may be part of a word
_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")
_GLOBAL_COLUMNS = re.compile(r"# *global\.columns *= *(.*)")
_HIPE_END = "EndOfSentence"
_DOCUMENT = "-DOCSTART"
_NEW_DOCUMENT = re.compile(r"# *newdoc\b")  # in CoNLL-U
_CONLLU = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]

Rows = list[Row | None]
"""Rows, and `None` where a sentence ends."""


class WordColumns(NamedTuple):
    """The rows of each sentence, all of one length, and the names of their columns, if known."""

    file: str
    names: list[str]
    sentences: list[list[Row]]

    def name(self, column: int) -> str:
        """Returns the name of a column, or its number, as `--column` has it."""
        return self.names[column] if self.names else str(column)


def columns_of_text(
    file: str, lines: Sequence[str], separator: str | None = None, chosen: Collection[str] = ()
) -> WordColumns:
    """
    Splits lines at tabs if all of them have as many, else at spaces. A header has usual names, or
    the `chosen` ones. Comments begin with "#".

    Raises `ConfigurationError`, naming file and line, if rows differ in their number of columns.
    """
    at_tabs = separator == "\t" or (separator is None and _has_tabs(lines))
    rows: Rows = []
    names: list[str] = []
    document = ""
    for number, text in enumerate(lines, start=1):
        if found := _GLOBAL_COLUMNS.match(text):
            names = found[1].split()
        if _begins_document(text):
            document = f"that begins in line {number}"
        fields = () if is_boundary(text) else _split(text, at_tabs)
        if any(fields):
            rows.append(Row(f"line {number}", fields, document))
        else:
            rows.append(None)
        if _HIPE_END in text:
            rows.append(None)
    rows = _without_comments(rows)
    width = _usual_width(rows)
    first = next((row for row in rows if row and len(row.fields) == width), None)
    if first and not names:
        names = _known_header(first.fields, chosen)
        if names:
            rows = rows[rows.index(first) + 1 :]
        elif _has_columns_of_conllu(first.fields):
            names = list(_CONLLU)
    for row in rows:
        if row and len(row.fields) != width:
            raise ConfigurationError(
                f"{file}, {row.place}: expected {width} columns as in most lines, got "
                f"{len(row.fields)}; --separator names what separates them"
            )
    return _columns(file, names if len(names) == width else [], rows)


def columns_of_table(table: Table, chosen: Collection[str] = ()) -> WordColumns:
    """Returns the columns of CSV or of a spreadsheet. Their contents show a header."""
    rows: Rows = []
    document = ""
    for row in table.rows:
        if row.fields[0].startswith(_DOCUMENT):
            document = f"that begins in {row.place}"
            rows.append(None)
        elif row.is_blank:
            rows.append(None)
        else:
            rows.append(row._replace(document=document))
    first = next(row for row in rows if row)
    names = _known_header(first.fields, chosen)
    if names or _is_header(table):
        names = list(first.fields)
        rows = rows[rows.index(first) + 1 :]
    return _columns(table.file, names, rows)


def is_boundary(text: str) -> bool:
    """Returns whether a line only separates sentences or documents."""
    return not text.strip() or _has_document_mark(text)


def _has_document_mark(text: str) -> bool:
    return text.lstrip("0123456789\t ").startswith(_DOCUMENT)


def _begins_document(text: str) -> bool:
    """Returns whether a document begins at a line."""
    return _has_document_mark(text) or _NEW_DOCUMENT.match(text) is not None


def is_number(text: str) -> bool:
    return _NUMBERS.fullmatch(text) is not None


def is_word_class(text: str) -> bool:
    """Returns whether a field looks like the name of a part of speech; so do words in capitals."""
    return _WORD_CLASS.fullmatch(text) is not None


def _has_tabs(lines: Sequence[str]) -> bool:
    """Returns whether all lines but comments have as many tabs."""
    numbers = {text.count("\t") for text in lines if text[:1] != "#" and not is_boundary(text)}
    return len(numbers) == 1 and numbers != {0}


def _split(text: str, at_tabs: bool) -> tuple[str, ...]:
    if at_tabs:
        return tuple(field.strip(" ") for field in text.split("\t"))
    return tuple(_NOT_SPACES.findall(text))


def _usual_width(rows: Rows) -> int:
    lengths = Counter(len(row.fields) for row in rows if row)
    return lengths.most_common(1)[0][0] if lengths else 0


def _known_header(fields: Sequence[str], chosen: Collection[str]) -> list[str]:
    """Returns the names of the columns if the first row has usual or chosen ones."""
    names = {field.lower().lstrip("# ") for field in fields}
    others = names & {*ENTITY_NAMES, *WORD_CLASS_NAMES, *SENTENCE_NAMES}
    is_usual = bool(names & set(WORD_NAMES) and others)
    is_chosen = bool(chosen) and set(chosen) <= set(fields)
    if is_usual or is_chosen or (len(fields) == 1 and names & set(WORD_NAMES)):
        return [field.lstrip("# ") for field in fields]
    return []


def _has_columns_of_conllu(fields: Sequence[str]) -> bool:
    return len(fields) == len(_CONLLU) and fields[0][:1] in ("0", "1")


def _is_header(table: Table) -> bool:
    """
    Returns whether the first row of a table differs in kind from the others: a column of numbers
    begins with none, or each of its fields stands only there and a column of few values follows.
    """
    first, rest = table.rows[0].fields, [row for row in table.rows[1:] if not row.is_blank]
    if not rest or not all(first) or any(map(is_number, first)):
        return False
    if any(parse_tag(field) for field in first):
        return False
    has_few_values = False
    for number, title in enumerate(first):
        values = [row.fields[number] for row in rest]
        if title in values:
            return False
        if all(_NUMBERED.fullmatch(value) for value in values if value):
            return True
        tags = {value for value in values if value}
        has_few_values |= 2 * len(tags) <= len(values) or "" in values
    return has_few_values


def _columns(file: str, names: list[str], rows: Rows) -> WordColumns:
    names, rows = _with_entities_in_keys(names, rows)
    sentences: list[list[Row]] = [[]]
    for row in _separated(names, rows):
        if row is None:
            sentences.append([])
        else:
            sentences[-1].append(row)
    return WordColumns(file, names, [sentence for sentence in sentences if sentence])


def _without_comments(rows: Rows) -> Rows:
    """Leaves out comments. They separate sentences only if nothing else does."""
    words = [row for row in rows if row and not row.fields[0].startswith("#")]
    if not words:
        return rows
    width = len(words[-1].fields)
    known = [{row.fields[n] for row in words if len(row.fields) == width} for n in range(width)]
    first, last = rows.index(words[0]), rows.index(words[-1])
    has_blank_lines = None in rows[first:last]
    left: Rows = []
    for number, row in enumerate(rows):
        is_hash = row is not None and row.fields[0].startswith("#")
        is_header = is_hash and number < first and row is not None and _known_header(row.fields, ())
        if not is_hash or row is None or is_header or _is_word(row.fields, width, known):
            left.append(row)
        elif not has_blank_lines:
            left.append(None)
    return left


def _is_word(fields: Sequence[str], width: int, known: Sequence[set[str]]) -> bool:
    """
    Returns whether a row that begins with "#" ends in a tag, or has what others have in a column.
    """
    if len(fields) != width or " " in fields[0] or _KEY_AND_VALUE.match(" ".join(fields)):
        return False
    tag = parse_tag(fields[-1])
    if fields[-1] in ("O", "#") or (tag is not None and tag.kind):
        return True
    if fields[0] != "#" and is_word_class(fields[-1]):  # of a hash tag
        return True
    return any(fields[n] in known[n] for n in range(1, width))


def _with_entities_in_keys(names: list[str], rows: Rows) -> tuple[list[str], Rows]:
    """
    Adds a column for a key with tags of entities, such as `name` in CoNLL-U's `Gloss=x|name=B-PER`.
    """
    words = [row for row in rows if row]
    width = len(words[0].fields) if words else 0
    for column in range(width):
        values = {row.fields[column] for row in words}
        if not all("=" in value or value in ("_", "") for value in values):
            continue
        pairs = {value: _keys_and_values(value) for value in values}
        for key in sorted({key for found in pairs.values() for key in found}):
            tags = parse_tags({found[key] for found in pairs.values() if key in found})
            if not tags or not any(tag.kind for tag in tags.values()):
                continue
            names = [*names, key] if names else []
            longer: Rows = []
            for row in rows:
                if row is not None:
                    tag = pairs[row.fields[column]].get(key, "O")
                    row = row._replace(fields=(*row.fields, tag))
                longer.append(row)
            rows = longer
    return names, rows


def _keys_and_values(text: str) -> dict[str, str]:
    found = {}
    for pair in text.split("|"):
        key, separator, value = pair.partition("=")
        if separator:
            found[key] = value
    return found


def _separated(names: Sequence[str], rows: Rows) -> Iterator[Row | None]:
    """
    Separates sentences where a column that numbers them changes, and leaves out contracted words
    and empty nodes of CoNLL-U.
    """
    sentence_column = find_sentence_column(names, rows)
    numbers = {row.fields[0] for row in rows if row and len(row.fields) > 2}
    is_numbered = any(map(str.isdigit, numbers)) and all(map(_WORD_NUMBER.fullmatch, numbers))
    if sentence_column == 0:
        is_numbered = False
    last = ""
    for row in rows:
        if row and sentence_column is not None:
            current = row.fields[sentence_column]
            if current not in ("", last):
                last = current
                yield None
        if row is None or not is_numbered or row.fields[0].isdigit():
            yield row


def find_sentence_column(names: Sequence[str], rows: Rows) -> int | None:
    """
    Returns the column that numbers the sentences: by its name, or by its numbers, which stand in
    the first row of each sentence alone, or else are repeated and never fall.
    """
    for number, name in enumerate(names):
        if name.lower() in SENTENCE_NAMES:
            return number
    words = [row for row in rows if row]
    width = len(words[0].fields) if words else 0
    if None in rows[1:-1] or width < 3:
        return None
    for number in range(width):
        values = [row.fields[number] for row in words]
        filled = [value for value in values if value]
        if not filled or not values[0] or not all(map(_NUMBERED.fullmatch, filled)):
            continue
        digits = [int(re.sub(r"\D", "", value.split(".")[0])) for value in filled]
        never_falls = digits == sorted(digits)
        is_repeated = "" in values or 1 < len(set(filled)) < len(filled)
        if never_falls and is_repeated:
            return number
    return None
