"""The formats of files that are plainly no sentences, by their first lines."""

import re
from collections.abc import Callable, Sequence

_JSON = re.compile(r'\s*[\[{]\s*(["\[{]|$)')
_MARKUP = re.compile(
    r"<(\?xml|!doctype|html|head|doc|tei|text|root|body|div|p|corpus)\b", re.IGNORECASE
)
_ATTRIBUTES = r"(\s+[\w:.-]+\s*=\s*(\"[^\"]*\"|'[^']*'))"
_TAG_ALONE = re.compile(rf"<(?P<name>[A-Za-z][\w:.-]*)(?P<attributes>{_ATTRIBUTES}*)\s*>\s*")
_WORD_PROCESSOR = re.compile(r"\{\\rtf1|\\documentclass\b")
_PIECE = re.compile(r"(^|\s)[^\s@]+@@\s+\S|(^|\s)\u2581\S")  # `ill@@ ness`, `▁ill ness`
_TREE = re.compile(r"\([^\s()]* ?\([^\s()]+ .*\)")
_FASTA = re.compile(r">\S.*|[A-Za-z*.-]+")
_TIME = r"(\d+:)?\d+:\d+[.,]\d+"
_TIMES = re.compile(rf"\s*{_TIME}\s*(-->|,)\s*{_TIME}.*")
_HEADS_OF_SUBTITLES = ("WEBVTT", "[Script Info]")
_MOST_LINES_TO_TIMES = 10  # the first subtitle may follow its number and a short head
_LYRICS = re.compile(rf"\[{_TIME}\].*")
_BRAT = re.compile(r"([TREAMN#]\d+|\*)\t\S.*")
_WORD_AND_TAG = re.compile(r"\S+( \S+)*? (O|[BIESUL]-\S+)")
_HEADER = re.compile(r"[\w\"#-]+([,;][\w\"#-]+)+")
_QUOTED = re.compile(r'"([^"]|"")*"')
_QUOTED_FIELD = re.compile(r'[^,;"]+[,;] ?"([^"]|"")*"([,;].*)?|"([^"]|"")*"[,;][^ ].*')
# A separator before three digits may be within a number, as in `1,000`.
_NUMBERED_ROW = re.compile(r'"?\d+"?[,;](?!\d{3}\b)[^\s\d].*')
_NAMES_OF_TEXTS = ("text", "sentence", "review", "tweet", "comment", "content")
_COMMENT = ("#", "-DOCSTART-")
_WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[^\w\s]+")
_END = re.compile(r"[.!?…。।؟]+")
BETWEEN_TABS = "columns between tabs"
_WORD_NUMBER = re.compile(r"\d+([-.]\d+)?\t")
_TAG_MARKS = ("|", "_", "/")
_FEWEST_WORDS = 4
_FEWEST_ROWS = 4
_MOST_TABS_OF_SENTENCE = 4


