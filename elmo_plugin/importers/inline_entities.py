"""Entities as elements of XML in lines of text: the ENAMEX of MUC and of OntoNotes, or others."""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from elmo_plugin.common.typography import Word
from elmo_plugin.importers.entity_places import (
    AnnotatedText,
    Entity,
    sentence_of_places,
    words_of_text,
)
from elmo_plugin.importers.report import Unusable
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.conll2012 import unescape_word

_MUC = re.compile(r"<(?:ENAMEX|NUMEX|TIMEX)\s[^>]*\bTYPE=", re.IGNORECASE)
_TAG = re.compile(r"<(?P<end>/)?(?P<name>[A-Za-z]\w*)(?P<attributes>\s[^<>]*)?>")
_NAME = r"[\w.:-]+"
_TYPE = re.compile(
    rf"\bTYPE=([\"'](?P<quoted>{_NAME}( +{_NAME})*)|(?P<bare>{_NAME}))", re.IGNORECASE
)
_ELEMENT = re.compile(r"<(?P<name>[A-Za-z]\w*)(\s[^<>]*)?>[^<>]+</(?P=name)>")
_LEAST_SHARE = 0.25  # if fewer of the lines have an element, elements do not mark entities
_ONTONOTES = "<DOC DOCNO="
_NOT_SPACES = re.compile(r"\S+")


def has_muc(source: TaggedFile) -> bool:
    """Returns whether a file has elements of MUC around its entities."""
    return _MUC.search(source.text) is not None


def has_elements_in_lines(source: TaggedFile) -> bool:
    """
    Returns whether enough of the lines have an element with text in it. Lines with tabs are rows of
    a table, and no texts. With a separator, lines are columns too, and elements are words.
    """
    if source.options.separator is not None:
        return False
    filled = [line for line in source.lines if line.strip()]
    if not filled or any("\t" in line for line in filled):
        return False
    with_elements = [line for line in filled if _ELEMENT.search(line)]
    return len(with_elements) >= _LEAST_SHARE * len(filled)


def inline_sentences(source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields each line as a sentence, with entities in BIO. The tokenizer splits a line into words,
    except in OntoNotes, where spaces already separate them. Lines are left out and reported if
    entities in them are nested, reach into another line, or begin or end within a word.
    """
    is_muc = any(_MUC.search(line) for line in source.lines)
    is_ontonotes = any(line.startswith(_ONTONOTES) for line in source.lines)
    continued_lines = _lines_that_continue_entities(source.lines, is_muc)
    for number, line in enumerate(source.lines, start=1):
        place = f"line {number}"
        if number in continued_lines:
            source.report.leave_out("with entities that begin in another line", place)
            continue
        try:
            annotated = _without_elements(line, is_muc)
            if not annotated.text.strip():
                continue
            if is_ontonotes:
                words = [_word(match) for match in _NOT_SPACES.finditer(annotated.text)]
            else:
                words = words_of_text(annotated.text, source.tokenizer)
            yield sentence_of_places(place, words, annotated)
        except Unusable as error:
            source.report.leave_out(error.reason, f"{place} ({error})")


def _lines_that_continue_entities(lines: Sequence[str], is_muc: bool) -> set[int]:
    """
    Returns the numbers of the lines in which an entity goes on or ends that began in an earlier
    line. MUC's entities have a type as an attribute. In other files, elements around paragraphs may
    also reach over lines. So only elements that are whole in some line count as entities.
    """
    whole_in_a_line: set[str] = set()
    for line in lines:
        whole_in_a_line.update(element["name"] for element in _ELEMENT.finditer(line))
    continued: set[int] = set()
    text = "\n".join(lines)
    number = 1  # of the line in which the element begins
    position = 0
    for element in _ELEMENT.finditer(text):
        number += text.count("\n", position, element.start())
        position = element.start()
        if is_muc:
            opening_tag = element[0].partition(">")[0]
            is_entity = _TYPE.search(opening_tag) is not None
        else:
            is_entity = element["name"] in whole_in_a_line
        if is_entity:
            last = number + element[0].count("\n")
            continued.update(range(number + 1, last + 1))
    return continued


def _word(match: re.Match[str]) -> Word:
    """Returns a word between spaces, with `(` in place of `-LRB-` and so on."""
    return Word(unescape_word(match[0]), match.start(), match.end())


def _without_elements(line: str, is_muc: bool) -> AnnotatedText:
    """
    Returns the text of a line without its elements, and the entities that the elements mark. Raises
    `Unusable` if an entity is within another, or ends in another line.
    """
    text = ""
    entities = []
    # The type of the entity that has begun, its element, and its first character. The type is empty
    # while no entity is open.
    open_type = ""
    open_element = ""
    open_start = 0
    end_of_last_tag = 0
    for tag in _TAG.finditer(line):
        text += unescape(line[end_of_last_tag : tag.start()])
        end_of_last_tag = tag.end()
        new_type = _type_of_entity(tag, is_muc)
        if new_type:
            if open_type:
                raise Unusable("with entities that overlap", f"{tag[0]!r} is inside of another")
            open_type = new_type
            open_element = tag["name"].lower()
            open_start = len(text)
        elif tag["end"] and open_type and tag["name"].lower() == open_element:
            entities.append(Entity(open_start, len(text), open_type))
            open_type = ""
    text += unescape(line[end_of_last_tag:])
    if open_type:
        raise Unusable("with entities that end in another line", f"the one of type {open_type}")
    return AnnotatedText(text, entities)


def _type_of_entity(tag: re.Match[str], is_muc: bool) -> str:
    """
    Returns the type of the entity that a tag begins, or an empty text if it begins none. The type
    is in an attribute. Outside of MUC's files, the name of the element may also be the type.
    """
    attribute = _TYPE.search(tag["attributes"] or "")
    if attribute:
        return attribute["quoted"] or attribute["bare"]
    if is_muc or tag["end"]:
        return ""
    return tag["name"]
