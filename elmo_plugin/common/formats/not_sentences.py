"""The formats of files that are plainly no sentences, by their first lines."""

import re
from collections.abc import Callable, Sequence

_JSON = re.compile(r'\s*[\[{]\s*(["\[{]|$)')
_MARKUP = re.compile(r"<(\?xml|!doctype|html|doc|tei|text|root|body)\b", re.IGNORECASE)
_TREE = re.compile(r"\(\S* ?\(")
_FASTA = re.compile(r">\S.*|[A-Za-z*.-]+")
_TIMES = re.compile(r"\s*(\d+:)?\d+:\d+[.,]\d+\s*-->\s*(\d+:)?\d+:\d+[.,]\d+.*")
_BRAT = re.compile(r"([TREAMN#]\d+|\*)\t\S.*")
_ROW = re.compile(r"\S+( \S+)*? (O|[BIESUL]-\S+)")
_HEADER = re.compile(r"[\w\"#-]+([,;][\w\"#-]+)+")
_COMMENT = ("#", "-DOCSTART-")
_WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[^\w\s]+")
_END = re.compile(r"[.!?…。।؟]+")
BETWEEN_TABS = "columns between tabs"
_TAG_MARKS = ("|", "_", "/")
_FEWEST_WORDS = 4
_FEWEST_ROWS = 4


def kind_of_data(lines: Sequence[str]) -> str:
    """
    Returns the format of a file whose first lines are plainly no sentences, or nothing. Names of
    formats with a word in each line begin with "columns".
    """
    filled = [line for line in lines if line.strip()]
    if not filled:
        return ""
    for kind, has_form in _FORMS.items():
        if has_form(filled):
            return kind
    rows = [line for line in filled if not line.startswith(_COMMENT)]
    return _kind_of_rows(rows, has_blank_lines=len(filled) < len(lines))


def _is_json(lines: Sequence[str]) -> bool:
    return _JSON.match(lines[0]) is not None


def _is_markup(lines: Sequence[str]) -> bool:
    return _MARKUP.match(lines[0].lstrip()) is not None


def _is_trees(lines: Sequence[str]) -> bool:
    return _TREE.match(lines[0]) is not None


def _is_fasta(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and lines[0][0] == ">" and all(map(_FASTA.fullmatch, lines))


def _is_fastq(lines: Sequence[str]) -> bool:
    return len(lines) > 2 and lines[0][0] == "@" and lines[2][0] == "+"


def _is_subtitles(lines: Sequence[str]) -> bool:
    return lines[0].startswith("WEBVTT") or any(map(_TIMES.fullmatch, lines[:10]))


def _is_brat(lines: Sequence[str]) -> bool:
    return all(map(_BRAT.fullmatch, lines))


def _has_tagged_words(lines: Sequence[str]) -> bool:
    """Returns whether each word has its tag behind a mark, as in `Mira|NNP left|VBD`."""
    words = [word for line in lines for word in line.split()]
    if len(words) < max(_FEWEST_WORDS, 2 * len(lines)):
        return False
    for mark in _TAG_MARKS:
        parts = [word.rpartition(mark) for word in words]
        if not all(stem and tag for stem, _, tag in parts):
            continue
        if not all(tag.isdecimal() for _, _, tag in parts):
            return True
    return False


_FORMS: dict[str, Callable[[Sequence[str]], bool]] = {
    "JSON": _is_json,
    "XML or HTML": _is_markup,
    "trees": _is_trees,
    "FASTA": _is_fasta,
    "FASTQ": _is_fastq,
    "subtitles": _is_subtitles,
    "brat's annotations": _is_brat,
    "words with their tags": _has_tagged_words,
}


def _kind_of_rows(rows: Sequence[str], has_blank_lines: bool) -> str:
    """Returns which kind of table the rows are, if they are one."""
    if not rows:
        return ""
    tabs = {row.count("\t") for row in rows}
    if len(tabs) == 1 and (max(tabs) > 4 or (max(tabs) and len(rows) > 1)):
        is_conllu = max(tabs) == 9
        return f"{BETWEEN_TABS}, CoNLL-U" if is_conllu else BETWEEN_TABS
    fields = [row.split() for row in rows]
    widths = {len(each) for each in fields}
    if len(widths) == 1:
        if all(map(_ROW.fullmatch, rows)) or _ends_in_word_classes(fields):
            return "columns of words and tags"
        if has_blank_lines and _are_words_with_ends(fields):
            return "columns, a word in each line"
    if len(rows) > 1 and _HEADER.fullmatch(rows[0]):
        for mark in ",;":
            if all(mark in row for row in rows):
                return "a table, CSV"
    return ""


def _ends_in_word_classes(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether the last field of each row, but not the first, names a part of speech."""
    if len(rows) < _FEWEST_ROWS or len(rows[0]) < 2:
        return False
    tags = [row[-1] for row in rows]
    words = [row[0] for row in rows]
    if not all(map(_WORD_CLASS.fullmatch, tags)) or all(map(_WORD_CLASS.fullmatch, words)):
        return False
    return any(tag.isalpha() and len(tag) > 1 for tag in tags)


def _are_words_with_ends(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether each row is one word, and a full stop is one of them."""
    if len(rows) < _FEWEST_ROWS or len(rows[0]) > 1:
        return False
    return any(_END.fullmatch(row[0]) for row in rows) and any(row[0].isalpha() for row in rows)