def kind_of_data(lines: Sequence[str]) -> str:
    """
    Returns the format of a file whose first lines are plainly no sentences, or an empty string if
    they may be sentences. If each line has a word or a word and its tags, the name of the format
    begins with "columns".
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
    """Returns whether the first line begins as XML or HTML does."""
    first = lines[0].lstrip()
    if _MARKUP.match(first):
        return True
    tag = _TAG_ALONE.fullmatch(first)
    if tag is None:
        return False
    # A tag without attributes that is never closed may be a remark, such as <laughs>.
    return bool(tag["attributes"]) or any(f"</{tag['name']}>" in line for line in lines)


def _is_word_processor(lines: Sequence[str]) -> bool:
    return _WORD_PROCESSOR.match(lines[0]) is not None


def _is_trees(lines: Sequence[str]) -> bool:
    return _TREE.match(lines[0]) is not None


def _is_fasta(lines: Sequence[str]) -> bool:
    if len(lines) < 2 or lines[0][0] != ">":
        return False
    return all(_FASTA.fullmatch(line) for line in lines)


def _is_fastq(lines: Sequence[str]) -> bool:
    return len(lines) > 2 and lines[0][0] == "@" and lines[2][0] == "+"


def _is_subtitles(lines: Sequence[str]) -> bool:
    """Returns whether the lines are subtitles, or lyrics with the time of each line."""
    if lines[0].startswith(_HEADS_OF_SUBTITLES):
        return True
    if all(_LYRICS.fullmatch(line) for line in lines):
        return True
    # The times of the first subtitle come soon. Further down, a text may quote a subtitle.
    return any(_TIMES.fullmatch(line) for line in lines[:_MOST_LINES_TO_TIMES])


def _has_word_pieces(lines: Sequence[str]) -> bool:
    """Returns whether most lines have pieces of words, such as `bur@@ nt`."""
    with_pieces = [line for line in lines if _PIECE.search(line)]
    return 2 * len(with_pieces) > len(lines)


def _has_boundaries(lines: Sequence[str]) -> bool:
    """Returns whether all lines have marks of sentences around them."""
    return all(line.startswith("<s>") and line.rstrip().endswith("</s>") for line in lines)


def _is_fasttext(lines: Sequence[str]) -> bool:
    return all(line.startswith("__label__") for line in lines)


def _is_quoted(lines: Sequence[str]) -> bool:
    """
    Returns whether the lines are a table of one column in quotation marks. The lines of a text may
    be quotations, too. A table has a header, or else each of its rows needs the marks: it has a
    comma or a doubled quotation mark.
    """
    rows = lines
    if not _QUOTED.fullmatch(lines[0]):
        rows = lines[1:]
    if len(rows) < 2 or not all(_QUOTED.fullmatch(row) for row in rows):
        return False
    has_header = lines[0].isidentifier()  # a name such as `text`, without quotation marks
    return has_header or all("," in row or '""' in row for row in rows)


def _has_quoted_fields(lines: Sequence[str]) -> bool:
    """Returns whether each line but a header has a field in quotation marks beside another."""
    rows = lines[1:]
    return len(rows) > 1 and all(_QUOTED_FIELD.fullmatch(row) for row in rows)


def _is_brat(lines: Sequence[str]) -> bool:
    return all(_BRAT.fullmatch(line) for line in lines)


def _is_table(lines: Sequence[str]) -> bool:
    if lines[0].strip('"') in _NAMES_OF_TEXTS and len(lines) > 1:
        return True  # it has a header and one column
    return _is_quoted(lines) or _has_quoted_fields(lines) or _has_numbered_rows(lines)


def _has_numbered_rows(lines: Sequence[str]) -> bool:
    """Returns whether each line, except perhaps a header, begins with a number and a separator."""
    rows = lines
    if not _NUMBERED_ROW.fullmatch(lines[0]):
        rows = lines[1:]
    return len(rows) > 1 and all(_NUMBERED_ROW.fullmatch(row) for row in rows)


def _is_markdown_table(lines: Sequence[str]) -> bool:
    return all(line.startswith("|") and line.rstrip().endswith("|") for line in lines)


def _has_tagged_words(lines: Sequence[str]) -> bool:
    """Returns whether each word has its tag behind a mark, as in `Mira|NNP left|VBD`."""
    words = [word for line in lines for word in line.split()]
    # Single words, such as `and/or` in each line of a list, are no tagged sentences.
    if len(words) < max(_FEWEST_WORDS, 2 * len(lines)):
        return False
    return any(_are_tagged(words, mark) for mark in _TAG_MARKS)


def _are_tagged(words: Sequence[str], mark: str) -> bool:
    """Returns whether each word has a tag behind a mark. Punctuation may lack mark and tag."""
    tags = []
    for word in words:
        is_punctuation = not any(letter.isalnum() for letter in word)
        if is_punctuation and mark not in word:
            continue
        stem, _, tag = word.rpartition(mark)  # without the mark, the stem is empty
        if not stem or not tag:
            return False
        is_path_or_date = mark == "/" and "/" in stem.rstrip("/")  # but `//SYM` is a tagged slash
        if is_path_or_date:
            return False
        tags.append(tag)
    return _look_like_tags(tags)


def _look_like_tags(tags: Sequence[str]) -> bool:
    """
    Returns whether the texts behind a mark are tags, and not the second words of pairs such as
    `his/her`. Any of three signs is enough: tags are in capitals, as in `left|VBD`, the tags of
    punctuation are punctuation, as in `,|,`, and there are few different tags.
    """
    if all(tag.isdecimal() for tag in tags):
        return False  # the words are fractions, as in `1/2`
    with_letters = [tag for tag in tags if any(letter.isalpha() for letter in tag)]
    if with_letters and all(tag == tag.upper() for tag in with_letters):
        return True
    without_letters = set(tags) - set(with_letters)
    has_tag_of_punctuation = any(not tag.isalnum() for tag in without_letters)
    are_few = 2 * len(set(with_letters)) <= len(with_letters)  # each occurs twice on average
    return has_tag_of_punctuation or are_few


_FORMS: dict[str, Callable[[Sequence[str]], bool]] = {
    "JSON": _is_json,
    "XML or HTML": _is_markup,
    "RTF or LaTeX": _is_word_processor,
    "trees": _is_trees,
    "FASTA": _is_fasta,
    "FASTQ": _is_fastq,
    "subtitles": _is_subtitles,
    "brat's annotations": _is_brat,
    "fastText's labels and texts": _is_fasttext,
    "a table, CSV": _is_table,
    "a table of Markdown": _is_markdown_table,
    "words with their tags": _has_tagged_words,
    "pieces of words": _has_word_pieces,
    "sentences between <s> and </s>": _has_boundaries,
}


def _kind_of_rows(rows: Sequence[str], has_blank_lines: bool) -> str:
    """Returns which kind of table the rows are, or an empty string if they are none."""
    if not rows:
        return ""
    if _are_between_tabs(rows):
        has_ten_columns = rows[0].count("\t") == 9
        if has_ten_columns and _WORD_NUMBER.match(rows[0]):
            return f"{BETWEEN_TABS}, CoNLL-U"
        return BETWEEN_TABS
    fields = [row.split() for row in rows]
    have_one_width = all(len(each) == len(fields[0]) for each in fields)
    if have_one_width and _are_words_with_tags(rows, fields, has_blank_lines):
        return "columns of words and tags"
    if have_one_width and has_blank_lines and _are_single_words(fields):
        return "columns, a word in each line"
    if _have_header_and_separators(rows):
        return "a table, CSV"
    return ""


def _are_between_tabs(rows: Sequence[str]) -> bool:
    """Returns whether the rows are a table: all have the same number of tabs."""
    num_tabs = rows[0].count("\t")
    if num_tabs == 0:
        return False
    if len(rows) == 1:
        return num_tabs > _MOST_TABS_OF_SENTENCE
    return all(row.count("\t") == num_tabs for row in rows)


def _have_header_and_separators(rows: Sequence[str]) -> bool:
    """Returns whether the first row is a header, and the same separator is in all rows."""
    if len(rows) < 2 or not _HEADER.fullmatch(rows[0]):
        return False
    return _have_separator(rows[1:], ",") or _have_separator(rows[1:], ";")


def _are_words_with_tags(
    rows: Sequence[str], fields: Sequence[Sequence[str]], has_blank_lines: bool
) -> bool:
    """Returns whether each row has a word and a tag, of an entity or a part of speech."""
    # In no text does each line end with the tag of an entity, such as `O` or `B-PER`.
    if all(_WORD_AND_TAG.fullmatch(row) for row in rows):
        return True
    # Blank lines separate the sentences of a file with a word in each row. Without them, each row
    # may itself be a sentence.
    if not has_blank_lines and _may_be_sentences(fields):
        return False
    return _end_in_word_classes(fields)


def _have_separator(rows: Sequence[str], mark: str) -> bool:
    """
    Returns whether a mark separates the fields of a table in all rows. In a sentence, a space
    follows the mark.

    A list of pairs, such as `apples,oranges`, is no table. In a table, some row has a text with a
    space or a number in it, or some last field occurs again, as labels do.
    """
    if not all(re.search(rf"{mark}(?! )", row) for row in rows):
        return False
    for row in rows:
        if " " in row or any(character.isdecimal() for character in row):
            return True
    last_fields = [row.rpartition(mark)[2] for row in rows]
    return len(set(last_fields)) < len(last_fields)


def _may_be_sentences(rows: Sequence[Sequence[str]]) -> bool:
    """
    Returns whether rows with the same number of words may be sentences, such as `I love USA`. If
    each row were a word with its tags, some of the words would be punctuation marks or numbers.
    """
    if len(rows[0]) < 3:
        return False  # a word and its tag are more likely than a sentence of two words
    for row in rows:
        is_mark = not any(character.isalnum() for character in row[0])
        if is_mark or row[0].isdecimal():
            return False
    return True


def _end_in_word_classes(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether each row begins with a word and ends with the tag of a part of speech."""
    if len(rows) < _FEWEST_ROWS or len(rows[0]) < 2:
        return False
    tags = [row[-1] for row in rows]
    words = [row[0] for row in rows]
    if not all(_WORD_CLASS.fullmatch(tag) for tag in tags):
        return False
    if all(_WORD_CLASS.fullmatch(word) for word in words):
        return False  # the words look like tags as well: it may be a text in capitals
    # A punctuation mark or a single capital may also end a sentence. Several capitals are a tag.
    return any(tag.isalpha() and len(tag) > 1 for tag in tags)


def _are_single_words(rows: Sequence[Sequence[str]]) -> bool:
    """
    Returns whether each row is one word of a text: there are ends of sentences, such as full stops,
    and words of letters.
    """
    if len(rows) < _FEWEST_ROWS or len(rows[0]) > 1:
        return False
    words = [row[0] for row in rows]
    has_ends_of_sentences = any(_END.fullmatch(word) for word in words)
    has_letters = any(word.isalpha() for word in words)
    return has_ends_of_sentences and has_letters
