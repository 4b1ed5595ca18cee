"""Entities as elements of XML in a text, such as the ENAMEX of MUC and of OntoNotes."""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from elmo_plugin.importers.entity_places import Entity, Word, sentence_of_places, words_of_text
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.conll2012 import unescape_word
from elmo_plugin.tasks.tokenizers import RawTextTokenizer

_MUC = re.compile(r"<(?:ENAMEX|NUMEX|TIMEX)\s[^>]*\bTYPE=", re.IGNORECASE)
_TAG = re.compile(r"<(?P<end>/)?(?P<name>[A-Za-z]\w*)(?P<attributes>\s[^<>]*)?>")
_TYPE = re.compile(r"\bTYPE=[\"']?([\w.:-]+)", re.IGNORECASE)
_ONTONOTES = "<DOC DOCNO="
_NOT_SPACES = re.compile(r"\S+")


def has_inline_entities(text: str) -> bool:
    """Returns whether a text has elements of MUC around its entities."""
    return _MUC.search(text) is not None


def inline_sentences(
    lines: Sequence[str], tokenizer: RawTextTokenizer, report: Report
) -> Iterator[TaggedSentence]:
    """
    Yields the text of each line. OntoNotes has spaces between words; other texts become words by
    the tokenizer. Lines with nested entities, or with entities within words, are left out.
    """
    has_spaces = any(line.startswith(_ONTONOTES) for line in lines)
    for number, line in enumerate(lines, start=1):
        place = f"line {number}"
        try:
            text, entities = _without_elements(line)
            if not text.strip():
                continue
            if has_spaces:
                words = [_word(match) for match in _NOT_SPACES.finditer(text)]
            else:
                words = words_of_text(text, tokenizer)
            yield sentence_of_places(place, words, text, entities)
        except Unusable as error:
            report.leave_out(error.reason, f"{place} ({error})")


def _word(match: re.Match[str]) -> Word:
    """Returns a word between spaces, with `(` in place of `-LRB-` and so on."""
    return Word(unescape_word(match[0]), match.start(), match.end())


def _without_elements(line: str) -> tuple[str, list[Entity]]:
    """Returns the text of a line without its elements, and the entities that these mark."""
    text = ""
    entities = []
    kind = ""
    start = 0
    end_of_last = 0
    for tag in _TAG.finditer(line):
        text += unescape(line[end_of_last : tag.start()])
        end_of_last = tag.end()
        found = _TYPE.search(tag["attributes"] or "")
        if found:
            if kind:
                raise Unusable("with entities that overlap", f"{tag[0]!r} is inside of another")
            kind = found[1]
            start = len(text)
        elif tag["end"] and kind:
            entities.append(Entity(start, len(text), kind))
            kind = ""
    text += unescape(line[end_of_last:])
    if kind:
        raise Unusable("with entities that end in another line", f"the one of type {kind}")
    return text, entities
